// A game of Hanabi in 240 bytes: the table, and the deck that it was dealt from. Sets are bits, and
// a hand is words of one byte a card, so that a hint is a few operations on all cards at once.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace kedge::hanabi {

inline constexpr int kMinPlayers = 2, kMaxPlayers = 5, kMaxColours = 5, kMaxRanks = 5;
inline constexpr int kMaxHand = 8, kMaxDeck = 50, kMaxTokens = 32;
// In HLE's order: discard a slot, play a slot, hint a colour, hint a rank; the next player first.
using Action = std::uint8_t;
inline constexpr int kMaxActions = 2 * kMaxHand + (kMaxPlayers - 1) * (kMaxColours + kMaxRanks);
inline constexpr Action kNoAction = 0xFF;
static_assert(kMaxActions <= 64, "legal actions are the bits of a word");

enum class Kind : std::uint8_t { kDiscard, kPlay, kColour, kRank };

struct Move {
  Kind kind;
  std::uint8_t at;     // the slot; for a hint, the number of seats to its receiver
  std::uint8_t value;  // the hinted colour or rank

  bool operator==(const Move&) const = default;
};

struct Rules {
  Rules(int players, int colours, int ranks, int hand, int information, int lives,
        bool bomb_is_zero);

  bool operator==(const Rules&) const = default;
  int cards() const { return colours * ranks; }  // kinds of cards: colour · ranks + rank
  int perfect() const { return cards(); }

  int players, colours, ranks, hand, information, lives;
  bool bomb_is_zero;  // losing the last life scores 0; otherwise the stacks count
  int deck = 0, actions = 0;
  std::array<std::uint8_t, kMaxRanks> copies{};  // of a card in the deck, by rank
  std::array<Move, kMaxActions> moves{};
  // The place of a card's first copy in the sorted deck.
  std::array<std::uint8_t, kMaxColours * kMaxRanks> places{};
  // The lowest cards of a set of colours. Multiplied by a set of ranks: the cards of both sets.
  std::array<std::uint32_t, 1 << kMaxColours> lowest{};
};

// Byte i is slot i, the oldest card first; no card is a byte of zeros.
struct Hand {
  std::uint64_t colours = 0, ranks = 0;  // one bit each
  // The holder's knowledge: bits of possible values, and kTold if a hint named the value.
  std::uint64_t known_colours = 0, known_ranks = 0;

  // Does not count bits: not every supported processor has an instruction for it.
  int size() const { return (71 - std::countl_zero(colours)) / 8; }
};
inline constexpr std::uint8_t kTold = 0x80;

// The result of the last move.
struct Outcome {
  Action action = kNoAction;
  std::uint8_t card = 0;     // that was played or discarded
  std::uint8_t touched = 0;  // slots that a hint was about
  bool scored = false, gained = false;  // a point; an information token
};

struct Game {
  std::array<Hand, kMaxPlayers> hands;
  std::uint64_t discards = 0;  // bits from Rules::places on: one for each discarded copy
  std::array<std::uint8_t, kMaxDeck> deck{};
  std::array<std::uint8_t, kMaxColours> fireworks{};  // cards on each stack
  std::uint8_t drawn = 0, player = 0, information = 0, lives = 0;
  std::uint8_t turns = 0;  // left once the deck is empty
  Outcome last;

  int stack() const;  // cards on all stacks
};
static_assert(sizeof(Game) <= 256);

inline std::uint8_t at(std::uint64_t word, int slot) {
  return static_cast<std::uint8_t>(word >> (8 * slot));
}

// One bit per slot whose card has this value; each byte of `values` has the bit of one card.
inline std::uint8_t slots_of(std::uint64_t values, int value) {
  const std::uint64_t slots = (values >> value) & 0x0101010101010101u;
  return static_cast<std::uint8_t>((slots * 0x0102040810204080u) >> 56);
}

// The later bytes move up.
inline void remove_byte(std::uint64_t& word, int slot) {
  const std::uint64_t before = (std::uint64_t{1} << (8 * slot)) - 1;
  word = (word & before) | ((word >> 8) & ~before);
}

// The card in a slot that holds one.
inline int card_at(const Rules& rules, const Hand& hand, int slot) {
  return std::countr_zero(at(hand.colours, slot)) * rules.ranks +
         std::countr_zero(at(hand.ranks, slot));
}

// Puts a card into a slot, in place of what was there.
inline void put(const Rules& rules, Hand& hand, int slot, int card) {
  const std::uint64_t others = ~(std::uint64_t{0xFF} << (8 * slot));
  hand.colours = (hand.colours & others) | std::uint64_t{1} << (8 * slot + card / rules.ranks);
  hand.ranks = (hand.ranks & others) | std::uint64_t{1} << (8 * slot + card % rules.ranks);
}

using Cards = std::uint32_t;  // a set: bit i is card i
using Counts = std::array<std::uint8_t, kMaxColours * kMaxRanks>;

// The possible values of a card by its hints.
inline Cards told(const Rules& rules, const Hand& hand, int slot) {
  return rules.lowest[at(hand.known_colours, slot) & (kTold - 1)] *
         (at(hand.known_ranks, slot) & (kTold - 1));
}

// The first `rules.deck` cards are dealt in order: seat 0's hand, seat 1's, …, then the draw pile.
Game deal(const Rules& rules, const std::uint8_t* deck);
bool is_over(const Rules& rules, const Game& game);
int score(const Rules& rules, const Game& game);
std::uint64_t legal_actions(const Rules& rules, const Game& game);  // none when it is over
void apply(const Rules& rules, Game& game, Action action);          // must be legal
// The number of copies of a card that were neither discarded nor played.
int unseen(const Rules& rules, const Game& game, int colour, int rank);
// The cards that a seat does not see: its own, and the draw pile.
Counts hidden(const Rules& rules, const Game& game, int seat);
// Whether a seat's cards can be these, oldest first, by its hints and what it sees.
bool is_possible(const Rules& rules, const Game& game, int seat, const std::uint8_t* cards);
// The game with these cards in the hand and the draw pile shuffled; they must be possible.
Game redealt(const Rules& rules, const Game& game, int seat, const std::uint8_t* cards,
             std::uint64_t seed);

}  // namespace kedge::hanabi
