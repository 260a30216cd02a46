#include "puct/bind_forest.hpp"

#include "chess/board.hpp"
#include "puct/tictactoe.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using kedge::puct::TicTacToe;

void kedge::bind_puct(nb::module_& m) {
  nb::class_<TicTacToe>(m, "TicTacToe")
      .def(nb::init<>())
      .def("push",
           [](TicTacToe& board, TicTacToe::Action cell) {
             std::vector<TicTacToe::Action> legal(TicTacToe::kMaxActions);
             legal.resize(board.legal_actions(legal.data()));
             if (std::find(legal.begin(), legal.end(), cell) == legal.end()) {
               throw nb::value_error("not a legal move");
             }
             board.push(cell);
           },
           "cell"_a)
      .def("moves", &TicTacToe::moves);
  kedge::puct::bind_forest<TicTacToe>(m, "TicTacToeForest");

  using ChessForest = kedge::puct::Forest<kedge::chess::Board>;
  using Masks = nb::ndarray<std::uint64_t, nb::shape<-1, kedge::chess::kPlanes>, nb::c_contig,
                            nb::device::cpu>;
  using Counts = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  kedge::puct::bind_forest<kedge::chess::Board>(m, "ChessForest")
      // The leaves that wait, as lc0's input planes, packed: see chess/planes.hpp.
      .def("encode",
           [](const ChessForest& forest, const Masks& planes, const Counts& rule50) {
             const auto& waiting = forest.waiting();
             if (planes.shape(0) < waiting.size() || rule50.shape(0) < waiting.size()) {
               throw nb::value_error("the arrays have fewer rows than there are leaves");
             }
             nb::gil_scoped_release release;
             forest.parallel(waiting.size(), [&](std::size_t i) {
               waiting[i].second->board().encode(planes.data() + kedge::chess::kPlanes * i,
                                                 rule50.data() + i);
             });
           },
           "planes"_a.noconvert(), "rule50"_a.noconvert());
}
