#include "hanabi/game.hpp"

#include <algorithm>
#include <numeric>

#include "splitmix.hpp"

namespace kedge::hanabi {
namespace {

constexpr std::uint64_t kOnes = 0x0101010101010101u;  // the lowest bit of every byte

// The bitwise or of all bytes.
std::uint64_t fold(std::uint64_t word) {
  word |= word >> 32;
  word |= word >> 16;
  word |= word >> 8;
  return word & 0xFF;
}

void remove(Hand& hand, int slot) {
  remove_byte(hand.colours, slot);
  remove_byte(hand.ranks, slot);
  remove_byte(hand.known_colours, slot);
  remove_byte(hand.known_ranks, slot);
}

void draw(const Rules& rules, Game& game, Hand& hand, int slot) {
  const int card = game.deck[game.drawn++], shift = 8 * slot;
  put(rules, hand, slot, card);
  hand.known_colours |= ((std::uint64_t{1} << rules.colours) - 1) << shift;
  hand.known_ranks |= ((std::uint64_t{1} << rules.ranks) - 1) << shift;
}

// Records a hint: which cards have this value and which have not. Returns the slots that have it.
std::uint8_t tell(std::uint64_t values, std::uint64_t& known, int value) {
  const std::uint64_t slots = (values >> value) & kOnes;
  known &= ~((kOnes << value) | (slots * 0xFF));
  known |= slots * ((1u << value) | kTold);
  return slots_of(values, value);
}

void discard(const Rules& rules, Game& game, int card) {
  const std::uint64_t first = std::uint64_t{1} << rules.places[card];
  const std::uint64_t last = first << (rules.copies[card % rules.ranks] - 1);
  const std::uint64_t copies = (last << 1) - first;
  game.discards |= ((game.discards & copies) << 1 & copies) | first;
}

void play(const Rules& rules, Game& game, int card) {
  const int colour = card / rules.ranks, rank = card % rules.ranks;
  game.last.scored = game.fireworks[colour] == rank;
  if (!game.last.scored) {
    --game.lives;
    discard(rules, game, card);
    return;
  }
  ++game.fireworks[colour];
  game.last.gained = rank == rules.ranks - 1 && game.information < rules.information;
}

void tell(const Rules& rules, Game& game, Move move) {
  Hand& hand = game.hands[(game.player + move.at) % rules.players];
  --game.information;
  game.last.touched = move.kind == Kind::kColour
                          ? tell(hand.colours, hand.known_colours, move.value)
                          : tell(hand.ranks, hand.known_ranks, move.value);
}

// Plays or discards the card, and draws another unless that was the end.
void give_up(const Rules& rules, Game& game, Move move) {
  Hand& hand = game.hands[game.player];
  const int card = card_at(rules, hand, move.at);
  game.last.card = static_cast<std::uint8_t>(card);
  if (move.kind == Kind::kPlay) {
    play(rules, game, card);
  } else {
    discard(rules, game, card);
    game.last.gained = true;
  }
  game.information += game.last.gained;
  remove(hand, move.at);
  if (game.drawn < rules.deck && !is_over(rules, game)) draw(rules, game, hand, rules.hand - 1);
}

}  // namespace

Rules::Rules(int players, int colours, int ranks, int hand, int information, int lives,
             bool bomb_is_zero)
    : players(players), colours(colours), ranks(ranks), hand(hand), information(information),
      lives(lives), bomb_is_zero(bomb_is_zero) {
  for (int rank = 0; rank < ranks; ++rank) {
    copies[rank] = rank == 0 ? 3 : rank == ranks - 1 ? 1 : 2;
  }
  for (int card = 0; card < cards(); ++card) {
    places[card] = static_cast<std::uint8_t>(deck);
    deck += copies[card % ranks];
  }
  for (std::size_t set = 0; set < lowest.size(); ++set) {
    for (int colour = 0; colour < colours; ++colour) {
      if (set >> colour & 1) lowest[set] |= 1u << (colour * ranks);
    }
  }
  const auto add = [this](Kind kind, int at, int value) {
    moves[actions++] = {kind, static_cast<std::uint8_t>(at), static_cast<std::uint8_t>(value)};
  };
  for (const Kind kind : {Kind::kDiscard, Kind::kPlay}) {
    for (int slot = 0; slot < hand; ++slot) add(kind, slot, 0);
  }
  for (const Kind kind : {Kind::kColour, Kind::kRank}) {
    for (int on = 1; on < players; ++on) {
      for (int value = 0; value < (kind == Kind::kColour ? colours : ranks); ++value) {
        add(kind, on, value);
      }
    }
  }
}

int Game::stack() const { return std::accumulate(fireworks.begin(), fireworks.end(), 0); }

Game deal(const Rules& rules, const std::uint8_t* deck) {
  Game game;
  std::copy(deck, deck + rules.deck, game.deck.begin());
  game.information = static_cast<std::uint8_t>(rules.information);
  game.lives = static_cast<std::uint8_t>(rules.lives);
  game.turns = static_cast<std::uint8_t>(rules.players);
  for (int player = 0; player < rules.players; ++player) {
    for (int slot = 0; slot < rules.hand; ++slot) draw(rules, game, game.hands[player], slot);
  }
  return game;
}

bool is_over(const Rules& rules, const Game& game) {
  return game.lives == 0 || game.turns == 0 || game.stack() == rules.perfect();
}

int score(const Rules& rules, const Game& game) {
  return rules.bomb_is_zero && game.lives == 0 ? 0 : game.stack();
}

std::uint64_t legal_actions(const Rules& rules, const Game& game) {
  if (is_over(rules, game)) return 0;
  const std::uint64_t slots = (std::uint64_t{1} << game.hands[game.player].size()) - 1;
  std::uint64_t legal = slots << rules.hand;
  if (game.information < rules.information) legal |= slots;
  if (game.information == 0) return legal;
  int colours = 2 * rules.hand, ranks = colours + (rules.players - 1) * rules.colours;
  for (int on = 1, player = game.player; on < rules.players; ++on) {
    player = player + 1 == rules.players ? 0 : player + 1;
    legal |= fold(game.hands[player].colours) << colours;
    legal |= fold(game.hands[player].ranks) << ranks;
    colours += rules.colours;
    ranks += rules.ranks;
  }
  return legal;
}

void apply(const Rules& rules, Game& game, Action action) {
  const Move move = rules.moves[action];
  game.turns -= game.drawn == rules.deck;
  game.last = {.action = action};
  if (move.kind == Kind::kColour || move.kind == Kind::kRank) {
    tell(rules, game, move);
  } else {
    give_up(rules, game, move);
  }
  game.player = game.player + 1 == rules.players ? 0 : game.player + 1;
}

int unseen(const Rules& rules, const Game& game, int colour, int rank) {
  const int copies = rules.copies[rank];
  const std::uint64_t gone = game.discards >> rules.places[colour * rules.ranks + rank];
  return copies - std::popcount(gone & ((1u << copies) - 1)) -
         (game.fireworks[colour] > rank);
}

Counts hidden(const Rules& rules, const Game& game, int seat) {
  Counts counts{};
  const Hand& hand = game.hands[seat];
  for (int slot = 0; slot < hand.size(); ++slot) ++counts[card_at(rules, hand, slot)];
  for (int i = game.drawn; i < rules.deck; ++i) ++counts[game.deck[i]];
  return counts;
}

bool is_possible(const Rules& rules, const Game& game, int seat, const std::uint8_t* cards) {
  const Hand& hand = game.hands[seat];
  Counts left = hidden(rules, game, seat);
  for (int slot = 0; slot < hand.size(); ++slot) {
    const int card = cards[slot];
    if (card >= rules.cards() || left[card]-- == 0) return false;
    if (!(told(rules, hand, slot) >> card & 1)) return false;
  }
  return true;
}

Game redealt(const Rules& rules, const Game& game, int seat, const std::uint8_t* cards,
             std::uint64_t seed) {
  Game out = game;
  Hand& hand = out.hands[seat];
  Counts left = hidden(rules, game, seat);
  for (int slot = 0; slot < hand.size(); ++slot) {
    --left[cards[slot]];
    put(rules, hand, slot, cards[slot]);
  }
  // Each card of the pile takes a random place among those before it (Fisher and Yates).
  int end = out.drawn;
  for (int card = 0; card < rules.cards(); ++card) {
    for (int copy = 0; copy < left[card]; ++copy, ++end) {
      seed = splitmix(seed);
      const auto place = static_cast<int>((seed >> 32) * (end - out.drawn + 1) >> 32);
      out.deck[end] = out.deck[out.drawn + place];
      out.deck[out.drawn + place] = static_cast<std::uint8_t>(card);
    }
  }
  return out;
}

}  // namespace kedge::hanabi
