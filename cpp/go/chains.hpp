// Stones on a board and the chains that they form, kept up to date stone by stone, and back.
//
// A chain is a ring of points, named by one of them, its head. Its liberties are counted once for
// each stone that they touch, with their sum and sum of squares: n of them are one and the same
// point exactly when n·Σq² = (Σq)². So nothing is ever searched for.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace kedge::go {

// The edge has no bit of the others, so that four neighbours show at once whether one is empty.
enum Colour : std::uint8_t { kBlack = 0, kWhite = 1, kEmpty = 2, kEdge = 4 };
inline constexpr Colour other(Colour colour) { return colour == kBlack ? kWhite : kBlack; }

// A cell of the board with its margin: rows of 20, so that the cell to the right of a row's last
// point is the margin to the left of the next row.
using Cell = std::uint16_t;
inline constexpr int kStride = 20, kCells = 21 * kStride;

class Chains {
 public:
  struct Chain {
    std::uint32_t sum, squares;  // over liberties, once for each stone they touch
    std::uint16_t count, size;   // of those liberties; of stones
    void add(std::uint32_t liberty) {
      ++count;
      sum += liberty;
      squares += liberty * liberty;
    }
    void remove(std::uint32_t liberty) {
      --count;
      sum -= liberty;
      squares -= liberty * liberty;
    }
  };
  // The data that undo() needs besides the stone and its colour.
  struct Undo {
    std::array<Cell, 4> absorbed, captured;  // heads, in the order in which it happened
    std::uint8_t merges, captures;
    bool suicide;     // then the captured chain is the player's own
    Cell head, next;  // the last entries of its point
    Chain chain;
  };

  explicit Chains(int size) {
    colours_.fill(kEdge);
    for (int y = 0; y < size; ++y) {
      for (int x = 0; x < size; ++x) colours_[cell_at(x, y)] = kEmpty;
    }
  }

  static constexpr Cell cell_at(int x, int y) {
    return static_cast<Cell>((y + 1) * kStride + x + 1);
  }
  static constexpr std::array<Cell, 4> neighbours(Cell cell) {
    return {static_cast<Cell>(cell - kStride), static_cast<Cell>(cell - 1),
            static_cast<Cell>(cell + 1), static_cast<Cell>(cell + kStride)};
  }

  Colour colour(Cell cell) const { return static_cast<Colour>(colours_[cell]); }
  bool touches_empty(Cell cell) const {
    const auto [a, b, c, d] = neighbours(cell);
    return ((colours_[a] | colours_[b] | colours_[c] | colours_[d]) & kEmpty) != 0;
  }
  // Whether a stone was ever taken off this point.
  bool was_emptied(Cell cell) const { return emptied_[cell] > 0; }
  Cell head(Cell stone) const { return heads_[stone]; }
  bool has_liberties(Cell head) const { return chains_[head].count > 0; }
  int size(Cell head) const { return chains_[head].size; }
  bool in_atari(Cell head) const {  // of a chain with liberties
    const Chain& chain = chains_[head];
    return std::uint64_t{chain.count} * chain.squares == std::uint64_t{chain.sum} * chain.sum;
  }
  // The liberty of a chain in atari.
  Cell last_liberty(Cell head) const {
    return static_cast<Cell>(chains_[head].sum / chains_[head].count);
  }
  // Writes up to `most` different liberties of a chain to `out` and returns their number.
  int liberties(Cell head, Cell* out, int most) const {
    int count = 0;
    Cell stone = head;
    do {
      for (const Cell n : neighbours(stone)) {
        if (colours_[n] != kEmpty || std::find(out, out + count, n) != out + count) continue;
        out[count++] = n;
        if (count == most) return count;
      }
      stone = next_[stone];
    } while (stone != head);
    return count;
  }
  // Calls visit(stone) for each stone of a chain, also of one that was just captured.
  template <typename Visit>
  void each(Cell head, const Visit& visit) const {
    Cell stone = head;
    do {
      visit(stone);
      stone = next_[stone];
    } while (stone != head);
  }

  // Puts a stone on an empty point, joins it to its neighbours, and removes chains without
  // liberties: the opponent's or, if there are none, the player's own.
  void play(Cell stone, Colour player, Undo& undo) {
    const Colour opponent = other(player);
    const auto around = neighbours(stone);
    Chain& mine = chains_[stone];
    undo = {{}, {}, 0, 0, false, heads_[stone], next_[stone], mine};

    colours_[stone] = player;
    heads_[stone] = next_[stone] = stone;
    mine = {0, 0, 0, 1};
    for (const Cell n : around) {
      if (colours_[n] == kEmpty) {
        mine.add(n);
      } else if (colours_[n] != kEdge) {
        chains_[heads_[n]].remove(stone);
      }
    }
    for (const Cell n : around) {
      if (colours_[n] == player && heads_[n] != heads_[stone]) {
        undo.absorbed[undo.merges++] = merge(heads_[stone], heads_[n]);
      }
    }
    for (const Cell n : around) {
      if (colours_[n] == opponent && !has_liberties(heads_[n])) {
        undo.captured[undo.captures++] = heads_[n];
        take_off(heads_[n], player);
      }
    }
    if (!has_liberties(heads_[stone])) {
      undo.suicide = true;
      undo.captured[undo.captures++] = heads_[stone];
      take_off(heads_[stone], opponent);
    }
  }

  // Only for the last stone played. Chains that were absorbed or captured are still as they were:
  // a later stone on one of their points has been undone before.
  void undo(Cell stone, Colour player, const Undo& undo) {
    const Colour opponent = other(player);
    for (int i = undo.captures; i-- > 0;) {
      if (undo.suicide) {
        put_back(undo.captured[i], player, opponent);
      } else {
        put_back(undo.captured[i], opponent, player);
      }
    }
    for (int i = undo.merges; i-- > 0;) split(heads_[stone], undo.absorbed[i]);
    colours_[stone] = kEmpty;
    for (const Cell n : neighbours(stone)) {
      if (colours_[n] < kEmpty) chains_[heads_[n]].add(stone);
    }
    heads_[stone] = undo.head;
    next_[stone] = undo.next;
    chains_[stone] = undo.chain;
  }

 private:
  // Joins two chains under the head of the larger one; returns the head of the other.
  Cell merge(Cell a, Cell b) {
    if (chains_[a].size < chains_[b].size) std::swap(a, b);
    each(b, [&](Cell stone) { heads_[stone] = a; });
    std::swap(next_[a], next_[b]);
    Chain& into = chains_[a];
    const Chain& from = chains_[b];
    into = {into.sum + from.sum, into.squares + from.squares,
            static_cast<std::uint16_t>(into.count + from.count),
            static_cast<std::uint16_t>(into.size + from.size)};
    return b;
  }
  void split(Cell a, Cell b) {
    std::swap(next_[a], next_[b]);
    each(b, [&](Cell stone) { heads_[stone] = b; });
    Chain& into = chains_[a];
    const Chain& from = chains_[b];
    into = {into.sum - from.sum, into.squares - from.squares,
            static_cast<std::uint16_t>(into.count - from.count),
            static_cast<std::uint16_t>(into.size - from.size)};
  }

  // A chain without liberties touches only stones of `captor`, which gain by it.
  void take_off(Cell head, Colour captor) {
    each(head, [&](Cell stone) {
      colours_[stone] = kEmpty;
      ++emptied_[stone];
      for (const Cell n : neighbours(stone)) {
        if (colours_[n] == captor) chains_[heads_[n]].add(stone);
      }
    });
  }
  void put_back(Cell head, Colour owner, Colour captor) {
    each(head, [&](Cell stone) {
      colours_[stone] = owner;
      --emptied_[stone];
      for (const Cell n : neighbours(stone)) {
        if (colours_[n] == captor) chains_[heads_[n]].remove(stone);
      }
    });
  }

  std::array<std::uint8_t, kCells> colours_;
  std::array<Cell, kCells> heads_{}, next_{};
  std::array<std::uint16_t, kCells> emptied_{};
  std::array<Chain, kCells> chains_{};
};

}  // namespace kedge::go
