#include "hanabi/encoding.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace kedge::hanabi {
namespace {

constexpr std::size_t kCards = kMaxColours * kMaxRanks, kHands = kMaxPlayers * kMaxHand;
constexpr std::size_t kMostFeatures = kHands * (2 * kCards + kMaxColours + kMaxRanks) +
                                      3 * kMaxPlayers + 2 * kMaxDeck + 2 * kCards +
                                      2 * kMaxTokens + kMaxColours + kMaxRanks + 2 * kMaxHand + 6;

// A row as bits in a few words, which are expanded to numbers at the end.
class Bits {
 public:
  // Lower bits first; value < 2^width.
  void put(std::uint64_t value, int width) {
    const int shift = at_ % 64;
    words_[at_ / 64] |= value << shift;
    if (shift + width > 64) words_[at_ / 64 + 1] = value >> (64 - shift);
    at_ += width;
  }
  void put_count(int count, int most) { put((std::uint64_t{1} << count) - 1, most); }
  void put_one(int place, int width) { put(std::uint64_t{1} << place, width); }

  template <typename Number>
  void spread(Number* row) const;

 private:
  std::array<std::uint64_t, kMostFeatures / 64 + 2> words_{};
  int at_ = 0;
};

// The numbers of every byte.
template <typename Number>
constexpr auto kSpread = [] {
  std::array<std::array<Number, 8>, 256> table{};
  for (int byte = 0; byte < 256; ++byte) {
    for (int bit = 0; bit < 8; ++bit) table[byte][bit] = static_cast<Number>(byte >> bit & 1);
  }
  return table;
}();

template <typename Number>
void Bits::spread(Number* row) const {
  const int whole = at_ / 8;
  for (int i = 0; i < whole; ++i) {
    std::memcpy(row + 8 * i, kSpread<Number>[at(words_[i / 8], i % 8)].data(), 8 * sizeof(Number));
  }
  std::memcpy(row + 8 * whole, kSpread<Number>[at(words_[whole / 8], whole % 8)].data(),
              (at_ % 8) * sizeof(Number));
}

const Hand& hand_of(const Rules& rules, const Game& game, int seat, int on) {
  const int player = seat + on;
  return game.hands[player < rules.players ? player : player - rules.players];
}

void put_hands(const Rules& rules, const Game& game, int seat, View view, Bits& bits) {
  for (int on = view == View::kFull ? 0 : 1; on < rules.players && view != View::kPublic; ++on) {
    const Hand& hand = hand_of(rules, game, seat, on);
    for (int slot = 0; slot < rules.hand; ++slot) {
      bits.put(rules.lowest[at(hand.colours, slot)] * at(hand.ranks, slot), rules.cards());
    }
  }
  for (int on = 0; on < rules.players; ++on) {
    bits.put(hand_of(rules, game, seat, on).size() < rules.hand, 1);
  }
}

void put_table(const Rules& rules, const Game& game, Bits& bits) {
  bits.put_count(rules.deck - game.drawn, rules.deck - rules.players * rules.hand);
  for (int colour = 0; colour < rules.colours; ++colour) {
    bits.put((std::uint64_t{1} << game.fireworks[colour]) >> 1, rules.ranks);
  }
  bits.put_count(game.information, rules.information);
  bits.put_count(game.lives, rules.lives);
  bits.put(game.discards, rules.deck);
}

void put_last_move(const Rules& rules, const Game& game, int seat, Bits& bits) {
  const int n = rules.players, h = rules.hand;
  const Outcome& last = game.last;
  if (last.action == kNoAction) {
    bits.put(0, 2 * n + 4 + rules.colours + rules.ranks);
    bits.put(0, 2 * h + rules.cards() + 2);
    return;
  }
  const Move move = rules.moves[last.action];
  const int who = (game.player + 2 * n - 1 - seat) % n;
  const bool told_colour = move.kind == Kind::kColour, told_rank = move.kind == Kind::kRank;
  const bool is_hint = told_colour || told_rank, played = move.kind == Kind::kPlay;
  bits.put_one(who, n);
  bits.put_one(played ? 0 : move.kind == Kind::kDiscard ? 1 : told_colour ? 2 : 3, 4);
  bits.put(std::uint64_t{is_hint} << (who + move.at) % n, n);
  bits.put(std::uint64_t{told_colour} << move.value, rules.colours);
  bits.put(std::uint64_t{told_rank} << move.value, rules.ranks);
  bits.put(last.touched, h);
  bits.put(std::uint64_t{!is_hint} << (is_hint ? 0 : move.at), h);
  bits.put(std::uint64_t{!is_hint} << last.card, rules.cards());
  bits.put((played && last.scored) | (played && last.gained) << 1, 2);
}

// The value that a hint named; 0 for values known by elimination.
std::uint64_t told(std::uint8_t known) { return known & kTold ? known & ~kTold : 0; }

void put_knowledge(const Rules& rules, const Game& game, int seat, Bits& bits) {
  const int width = rules.cards() + rules.colours + rules.ranks;
  for (int on = 0; on < rules.players; ++on) {
    const Hand& hand = hand_of(rules, game, seat, on);
    for (int slot = 0; slot < rules.hand; ++slot) {
      const std::uint8_t colours = at(hand.known_colours, slot);
      const std::uint8_t ranks = at(hand.known_ranks, slot);
      const std::uint64_t cards = rules.lowest[colours & ~kTold] * (ranks & ~kTold);
      bits.put(cards | (told(colours) | told(ranks) << rules.colours) << rules.cards(), width);
    }
  }
}

}  // namespace

std::size_t features(const Rules& rules, View view) {
  const int n = rules.players, h = rules.hand, cards = rules.cards();
  const int hands = view == View::kFull ? n : view == View::kPrivate ? n - 1 : 0;
  const int table = rules.deck - n * h + cards + rules.information + rules.lives + rules.deck;
  const int values = rules.colours + rules.ranks;
  const int last = 2 * n + 4 + values + 2 * h + cards + 2;
  return hands * h * cards + n + table + last + n * h * (cards + values);
}

template <typename Number>
void encode(const Rules& rules, const Game& game, int seat, View view, Number* row) {
  Bits bits;
  put_hands(rules, game, seat, view, bits);
  put_table(rules, game, bits);
  put_last_move(rules, game, seat, bits);
  put_knowledge(rules, game, seat, bits);
  bits.spread(row);
}
template void encode(const Rules&, const Game&, int, View, float*);
template void encode(const Rules&, const Game&, int, View, std::uint8_t*);

void weigh(const Rules& rules, const Game& game, int seat, View view, float* row) {
  std::array<float, kCards> left;
  for (int card = 0; card < rules.cards(); ++card) {
    left[card] = static_cast<float>(unseen(rules, game, card / rules.ranks, card % rules.ranks));
  }
  const int width = rules.cards() + rules.colours + rules.ranks;
  float* at = row + features(rules, view) - rules.players * rules.hand * width;
  for (int on = 0; on < rules.players; ++on) {
    const int size = hand_of(rules, game, seat, on).size();
    for (int slot = 0; slot < rules.hand; ++slot, at += width) {
      if (slot >= size) continue;
      float total = 0;
      for (int card = 0; card < rules.cards(); ++card) total += at[card] *= left[card];
      for (int card = 0; card < rules.cards(); ++card) at[card] /= total;
    }
  }
}

}  // namespace kedge::hanabi
