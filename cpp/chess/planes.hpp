// lc0's view of chess: the 112 input planes (INPUT_CLASSICAL_112_PLANE) and the 1858 moves.
#pragma once

#include <cstddef>
#include <cstdint>

#include "chess/position.hpp"

namespace kedge::chess {

inline constexpr std::size_t kPlanes = 112;
inline constexpr std::size_t kPolicySize = 1858;

// How positions before the first known one are filled: `kFenOnly`, lc0's default, repeats the
// oldest unless it is the start of the game; `kNone` leaves them empty. Either way an en-passant
// square shows the position before the pawn's jump.
enum class Fill : std::uint8_t { kFenOnly, kNone };

// Plane p of the last position of a line as the set of squares where it is on, a1 = bit 0, from the
// mover's side of the board:
//   13 t + 0…5    the mover's pawns, knights, bishops, rooks, queens, king, t half-moves ago
//   13 t + 6…11   the opponent's
//   13 t + 12     on if that position had occurred before
//   104…107       castling rights: the mover's queenside, kingside, the opponent's
//   108           on if black is to move
//   109           on if the half-move counter is not 0; its value is `rule50`, at most 255
//   110, 111      off, on
void encode_planes(const Position* line, std::size_t length, std::uint64_t* planes,
                   std::uint8_t* rule50, Fill fill);

// The move's place in lc0's list, seen from the mover's side; castling is the king taking its rook,
// a promotion to a knight has no suffix. The move must be legal.
std::uint16_t policy_index(const Position& position, Action action);

// Entry `index` of that list, as a move of white's. Castling comes out as king takes rook.
Action policy_move(std::size_t index);

}  // namespace kedge::chess
