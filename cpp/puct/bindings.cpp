#include "puct/bind_forest.hpp"

#include "chess/board.hpp"
#include "go/board.hpp"
#include "puct/countdown.hpp"
#include "puct/tictactoe.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using kedge::puct::Countdown, kedge::puct::TicTacToe;

static std::vector<TicTacToe::Action> legal_cells(const TicTacToe& board) {
  std::vector<TicTacToe::Action> legal(TicTacToe::kMaxActions);
  legal.resize(board.legal_actions(legal.data()));
  return legal;
}

namespace {

// encode(masks, numbers, moves, policy_size): the leaves that wait as a network takes them, one a
// row, and where in the flat policy of the batch, a row of it that long, their legal moves are; how
// many those are.
template <std::size_t kWords, std::size_t kPolicy, class Board, class Write>
void bind_encode(nb::class_<kedge::puct::Forest<Board>>& forest_class, Write write) {
  using Masks = nb::ndarray<std::uint64_t, nb::shape<-1, kWords>, nb::c_contig, nb::device::cpu>;
  using Numbers = nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  using Places = nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  forest_class.def(
      "encode",
      [write](const kedge::puct::Forest<Board>& forest, const Masks& masks, const Numbers& numbers,
              const Places& moves, std::size_t policy_size) {
        const auto& rows = forest.rows();
        if (masks.shape(0) < rows.size() || numbers.shape(0) < rows.size() ||
            moves.shape(0) < forest.actions()) {
          throw nb::value_error("the arrays have fewer rows than there are leaves");
        }
        nb::gil_scoped_release release;
        forest.for_each(rows.size(), [&](std::size_t i) {
          const auto& leaf = rows[i].get();
          write(leaf.features, masks.data() + kWords * i, numbers.data() + i);
          std::int32_t* out = moves.data() + rows[i].first_action;
          for (const std::uint16_t index : leaf.policy_indices) {
            *out++ = static_cast<std::int32_t>(policy_size * i + index);
          }
        });
        return forest.actions();
      },
      "masks"_a.noconvert(), "numbers"_a.noconvert(), "moves"_a.noconvert(),
      "policy_size"_a = kPolicy);
}

}  // namespace

void kedge::bind_puct(nb::module_& m) {
  nb::class_<TicTacToe>(m, "TicTacToe")
      .def(nb::init<>())
      .def("push",
           [](TicTacToe& board, TicTacToe::Action cell) {
             const auto legal = legal_cells(board);
             if (std::find(legal.begin(), legal.end(), cell) == legal.end()) {
               throw nb::value_error("not a legal move");
             }
             board.push(cell);
           },
           "cell"_a)
      .def("legal_actions", &legal_cells)
      .def("moves", &TicTacToe::moves);
  kedge::puct::bind_forest<TicTacToe>(m, "TicTacToeForest");
  nb::class_<Countdown>(m, "Countdown").def(nb::init<int>(), "pile"_a);
  kedge::puct::bind_forest<Countdown>(m, "CountdownForest");

  using kedge::chess::kPlanes, kedge::chess::kPolicySize;
  auto chess = kedge::puct::bind_forest<kedge::chess::Board>(m, "ChessForest");
  // lc0's planes: see chess/planes.hpp.
  bind_encode<kPlanes, kPolicySize>(
      chess, [](const kedge::chess::Board::Features& from, std::uint64_t* masks, float* number) {
        std::copy_n(from.planes, kPlanes, masks);
        *number = from.rule50;
      });

  using GoFeatures = kedge::go::Board::Features;
  constexpr std::size_t kStones = sizeof(GoFeatures::masks) / sizeof(std::uint64_t);
  auto go = kedge::puct::bind_forest<kedge::go::Board>(m, "GoForest");
  // AlphaGo Zero's planes, with an empty mask for the one that is a number.
  bind_encode<kStones + kedge::go::kWords, kedge::go::Board::kMaxActions>(
      go, [](const GoFeatures& from, std::uint64_t* masks, float* number) {
        masks = std::copy_n(from.masks[0].data(), kStones, masks);
        std::fill_n(masks, kedge::go::kWords, 0);
        *number = from.komi;
      });
}
