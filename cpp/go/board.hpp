// A game of Go: a first position and the moves made since. This is what a search pushes and pops,
// what superko is checked against, and the source of a network's eight half-moves.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "go/chains.hpp"

namespace kedge::go {

// Point y·size + x, x from the left and y from the top; size² is a pass.
using Action = std::uint16_t;
inline constexpr Action kNoAction = 0xFFFF;
inline constexpr int kMinSize = 2, kMaxSize = 19, kMaxPoints = kMaxSize * kMaxSize;
inline constexpr std::size_t kWords = 6, kSteps = 8;
using Points = std::array<std::uint64_t, kWords>;  // a set: bit p is point p

// Forbidden repetitions. Simple ko: retaking a single stone at once. Superko: any earlier board, or
// any earlier board with the same player to move.
enum class Ko : std::uint8_t { kSimple, kPositional, kSituational };
enum class Verdict : std::uint8_t { kLegal, kOffBoard, kOccupied, kSuicide, kKo, kSuperko };

// Masks of a position. The first three are stones by the liberties of their chain.
enum Tactic : std::size_t {
  kOneLiberty,
  kTwoLiberties,
  kThreeLiberties,
  kKo,        // the point that may not be retaken
  kCaught,    // stones of chains that a ladder catches: in atari and to move, or with two liberties
              // and the opponent to move
  kCatching,  // the mover's points that begin such a ladder
  kToOne,     // the mover's points where his chain would have one liberty
  kToTwo,     // ... and two
  kTactics
};

struct Rules {
  Ko ko = Ko::kPositional;
  bool suicide = false;  // whether suicide of several stones is legal; of one it never is
  float komi = 7.5f;
  bool operator==(const Rules&) const = default;
};

struct Position {
  std::array<Points, 2> stones{};
  std::uint64_t key = 0;                     // of the stones alone
  std::array<std::uint16_t, 2> prisoners{};  // stones of black, of white, that were captured
  Action move = kNoAction, ko = kNoAction;   // the last move; the point that may not be retaken
  std::uint8_t player = kBlack, passes = 0;  // passes in a row, at most 2
  bool operator==(const Position&) const = default;
};

// Stones on the board, and empty points that border only stones of this colour.
struct Count {
  std::array<int, 2> stones{}, territory{};
};

class Board {
 public:
  using Action = go::Action;
  static constexpr std::size_t kMaxActions = kMaxPoints + 1;
  static constexpr bool kEndsByAgreement = true;
  // Stones of the mover and of the opponent, now and up to seven half-moves ago; empty before the
  // first position. The number is ±komi/10, + for white to move, times 361/area, so that networks
  // which read the means of planes weigh it alike on all sizes.
  struct Features {
    Points stones[2 * kSteps];
    Points tactics[kTactics];
    float komi;
  };

  explicit Board(int size = kMaxSize, Rules rules = {});
  // A stone of the first position. None may stand without liberties.
  Verdict place(Action point, Colour colour);
  // Sets the player to move, for games that do not alternate. Ends a ko; pop() does not undo it.
  void set_player(Colour player);

  void push(Action action);  // must be legal
  void pop();                // must not be at the first position

  // Legal by captures and repetition alone: moves after the last pass count, as in some records.
  Verdict verdict(Action action) const;
  bool is_legal(Action action) const { return verdict(action) == Verdict::kLegal; }
  Points legal_points() const;  // the pass is bit size²
  // The same, ascending; none after two passes in a row.
  std::size_t legal_actions(Action* out) const;

  bool is_over() const { return position().passes >= 2; }
  // No result: without superko, a position repeats with the same player to move.
  bool is_draw_by_rule() const;
  // Value for the mover by area, all stones alive; 0 for a draw and no result.
  double terminal_value() const;
  Count count(const Points& dead = {}) const;

  int player() const { return position().player; }
  int size() const { return size_; }
  Action pass() const { return static_cast<Action>(size_ * size_); }
  const Rules& rules() const { return rules_; }
  const Position& position(std::size_t back = 0) const { return line_[line_.size() - 1 - back]; }
  std::size_t length() const { return line_.size(); }
  std::uint64_t key_from_scratch() const;

  // The first 2·steps masks of Features::stones, and the komi.
  void encode(Points* stones, float* komi, std::size_t steps = kSteps) const;
  // What a player reads at a glance: a mask for each Tactic.
  void tactics(Points* out) const;
  void features(Features& out) const {
    encode(out.stones, &out.komi);
    tactics(out.tactics);
  }
  std::uint16_t policy_index(Action action) const { return action; }

  Colour colour(Action point) const;
  // Whether the point is empty and all stones around it have this colour.
  bool is_surrounded(Action point, Colour colour) const;
  // The same, and the opponent cannot separate the stones: he has fewer than two of the diagonal
  // points, and none at the edge.
  bool is_eye(Action point, Colour colour) const;
  // Whether the chain at this stone has two or more stones and one liberty.
  bool is_chain_in_atari(Action stone) const;
  // Plays random legal points, and passes only if there is none; returns the number played.
  std::size_t play_random(std::size_t plies, std::uint64_t seed);

  bool operator==(const Board& board) const {
    return size_ == board.size_ && rules_ == board.rules_ && line_ == board.line_;
  }

 private:
  // The data of a move that pop() needs.
  struct Made {
    Chains::Undo undo;  // not of a pass
    bool marked;        // it set a bit in seen_
  };

  Cell cell(Action point) const;
  Action point(Cell cell) const;
  // The key that superko compares.
  std::uint64_t repetition_key(std::uint64_t key, std::uint8_t player) const;
  bool has_occurred(std::uint64_t repetition_key) const;

  int size_;
  Rules rules_;
  Chains chains_;
  std::vector<Position> line_;
  std::vector<Made> made_;
  std::vector<std::uint64_t> keys_;        // the key of every position, for superko
  std::array<std::uint64_t, 128> seen_{};  // the last 13 bits of those before this one: most
                                           // keys are not here, and need not be looked for
};

}  // namespace kedge::go
