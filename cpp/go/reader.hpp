// Reading ahead: whether a chain with one or two liberties is caught in a ladder, by one atari after
// another, and the liberties that a move leaves.
#pragma once

#include "go/chains.hpp"

namespace kedge::go {

inline constexpr Cell kNoCell = 0;  // in the margin

class Reader {
 public:
  // Moves that one question may try. Ladders that people read are far shorter than this.
  static constexpr int kBudget = 1000;

  explicit Reader(const Chains& chains) : chains_(chains) {}

  // Counts the liberties of a chain up to five and keeps their number, which saves reading: count
  // all chains before the first question. Writes them to `out`.
  int count(Cell head, Cell* out) {
    const int count = chains_.liberties(head, out, 5);
    counts_[head] = static_cast<std::uint8_t>(count);
    return count;
  }

  // Whether a chain in atari is lost although its owner is to move. `ko` is the point that the
  // first player may not retake.
  bool catches(Cell stone, Cell ko) {
    const Cell escape = chains_.last_liberty(chains_.head(stone));
    if (breathes(escape, chains_.colour(stone))) return false;
    ko_ = ko;
    budget_ = kBudget;
    return is_caught(stone);
  }
  // Whether the opponent catches a chain with two liberties by a move at one of them.
  bool catches_by(Cell attack, Cell escape, Cell stone, Cell ko) {
    if (breathes(escape, chains_.colour(stone), attack)) return false;
    ko_ = ko;
    budget_ = kBudget;
    return is_caught_by(attack, stone);
  }

  // The liberties of the chain that a move makes, at most 3; 0 if the move is illegal.
  int liberties_after(Cell move, Colour player, Cell ko) {
    if (breathes(move, player)) return 3;
    ko_ = ko;
    std::array<Cell, 3> liberties;
    auto end = liberties.begin();
    const auto add = [&](Cell cell) {
      if (end == liberties.end() || cell == move) return;
      if (std::find(liberties.begin(), end, cell) == end) *end++ = cell;
    };
    bool captures = false;
    for (const Cell n : Chains::neighbours(move)) {
      const Colour colour = chains_.colour(n);
      if (colour == kEmpty) add(n);
      if (colour == kEmpty || colour == kEdge) continue;
      const Cell head = chains_.head(n);
      if (colour == player) {
        Cell theirs[4];
        std::for_each_n(theirs, chains_.liberties(head, theirs, 4), add);
      } else {
        captures |= chains_.in_atari(head);
      }
    }
    int count = move == ko ? 0 : static_cast<int>(end - liberties.begin());
    if (captures) {
      budget_ = kBudget;
      count = 0;
      after(move, player, [&] {
        count = chains_.liberties(chains_.head(move), liberties.data(), 3);
        return true;
      });
    }
    return count;
  }

 private:
  // Whether a move is seen at once to make a chain of three liberties, even if the opponent plays
  // at `lost` before. Such a move is legal: a ko has no such point.
  bool breathes(Cell move, Colour player, Cell lost = kNoCell) const {
    const int enough = lost == kNoCell ? 4 : 5;  // the move takes one
    for (const Cell n : Chains::neighbours(move)) {
      if (chains_.colour(n) == player && counts_[chains_.head(n)] >= enough) return true;
    }
    return empty_around(move, lost) >= 3;
  }

  // The number of empty points around a point, without `lost`.
  int empty_around(Cell point, Cell lost = kNoCell) const {
    int empty = 0;
    for (const Cell n : Chains::neighbours(point)) {
      empty += chains_.colour(n) == kEmpty && n != lost;
    }
    return empty;
  }

  // The owner escapes if one of his moves leads to three liberties, or to two that hold.
  bool is_caught(Cell stone) {
    const Colour owner = chains_.colour(stone);
    const Moves moves = escapes(stone);
    if (empty_around(moves.cells[0]) >= 3) return false;
    for (int i = 0; i < moves.count; ++i) {
      const bool escaped = after(moves.cells[i], owner, [&] {
        Cell liberties[3];
        const int count = chains_.liberties(chains_.head(stone), liberties, 3);
        return count == 3 || (count == 2 && !is_caught_by(liberties[0], stone) &&
                              !is_caught_by(liberties[1], stone));
      });
      if (escaped) return false;
    }
    return budget_ > 0;
  }

  bool is_caught_by(Cell liberty, Cell stone) {
    const Colour opponent = other(chains_.colour(stone));
    return after(liberty, opponent, [&] { return is_caught(stone); });
  }

  struct Moves {
    std::array<Cell, 16> cells;
    int count;
  };
  // The last liberty of a chain, and captures of chains in atari around it.
  Moves escapes(Cell stone) const {
    const Cell head = chains_.head(stone);
    const Colour opponent = other(chains_.colour(stone));
    Moves moves{{chains_.last_liberty(head)}, 1};
    chains_.each(head, [&](Cell s) {
      for (const Cell n : Chains::neighbours(s)) {
        if (chains_.colour(n) != opponent || !chains_.in_atari(chains_.head(n))) continue;
        const Cell capture = chains_.last_liberty(chains_.head(n));
        const auto end = moves.cells.begin() + moves.count;
        if (std::find(moves.cells.begin(), end, capture) != end) continue;
        if (end == moves.cells.end()) return;
        moves.cells[static_cast<std::size_t>(moves.count++)] = capture;
      }
    });
    return moves;
  }

  // What `read` finds after a move; false if the move is illegal or the budget is spent.
  template <typename Read>
  bool after(Cell move, Colour player, const Read& read) {
    if (!is_legal(move, player) || --budget_ <= 0) return false;
    const Cell ko = ko_;
    Chains::Undo undo;
    chains_.play(move, player, undo);
    const bool takes_ko = undo.captures == 1 && undo.merges == 0 &&
                          chains_.size(undo.captured[0]) == 1 && chains_.in_atari(move);
    ko_ = takes_ko ? undo.captured[0] : kNoCell;
    const bool found = read();
    chains_.undo(move, player, undo);
    ko_ = ko;
    return found;
  }

  bool is_legal(Cell move, Colour player) const {
    if (move == ko_) return false;
    if (chains_.touches_empty(move)) return true;
    for (const Cell n : Chains::neighbours(move)) {
      const Colour colour = chains_.colour(n);
      if (colour == kEdge) continue;
      if (chains_.in_atari(chains_.head(n)) != (colour == player)) return true;
    }
    return false;
  }

  Chains chains_;
  std::array<std::uint8_t, kCells> counts_{};  // liberties by head, at most 5
  Cell ko_ = kNoCell;
  int budget_ = 0;
};

}  // namespace kedge::go
