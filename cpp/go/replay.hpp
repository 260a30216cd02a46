// Recorded games, replayed for their positions.
#pragma once

#include "go/board.hpp"

namespace kedge::go {

// Where the positions of a game go, row by row; `legal` may be null.
struct Rows {
  Points* masks;  // 2·steps a row: see Board::Features
  float* komi;
  Action* played;
  Points* legal;
  std::size_t steps;
};

struct Game {
  const std::int16_t* moves;
  const std::uint8_t* colours;
  std::size_t length;
  const std::int64_t* plies;  // ascending, each less than length
  std::size_t rows;
};

// Why and at which half-move (from 0; −1 is the setup) a game cannot go on.
struct Illegal {
  std::int64_t ply;
  Verdict verdict;  // kLegal if nothing is wrong
};

// The positions before some half-moves of a game from the board's. From an illegal move on, rows
// are empty and their `played` is kNoAction.
Illegal replay(Board& board, const Game& game, Rows rows);

}  // namespace kedge::go
