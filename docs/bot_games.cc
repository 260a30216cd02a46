// Games of Hanabi that a bot of Quuxplusone/Hanabi (MIT licence) plays with itself, as JSON lines, thousands a second.
// HANABI is a checkout of their repository:
//
//   g++ -std=c++17 -O3 -DNDEBUG -I HANABI docs/bot_games.cc HANABI/HanabiServer.cc HANABI/SmartBot.cc -o bot_games
//   ./bot_games 1 198000 > smartbot.jsonl              (seeds 1 to 198,000; each is the game of their --seed)
//   ./bot_games 1000000 50000 0.03 > slips.jsonl       (3 moves in a hundred are made at random)
//   ./bot_games 1 198000 0 3 > three.jsonl             (three players; two to five)
//
// What a bot does after a move that it would not have made is in no game that it plays with itself, and a network that
// learned from those alone is lost there. Random moves are written as "slips", from which nothing is learned.
// Other bots: -DBOT=HolmesBot -DBOT_HEADER='"HolmesBot.h"' and HANABI/HolmesBot.cc.

#ifndef BOT
#define BOT SmartBot
#define BOT_HEADER "SmartBot.h"
#endif
#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)

#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "Hanabi.h"
#include BOT_HEADER

namespace {

using namespace Hanabi;

// Of one game: who draws its slips, how often they come, and what happened in it so far.
struct Table {
  std::mt19937 chance;
  double slips = 0.0;
  bool slipped = false;
  std::vector<int> slip_moves;
  std::vector<std::string> moves;

  void add(int seat, const char *kind, int target, int value) {
    if (slipped) slip_moves.push_back(static_cast<int>(moves.size()));
    slipped = false;
    moves.push_back("[" + std::to_string(seat) + ",\"" + kind + "\"," + std::to_string(target) + "," +
                    std::to_string(value) + "]");
  }
};

// A bot whose hand slips now and then. All that happens is seen by seat 0, who writes it down.
class SlippingBot final : public Bot {
 public:
  SlippingBot(Table &table, int seat, int players, int hand_size)
      : table_(table), seat_(seat), players_(players), bot_(seat, players, hand_size) {}

  void pleaseObserveBeforeMove(const Server &server) override { bot_.pleaseObserveBeforeMove(server); }
  void pleaseObserveBeforeDiscard(const Server &server, int from, int slot) override {
    if (seat_ == 0) table_.add(from, "discard", slot, -1);
    bot_.pleaseObserveBeforeDiscard(server, from, slot);
  }
  void pleaseObserveBeforePlay(const Server &server, int from, int slot) override {
    if (seat_ == 0) table_.add(from, "play", slot, -1);
    bot_.pleaseObserveBeforePlay(server, from, slot);
  }
  void pleaseObserveColorHint(const Server &server, int from, int to, Color color, CardIndices cards) override {
    if (seat_ == 0) table_.add(from, "color", to, color);
    bot_.pleaseObserveColorHint(server, from, to, color, cards);
  }
  void pleaseObserveValueHint(const Server &server, int from, int to, Value value, CardIndices cards) override {
    if (seat_ == 0) table_.add(from, "rank", to, value);
    bot_.pleaseObserveValueHint(server, from, to, value, cards);
  }
  void pleaseObserveAfterMove(const Server &server) override { bot_.pleaseObserveAfterMove(server); }
  void pleaseMakeMove(Server &server) override {
    table_.slipped = table_.slips > 0.0 && share() < table_.slips;
    if (table_.slipped && slip(server)) return;
    table_.slipped = false;
    bot_.pleaseMakeMove(server);
  }

 private:
  double share() { return std::uniform_real_distribution<double>()(table_.chance); }

  // Mostly a hint or a discard, as most moves that can be argued about are; never the last life.
  bool slip(Server &server) {
    const double kind = share();
    const int held = server.sizeOfHandOfPlayer(seat_);
    if (kind < 0.55 && server.hintStonesRemaining() > 0) {
      // With two players, no number is drawn: their games stay what they were.
      const int next = players_ == 2 ? 0 : static_cast<int>(table_.chance() % (players_ - 1));
      const int other = (seat_ + 1 + next) % players_;
      const Card card = server.handOfPlayer(other)[table_.chance() % server.sizeOfHandOfPlayer(other)];
      if (table_.chance() % 2) {
        server.pleaseGiveColorHint(other, card.color);
      } else {
        server.pleaseGiveValueHint(other, card.value);
      }
      return true;
    }
    if (kind < 0.85 && server.discardingIsAllowed()) {
      server.pleaseDiscard(table_.chance() % held);
      return true;
    }
    if (kind >= 0.85 && server.mulligansRemaining() > 1) {
      server.pleasePlay(table_.chance() % held);
      return true;
    }
    return false;
  }

  Table &table_;
  int seat_, players_;
  BOT bot_;
};

struct Seats final : BotFactory {
  Table &table;
  explicit Seats(Table &at) : table(at) {}
  Bot *create(int seat, int players, int hand_size) const override {
    return new SlippingBot(table, seat, players, hand_size);
  }
  void destroy(Bot *bot) const override { delete bot; }
};

// As their server shuffles it, in deal order.
std::vector<Card> deck_of(unsigned seed) {
  std::vector<Card> deck;
  for (Color color = RED; color <= BLUE; ++color) {
    for (int value = 1; value <= 5; ++value) deck.insert(deck.end(), Card(color, value).count(), Card(color, value));
  }
  std::mt19937 random(seed);
  for (int i = 0; i < static_cast<int>(deck.size()); ++i) {
    const int j = static_cast<int>(random() % (i + 1));
    if (i != j) std::swap(deck[i], deck[j]);
  }
  return {deck.rbegin(), deck.rend()};
}

std::string joined(const std::vector<std::string> &parts) {
  std::string text;
  for (const std::string &part : parts) text += (text.empty() ? "" : ",") + part;
  return text;
}

}  // namespace

int main(int argc, char **argv) {
  const double share = argc > 3 ? std::strtod(argv[3], nullptr) : 0.0;
  const int players = argc > 4 ? static_cast<int>(std::strtol(argv[4], nullptr, 10)) : 2;
  const bool is_told = argc >= 3 && argc <= 5 && share >= 0.0 && share < 1.0 && players >= 2 && players <= 5;
  if (!is_told || std::strtol(argv[2], nullptr, 10) < 1) {
    std::fprintf(stderr,
                 "usage: %s FIRST_SEED GAMES [SLIPS [PLAYERS]]   (slips: a share of the moves, such as 0.03; players: 2 "
                 "to 5)\n",
                 argv[0]);
    return 2;
  }
  const unsigned first = std::strtoul(argv[1], nullptr, 10), games = std::strtoul(argv[2], nullptr, 10);
  const std::string slips = share > 0.0 ? std::string("-slips-") + argv[3] : "";
  const std::string table_of = players > 2 ? "-for-" + std::to_string(players) : "";
  std::string seats = "\"ai:" TEXT(BOT) "\"";
  for (int seat = 1; seat < players; ++seat) seats += ",\"ai:" TEXT(BOT) "\"";
  for (unsigned seed = first; seed < first + games; ++seed) {
    Table table;
    table.slips = share;
    table.chance.seed(seed * 2654435761u + 17u);
    const std::vector<Card> deck = deck_of(seed);
    Server server;
    int score = 0;
    try {
      score = server.runGame(Seats(table), players, deck);
    } catch (const std::runtime_error &error) {
      std::fprintf(stderr, "seed %u: %s; left out\n", seed, error.what());
      continue;
    }
    std::vector<std::string> cards, slip_moves;
    for (const Card &card : deck) {
      cards.push_back("[" + std::to_string(card.color) + "," + std::to_string(card.value) + "]");
    }
    for (const int move : table.slip_moves) slip_moves.push_back(std::to_string(move));
    std::printf("{\"id\":\"" TEXT(BOT) "%s-seed-%u%s\",\"source\":\"Quuxplusone/Hanabi, " TEXT(BOT)
                "\",\"license\":\"generator MIT\",\"seats\":[%s],\"deck\":[%s],\"actions\":[%s],\"slips\":[%s],"
                "\"score\":%d}\n",
                table_of.c_str(), seed, slips.c_str(), seats.c_str(), joined(cards).c_str(),
                joined(table.moves).c_str(), joined(slip_moves).c_str(), score);
  }
}
