// Estimates who will own each point by random games that end when only eyes are left.
#pragma once

#include <vector>

#include "go/board.hpp"

namespace kedge::go {

// For every point: the share of games in which black owns it, minus white's. Black and white move
// first in turn. A player draws from its legal points, except its own eyes and moves that only
// lose a chain, and passes if none is left; superko is ignored. An empty point belongs to the
// colour of all stones around it. The result depends on the seed, not on the number of threads.
std::vector<double> ownership(const Board& board, std::size_t playouts, std::uint64_t seed,
                              std::size_t threads);

}  // namespace kedge::go
