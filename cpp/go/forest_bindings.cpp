#include <algorithm>

#include "go/board.hpp"
#include "puct/bind_encode.hpp"
#include "puct/bind_forest.hpp"

namespace kedge {

static_assert(puct::EncodedBoard<go::Board>);

void bind_go_forest(nanobind::module_& m) {
  using go::kWords;
  constexpr std::size_t kStones = 2 * go::kSteps * kWords, kTactics = go::kTactics * kWords;
  auto forest = puct::bind_forest<go::Board>(m, "GoForest");
  // AlphaGo Zero's planes, with an empty mask for the one that is a number, and tactics.
  puct::bind_encode<kStones + kWords + kTactics, go::Board::kMaxActions>(
      forest, [](const go::Board::Features& from, std::uint64_t* masks, float* number) {
        masks = std::copy_n(from.stones[0].data(), kStones, masks);
        masks = std::fill_n(masks, kWords, 0);
        std::copy_n(from.tactics[0].data(), kTactics, masks);
        *number = from.komi;
      });
}

}  // namespace kedge
