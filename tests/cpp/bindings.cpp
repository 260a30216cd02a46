// kedge_test_games: forests of two small games that the tests compare with plain Python. An editable
// install builds it; a wheel never has it.
#include "countdown.hpp"
#include "puct/bind_forest.hpp"
#include "tictactoe.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using test_games::Countdown, test_games::TicTacToe;

static_assert(kedge::puct::Board<TicTacToe>);
static_assert(!kedge::puct::RewardBoard<TicTacToe> && !kedge::puct::EncodedBoard<TicTacToe>);
static_assert(kedge::puct::RewardBoard<Countdown>);
static_assert(!kedge::puct::Board<std::vector<int>>);

static std::vector<TicTacToe::Action> legal_cells(const TicTacToe& board) {
  std::vector<TicTacToe::Action> legal(TicTacToe::kMaxActions);
  legal.resize(board.legal_actions(legal.data()));
  return legal;
}

NB_MODULE(kedge_test_games, m) {
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
}
