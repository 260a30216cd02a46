#include "puct/bind_forest.hpp"

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
}
