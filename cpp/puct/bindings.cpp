#include "puct/bind_forest.hpp"

#include "chess/board.hpp"
#include "puct/tictactoe.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using kedge::puct::TicTacToe;

static std::vector<TicTacToe::Action> legal_cells(const TicTacToe& board) {
  std::vector<TicTacToe::Action> legal(TicTacToe::kMaxActions);
  legal.resize(board.legal_actions(legal.data()));
  return legal;
}

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

  using kedge::chess::kPlanes, kedge::chess::kPolicySize;
  using ChessForest = kedge::puct::Forest<kedge::chess::Board>;
  using Masks = nb::ndarray<std::uint64_t, nb::shape<-1, kPlanes>, nb::c_contig, nb::device::cpu>;
  using Numbers = nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  using Places = nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  kedge::puct::bind_forest<kedge::chess::Board>(m, "ChessForest")
      // The leaves that wait, as lc0's input planes, packed (see chess/planes.hpp), and where in
      // the flat logits of the batch their legal moves are; how many those are.
      .def("encode",
           [](const ChessForest& forest, const Masks& planes, const Numbers& rule50,
              const Places& moves) {
             const auto& rows = forest.rows();
             if (planes.shape(0) < rows.size() || rule50.shape(0) < rows.size() ||
                 moves.shape(0) < forest.actions()) {
               throw nb::value_error("the arrays have fewer rows than there are leaves");
             }
             nb::gil_scoped_release release;
             forest.for_each(rows.size(), [&](std::size_t i) {
               const auto& leaf = rows[i].get();
               std::copy_n(leaf.features.planes, kPlanes, planes.data() + kPlanes * i);
               rule50.data()[i] = leaf.features.rule50;
               std::int32_t* out = moves.data() + rows[i].first_action;
               for (const std::uint16_t index : leaf.policy_indices) {
                 *out++ = static_cast<std::int32_t>(kPolicySize * i + index);
               }
             });
             return forest.actions();
           },
           "planes"_a.noconvert(), "rule50"_a.noconvert(), "moves"_a.noconvert());
}
