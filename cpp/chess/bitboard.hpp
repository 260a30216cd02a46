// Sets of squares, and what each piece attacks. All tables are made by the compiler.
//
// A square is 0…63 (a1 = 0, h1 = 7, h8 = 63); bit s of a Bitboard is square s. Sliders use hyperbola
// quintessence: taking the slider's bit from the blockers' flips all bits up to the first blocker
// above, and swapping the bytes turns files and diagonals round for the one below. A byte swap does
// not reverse a rank, so ranks have a table.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>

namespace kedge::chess {

using Bitboard = std::uint64_t;

inline constexpr Bitboard kAll = ~Bitboard{0};
inline constexpr Bitboard kFileA = 0x0101010101010101u;
inline constexpr Bitboard kFileH = kFileA << 7;
inline constexpr Bitboard kRank1 = 0xff;

constexpr Bitboard bit(int square) { return Bitboard{1} << square; }
constexpr Bitboard rank_mask(int rank) { return kRank1 << (8 * rank); }
constexpr Bitboard file_mask(int file) { return kFileA << file; }
constexpr int lowest(Bitboard b) { return std::countr_zero(b); }
constexpr int rank_of(int square) { return square >> 3; }
constexpr int file_of(int square) { return square & 7; }

// The board seen from the other side: ranks swap, files stay.
inline Bitboard flip(Bitboard b) {
#if defined(_MSC_VER)
  return _byteswap_uint64(b);
#else
  return __builtin_bswap64(b);
#endif
}

// Calls f(square) for every square of b, lowest first.
template <typename F>
inline void each(Bitboard b, F&& f) {
  for (; b; b &= b - 1) f(lowest(b));
}

namespace tables {

constexpr bool on_board(int rank, int file) {
  return rank >= 0 && rank < 8 && file >= 0 && file < 8;
}

template <std::size_t N>
constexpr std::array<Bitboard, 64> leaps(const std::array<std::array<int, 2>, N>& steps) {
  std::array<Bitboard, 64> out{};
  for (int s = 0; s < 64; ++s) {
    for (const auto& step : steps) {
      const int rank = rank_of(s) + step[0], file = file_of(s) + step[1];
      if (on_board(rank, file)) out[s] |= bit(8 * rank + file);
    }
  }
  return out;
}

inline constexpr auto kKnight = leaps<8>(
    {{{1, 2}, {2, 1}, {2, -1}, {1, -2}, {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}}});
inline constexpr auto kKing =
    leaps<8>({{{1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}, {0, -1}, {1, -1}}});
// Squares that a pawn on the square attacks, by colour.
inline constexpr std::array<std::array<Bitboard, 64>, 2> kPawn = {
    leaps<2>({{{1, -1}, {1, 1}}}), leaps<2>({{{-1, -1}, {-1, 1}}})};

// The squares from `s` in one direction, to the edge.
constexpr Bitboard ray(int s, int up, int right) {
  Bitboard out = 0;
  int rank = rank_of(s) + up, file = file_of(s) + right;
  for (; on_board(rank, file); rank += up, file += right) out |= bit(8 * rank + file);
  return out;
}

// Both rays of a file, diagonal or antidiagonal through each square, without the square.
struct Lines {
  std::array<Bitboard, 64> file{}, diagonal{}, antidiagonal{};
};

constexpr Lines make_lines() {
  Lines out;
  for (int s = 0; s < 64; ++s) {
    out.file[s] = ray(s, 1, 0) | ray(s, -1, 0);
    out.diagonal[s] = ray(s, 1, 1) | ray(s, -1, -1);
    out.antidiagonal[s] = ray(s, 1, -1) | ray(s, -1, 1);
  }
  return out;
}
inline constexpr Lines kLines = make_lines();

// [file][the six inner squares of the rank]: what a rook attacks on its rank.
constexpr std::array<std::array<std::uint8_t, 64>, 8> make_ranks() {
  std::array<std::array<std::uint8_t, 64>, 8> out{};
  for (int file = 0; file < 8; ++file) {
    for (int inner = 0; inner < 64; ++inner) {
      const int occupied = inner << 1;
      int attacks = 0;
      for (int f = file + 1; f < 8; ++f) {
        attacks |= 1 << f;
        if (occupied >> f & 1) break;
      }
      for (int f = file - 1; f >= 0; --f) {
        attacks |= 1 << f;
        if (occupied >> f & 1) break;
      }
      out[file][inner] = static_cast<std::uint8_t>(attacks);
    }
  }
  return out;
}
inline constexpr auto kRanks = make_ranks();

using Pairs = std::array<std::array<Bitboard, 64>, 64>;

constexpr Pairs make_pairs(bool whole_line) {
  Pairs out{};
  for (int s = 0; s < 64; ++s) {
    for (int up = -1; up <= 1; ++up) {
      for (int right = -1; right <= 1; ++right) {
        if (up == 0 && right == 0) continue;
        const Bitboard ahead = ray(s, up, right);
        const Bitboard line = ahead | ray(s, -up, -right) | bit(s);
        for (Bitboard left = ahead; left; left &= left - 1) {
          const int t = lowest(left);
          out[s][t] = whole_line ? line : ahead & ~ray(t, up, right) & ~bit(t);
        }
      }
    }
  }
  return out;
}
inline constexpr Pairs kBetween = make_pairs(false);
inline constexpr Pairs kLine = make_pairs(true);

}  // namespace tables

// The squares strictly between two squares of one line, else none.
inline Bitboard between(int a, int b) { return tables::kBetween[a][b]; }
// The whole line through two squares, edge to edge, else none.
inline Bitboard line(int a, int b) { return tables::kLine[a][b]; }

inline Bitboard knight_attacks(int s) { return tables::kKnight[s]; }
inline Bitboard king_attacks(int s) { return tables::kKing[s]; }
inline Bitboard pawn_attacks(int colour, int s) { return tables::kPawn[colour][s]; }

inline Bitboard line_attacks(int s, Bitboard occupied, Bitboard mask) {
  const Bitboard blockers = occupied & mask;
  const Bitboard up = blockers - bit(s);
  const Bitboard down = flip(flip(blockers) - flip(bit(s)));
  return (up ^ down) & mask;
}

inline Bitboard rank_attacks(int s, Bitboard occupied) {
  const int shift = s & 56;
  return Bitboard{tables::kRanks[s & 7][occupied >> (shift + 1) & 63]} << shift;
}

inline Bitboard bishop_attacks(int s, Bitboard occupied) {
  return line_attacks(s, occupied, tables::kLines.diagonal[s]) |
         line_attacks(s, occupied, tables::kLines.antidiagonal[s]);
}

inline Bitboard rook_attacks(int s, Bitboard occupied) {
  return line_attacks(s, occupied, tables::kLines.file[s]) | rank_attacks(s, occupied);
}

}  // namespace kedge::chess
