#include <algorithm>

#include "chess/board.hpp"
#include "puct/bind_encode.hpp"
#include "puct/bind_forest.hpp"

namespace kedge {

static_assert(puct::EncodedBoard<chess::Board>);

void bind_chess_forest(nanobind::module_& m) {
  using chess::kPlanes, chess::kPolicySize;
  auto forest = puct::bind_forest<chess::Board>(m, "ChessForest");
  // lc0's planes: see chess/planes.hpp.
  puct::bind_encode<kPlanes, kPolicySize>(
      forest, [](const chess::Board::Features& from, std::uint64_t* masks, float* number) {
        std::copy_n(from.planes, kPlanes, masks);
        *number = from.rule50;
      });
}

}  // namespace kedge
