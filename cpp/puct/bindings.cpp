#include "puct/bind_encode.hpp"
#include "puct/bind_forest.hpp"

#include "chess/board.hpp"
#include "go/board.hpp"
#include "puct/countdown.hpp"
#include "puct/tictactoe.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using kedge::puct::bind_encode, kedge::puct::Countdown, kedge::puct::TicTacToe;

static_assert(kedge::puct::Board<TicTacToe>);
static_assert(kedge::puct::RewardBoard<Countdown>);
static_assert(kedge::puct::EncodedBoard<kedge::chess::Board>);
static_assert(kedge::puct::EncodedBoard<kedge::go::Board>);

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
