#include "bindings.hpp"

#include <nanobind/operators.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <span>

#include "chess/board.hpp"

namespace nb = nanobind;
using namespace nb::literals;

using kedge::own;

namespace {

using namespace kedge::chess;

using Masks = nb::ndarray<std::uint64_t, nb::shape<-1, 112>, nb::c_contig, nb::device::cpu>;
using Counts = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ConstActions = nb::ndarray<const Action, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Plies = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Board from_fen(std::string_view fen) {
  std::string error;
  std::optional<Board> board = Board::from_fen(fen, &error);
  if (!board) throw nb::value_error(error.c_str());
  return *std::move(board);
}

Action checked(const Board& board, Action action) {
  if (!board.is_legal(action)) throw nb::value_error("not a legal move");
  return action;
}

Action checked(Action action) {
  if (action == kNoAction) throw nb::value_error("not a legal move");
  return action;
}

std::vector<Action> legal_actions(const Board& board) {
  Action actions[kMaxActions];
  return {actions, actions + board.legal_actions(actions)};
}

// The boards before the half-moves `plies` of a game; `plies` ascends.
std::vector<Board> replay(const Board& start, const ConstActions& moves, const Plies& plies) {
  std::vector<Board> boards;
  nb::gil_scoped_release release;
  Board board = start;
  std::size_t next = 0;
  for (std::size_t ply = 0; next < plies.shape(0); ++ply) {
    for (; next < plies.shape(0) && plies(next) == static_cast<std::int64_t>(ply); ++next) {
      boards.push_back(board);
    }
    if (next == plies.shape(0)) break;
    if (ply == moves.shape(0)) throw std::invalid_argument("not an ascending ply of the game");
    if (!board.is_legal(moves(ply))) throw std::invalid_argument("not a legal move");
    board.push(moves(ply));
  }
  return boards;
}

Fill fill_of(bool fill) { return fill ? Fill::kFenOnly : Fill::kNone; }

void encode(const std::vector<const Board*>& boards, const Masks& planes, const Counts& rule50,
            bool fill) {
  if (planes.shape(0) < boards.size() || rule50.shape(0) < boards.size()) {
    throw nb::value_error("the arrays have fewer rows than there are boards");
  }
  for (const Board* board : boards) {
    if (board == nullptr) throw nb::type_error("boards: None is no board");
  }
  nb::gil_scoped_release release;
  for (std::size_t i = 0; i < boards.size(); ++i) {
    boards[i]->encode(planes.data() + kPlanes * i, rule50.data() + i, fill_of(fill));
  }
}

}  // namespace

namespace kedge {

void bind_chess(nb::module_& m) {
  nb::class_<Board>(m, "ChessBoard")
      .def(nb::init<>())
      .def_static("from_fen", &from_fen, "fen"_a)
      .def("copy", [](const Board& board) { return Board(board); })
      .def("push", [](Board& board, Action action) { board.push(checked(board, action)); },
           "action"_a)
      .def("pop",
           [](Board& board) {
             if (board.length() == 1) throw nb::index_error("no move to take back");
             board.pop();
           })
      .def("legal_actions", &legal_actions)
      .def("is_legal", &Board::is_legal, "action"_a)
      .def("is_terminal", &Board::is_terminal)
      .def("terminal_value", &Board::terminal_value)
      .def("player", &Board::player)
      .def("length", &Board::length)
      .def("fen", &Board::fen)
      .def("san",
           [](const Board& board, Action action) { return board.san(checked(board, action)); },
           "action"_a)
      .def("parse_san",
           [](const Board& board, std::string_view text) { return checked(board.parse_san(text)); },
           "text"_a)
      .def_static("uci", &Board::uci, "action"_a)
      .def("parse_uci",
           [](const Board& board, std::string_view text) { return checked(board.parse_uci(text)); },
           "text"_a)
      .def("policy_index",
           [](const Board& board, Action action) {
             return board.policy_index(checked(board, action));
           },
           "action"_a)
      .def("policy_indices",
           [](const Board& board) {
             std::vector<Action> actions = legal_actions(board);
             for (Action& action : actions) action = board.policy_index(action);
             return own(std::move(actions));
           })
      .def("perft",
           [](const Board& board, int depth) {
             const Position position = board.position();
             nb::gil_scoped_release release;
             return perft(position, depth);
           },
           "depth"_a)
      .def_prop_ro("in_check", [](const Board& board) { return board.position().in_check(); })
      .def_prop_ro("has_moves",
                   [](const Board& board) { return count_legal(board.position()) > 0; })
      .def_prop_ro("rule50", [](const Board& board) { return board.position().rule50; })
      .def_prop_ro("repetitions", [](const Board& board) { return board.position().repetitions; })
      .def_prop_ro("insufficient_material",
                   [](const Board& board) { return insufficient_material(board.position()); })
      .def_prop_ro("key", [](const Board& board) { return board.position().key; })
      .def_prop_ro("key_from_scratch", [](const Board& board) { return key_of(board.position()); })
      .def("__eq__", [](const Board& a, const Board& b) { return a == b; }, nb::is_operator());

  m.def("chess_replay", &replay, "start"_a, "moves"_a, "plies"_a);
  m.def("chess_encode", &encode, "boards"_a, "planes"_a.noconvert(), "rule50"_a.noconvert(),
        "fill"_a = true);
  m.def("chess_policy_moves", [] {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < kPolicySize; ++i) out.push_back(Board::uci(policy_move(i)));
    return out;
  });
}

}  // namespace kedge
