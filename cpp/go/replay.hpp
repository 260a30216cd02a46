// Recorded games, replayed for their positions.
#pragma once

#include "go/board.hpp"

namespace kedge::go {

// Rows for the positions of a game; `legal` and `tactics` may be null.
struct Rows {
  Points* stones;  // 2·steps a row: see Board::Features
  float* komi;
  Action* played;
  Points* legal;
  Points* tactics;  // kTactics a row
  std::size_t steps;
};

struct Game {
  const std::int16_t* moves;
  const std::uint8_t* colours;
  std::size_t length;
  const std::int64_t* plies;  // ascending, each less than length
  std::size_t rows;
};

// The first illegal half-move of a game (from 0; −1 is the setup), and the reason.
struct Illegal {
  std::int64_t ply;
  Verdict verdict;  // kLegal if nothing is wrong
};

// Writes the positions before some half-moves of a game that starts at `board`. After an illegal
// move, rows are empty and their `played` is kNoAction.
Illegal replay(Board& board, const Game& game, Rows rows);

}  // namespace kedge::go
