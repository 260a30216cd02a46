// Random games from a position to where nothing but eyes is left: who will own which point?
#pragma once

#include <vector>

#include "go/board.hpp"

namespace kedge::go {

// For every point the share of games that black owns it at the end, less white's. Players take
// turns at the first move. Each draws from the points that it may play, less its own eyes and moves
// that only give a chain away, and passes where there is none; superko is not reckoned with. At
// the end an empty point is his who has all the stones around it. The same seed gives the same
// shares, on any number of threads.
std::vector<double> ownership(const Board& board, std::size_t playouts, std::uint64_t seed,
                              std::size_t threads);

}  // namespace kedge::go
