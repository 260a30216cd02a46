#include "go/replay.hpp"

#include <algorithm>

namespace kedge::go {
namespace {

void fill_row(const Board& board, Action played, std::size_t row, Rows rows) {
  board.encode(rows.stones + 2 * rows.steps * row, rows.komi + row, rows.steps);
  rows.played[row] = played;
  if (rows.legal != nullptr) rows.legal[row] = board.legal_points();
  if (rows.tactics != nullptr) board.tactics(rows.tactics + kTactics * row);
}

}  // namespace

Illegal replay(Board& board, const Game& game, Rows rows) {
  Illegal out{0, Verdict::kLegal};
  std::size_t row = 0;
  for (std::size_t ply = 0; ply < game.length; ++ply) {
    const auto move = static_cast<Action>(game.moves[ply]);
    board.set_player(static_cast<Colour>(game.colours[ply]));
    out = {static_cast<std::int64_t>(ply), board.verdict(move)};
    if (out.verdict != Verdict::kLegal) break;
    for (; row < game.rows && game.plies[row] == out.ply; ++row) fill_row(board, move, row, rows);
    board.push(move);
  }
  const std::size_t left = game.rows - row;
  std::fill_n(rows.stones + 2 * rows.steps * row, 2 * rows.steps * left, Points{});
  std::fill_n(rows.komi + row, left, 0.0f);
  std::fill_n(rows.played + row, left, kNoAction);
  if (rows.legal != nullptr) std::fill_n(rows.legal + row, left, Points{});
  if (rows.tactics != nullptr) {
    std::fill_n(rows.tactics + kTactics * row, kTactics * left, Points{});
  }
  return out;
}

}  // namespace kedge::go
