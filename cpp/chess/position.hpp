// One chess position, its legal moves, and the position after a move. No history: see board.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "chess/bitboard.hpp"

namespace kedge::chess {

enum Colour : std::uint8_t { kWhite, kBlack };
enum Piece : std::uint8_t { kPawn, kKnight, kBishop, kRook, kQueen, kKing, kNoPiece };
enum Castling : std::uint8_t {
  kWhiteKingside = 1,
  kWhiteQueenside = 2,
  kBlackKingside = 4,
  kBlackQueenside = 8,
};

// from | to << 6 | promotion << 12, where promotion is 0 or a Piece from knight to queen. Castling
// is the king's move of two squares.
using Action = std::uint16_t;
inline constexpr Action kNoAction = 0xffff;
inline constexpr std::size_t kMaxActions = 256;  // 218 is the most that chess has
inline constexpr std::uint8_t kNoSquare = 64;

constexpr Action make_action(int from, int to, int promotion = 0) {
  return static_cast<Action>(from | to << 6 | promotion << 12);
}
constexpr int from_square(Action action) { return action & 63; }
constexpr int to_square(Action action) { return action >> 6 & 63; }
constexpr int promotion(Action action) { return action >> 12; }

struct Position {
  Bitboard pieces[6] = {};   // of both colours, by Piece
  Bitboard colours[2] = {};  // of all pieces, by Colour
  // Zobrist key of what makes two positions the same under the rules of repetition: pieces, side,
  // castling rights, and the en-passant file only if the capture is legal.
  std::uint64_t key = 0;
  std::uint16_t rule50 = 0;       // half-moves since a capture or a pawn's move
  std::uint16_t repetitions = 0;  // earlier occurrences in the line; kept by Board
  std::uint8_t side = kWhite;
  std::uint8_t castling = 0;
  std::uint8_t ep = kNoSquare;  // the square a pawn just jumped over, capture possible or not
  bool ep_legal = false;        // whether an en-passant capture is legal

  Bitboard occupied() const { return colours[0] | colours[1]; }
  Bitboard of(int colour, Piece piece) const { return colours[colour] & pieces[piece]; }
  int king(int colour) const { return lowest(of(colour, kKing)); }
  Piece piece_at(int square) const;
  bool in_check() const { return checkers(side) != 0; }
  Bitboard checkers(int colour) const;  // the pieces that attack the king of `colour`

  bool operator==(const Position&) const = default;
};
static_assert(sizeof(Position) <= 96, "a search keeps and copies lines of these");

// The same position under the rules of repetition.
bool same(const Position& a, const Position& b);

// The key from scratch; `apply` keeps it move by move.
std::uint64_t key_of(const Position& position);

// Makes a legal move. Leaves `repetitions` at 0.
void apply(Position& position, Action action);

// Legal moves in no particular order; `out` holds kMaxActions.
std::size_t generate(const Position& position, Action* out);
// Legal moves in ascending order.
std::size_t generate_sorted(const Position& position, Action* out);
// Whether the action is a legal move; any number may be passed.
bool is_legal(const Position& position, Action action);
// Makes the move if it is legal; returns whether it is. Cheaper than listing all moves.
bool apply_if_legal(Position& position, Action action);
// The number of legal moves.
std::size_t count_legal(const Position& position);
// Sets `ep_legal`; `ep` must be set before.
void find_legal_ep(Position& position);

// Neither side can ever mate, as in python-chess's is_insufficient_material.
bool insufficient_material(const Position& position);

// Leaves of the tree of legal moves. Counts the last ply's moves without making them.
std::uint64_t perft(const Position& position, int depth);

}  // namespace kedge::chess
