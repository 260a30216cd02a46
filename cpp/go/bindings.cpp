#include "bindings.hpp"

#include <nanobind/operators.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "go/playouts.hpp"
#include "go/replay.hpp"
#include "parallel.hpp"

namespace nb = nanobind;
using namespace nb::literals;

using kedge::threads_or_all;

namespace {

using namespace kedge::go;

template <typename Number>
using Flat = nb::ndarray<const Number, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
// Stones, an empty mask for the plane that is a number, and tactics.
constexpr std::size_t kPlanes = 2 * kSteps + 1 + kTactics;
using Masks =
    nb::ndarray<std::uint64_t, nb::shape<-1, kPlanes, kWords>, nb::c_contig, nb::device::cpu>;
using Komi = nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Setup = nb::ndarray<const std::int32_t, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;

constexpr std::array<const char*, 3> kKoNames{"simple", "positional", "situational"};
// In the order of Verdict.
constexpr std::array<const char*, 6> kVerdicts{"legal",     "not on the board", "occupied",
                                               "suicide",   "ko",               "superko"};

Rules make_rules(std::string_view superko, bool suicide, float komi) {
  const auto name = std::find(kKoNames.begin(), kKoNames.end(), superko);
  if (name == kKoNames.end()) throw nb::value_error("unknown ko rule");
  return {static_cast<Ko>(name - kKoNames.begin()), suicide, komi};
}

void check_size(int size) {
  if (size < kMinSize || size > kMaxSize) throw nb::value_error("size: expected 2 to 19");
}

Board make_board(int size, float komi, std::string_view superko, bool suicide,
                 const std::vector<Action>& black, const std::vector<Action>& white, bool player) {
  check_size(size);
  Board board(size, make_rules(superko, suicide, komi));
  for (const Colour colour : {kBlack, kWhite}) {
    for (const Action point : colour == kBlack ? black : white) {
      const Verdict verdict = board.place(point, colour);
      if (verdict == Verdict::kLegal) continue;
      const char* why = verdict == Verdict::kSuicide ? "leaves stones without liberties"
                                                     : kVerdicts[static_cast<int>(verdict)];
      throw nb::value_error(("point " + std::to_string(point) + ": " + why).c_str());
    }
  }
  board.set_player(player ? kWhite : kBlack);
  return board;
}

// Returns a list of cached Python integers: making a hundred new ones took longer than the rules.
nb::object legal_actions(const Board& board) {
  static const std::vector<nb::object>& numbers = *[] {
    auto* made = new std::vector<nb::object>;
    for (std::size_t a = 0; a < Board::kMaxActions; ++a) made->push_back(nb::int_(a));
    return made;
  }();
  Action actions[Board::kMaxActions];
  const std::size_t count = board.legal_actions(actions);
  PyObject* out = PyList_New(static_cast<Py_ssize_t>(count));
  if (out == nullptr) throw nb::python_error();
  for (std::size_t i = 0; i < count; ++i) {
    PyList_SET_ITEM(out, static_cast<Py_ssize_t>(i), numbers[actions[i]].inc_ref().ptr());
  }
  return nb::steal(out);
}

Colour colour_at(const Board& board, Action point) {
  if (point >= board.pass()) throw nb::index_error("not on the board");
  return board.colour(point);
}

std::array<int, 4> count(const Board& board, const std::vector<Action>& dead) {
  Points points{};
  for (const Action point : dead) {
    if (colour_at(board, point) == kEmpty) throw nb::value_error("dead: no stone at this point");
    points[point / 64] |= std::uint64_t{1} << (point % 64);
  }
  const Count c = board.count(points);
  return {c.stones[0], c.stones[1], c.territory[0], c.territory[1]};
}

void encode(const std::vector<const Board*>& boards, const Masks& masks, const Komi& komi) {
  if (masks.shape(0) < boards.size() || komi.shape(0) < boards.size()) {
    throw nb::value_error("the arrays have fewer rows than there are boards");
  }
  for (const Board* board : boards) {
    if (board == nullptr) throw nb::type_error("boards: None is no board");
  }
  nb::gil_scoped_release release;
  auto* out = reinterpret_cast<Points*>(masks.data());
  for (std::size_t i = 0; i < boards.size(); ++i) {
    Points* planes = out + kPlanes * i;
    boards[i]->encode(planes, komi.data() + i);
    planes[2 * kSteps] = {};
    boards[i]->tactics(planes + 2 * kSteps + 1);
  }
}

// A numpy array that owns its numbers, not yet set.
template <typename Number>
struct Owned {
  explicit Owned(std::vector<std::size_t> shape) : shape(std::move(shape)) {
    std::size_t total = 1;
    for (const std::size_t n : this->shape) total *= n;
    data = new Number[total];
  }
  nb::object array() {
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<Number*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, Number>(data, shape.size(), shape.data(), owner));
  }
  std::vector<std::size_t> shape;
  Number* data;
};

bool partition(const Flat<std::int64_t>& offsets, std::size_t games, std::size_t total) {
  if (offsets.shape(0) != games + 1 || offsets(0) != 0) return false;
  for (std::size_t i = 0; i < games; ++i) {
    if (offsets(i + 1) < offsets(i)) return false;
  }
  return offsets(games) == static_cast<std::int64_t>(total);
}

// Many games at once; see go/replay.hpp. `setup` has a row (game, point, colour) for each stone
// of a first position, games ascending.
nb::tuple replay_games(const Flat<std::int16_t>& moves, const Flat<std::uint8_t>& colours,
                       const Flat<std::int64_t>& offsets, const Flat<std::int64_t>& plies,
                       const Flat<std::int64_t>& ply_offsets, const Flat<std::uint8_t>& sizes,
                       const Flat<float>& komi, const Setup& setup, std::string_view superko,
                       bool suicide, std::size_t steps, bool with_legal, bool with_tactics,
                       unsigned threads) {
  const std::size_t games = sizes.shape(0), rows = plies.shape(0);
  if (!partition(offsets, games, moves.shape(0)) || !partition(ply_offsets, games, rows) ||
      colours.shape(0) != moves.shape(0) || komi.shape(0) != games) {
    throw nb::value_error("offsets: do not match moves and plies");
  }
  for (std::size_t g = 0; g < games; ++g) {
    check_size(sizes(g));
    std::int64_t next = 0;
    for (std::int64_t i = ply_offsets(g); i < ply_offsets(g + 1); ++i) {
      if (plies(i) < next || plies(i) >= offsets(g + 1) - offsets(g)) {
        throw nb::value_error("plies: expected ascending plies of each game");
      }
      next = plies(i);
    }
  }
  for (std::size_t i = 0; i < colours.shape(0); ++i) {
    if (colours(i) > kWhite) throw nb::value_error("unknown colour");
  }
  std::vector<std::size_t> first_stone(games + 1, 0);
  for (std::size_t i = 0; i < setup.shape(0); ++i) {
    const std::int32_t game = setup(i, 0);
    if (game < (i > 0 ? setup(i - 1, 0) : 0) || game >= static_cast<std::int64_t>(games) ||
        setup(i, 1) < 0 || setup(i, 1) >= kMaxPoints || (setup(i, 2) & ~1) != 0) {
      throw nb::value_error("setup: expected stones in the order of the games");
    }
    ++first_stone[static_cast<std::size_t>(game) + 1];
  }
  for (std::size_t g = 0; g < games; ++g) first_stone[g + 1] += first_stone[g];

  const Rules rules = make_rules(superko, suicide, 0.0f);
  Owned<std::uint64_t> stones({rows, 2 * steps, kWords});
  nb::object stones_array = stones.array();
  Owned<float> komis({rows});
  nb::object komi_array = komis.array();
  Owned<Action> played({rows});
  nb::object played_array = played.array();
  Owned<std::uint64_t> legal({with_legal ? rows : 0, kWords});
  nb::object legal_array = legal.array();
  Owned<std::uint64_t> tactics({with_tactics ? rows : 0, kTactics, kWords});
  nb::object tactics_array = tactics.array();
  std::vector<Illegal> ends(games);
  {
    nb::gil_scoped_release release;
    kedge::parallel_for(games, threads_or_all(threads), [&](std::size_t g) {
      Board board(sizes(g), {rules.ko, rules.suicide, komi(g)});
      const auto row = static_cast<std::size_t>(ply_offsets(g));
      Game game{moves.data() + offsets(g), colours.data() + offsets(g),
                static_cast<std::size_t>(offsets(g + 1) - offsets(g)), plies.data() + row,
                static_cast<std::size_t>(ply_offsets(g + 1)) - row};
      Verdict set_up = Verdict::kLegal;
      for (std::size_t i = first_stone[g]; i < first_stone[g + 1]; ++i) {
        const Verdict verdict =
            board.place(static_cast<Action>(setup(i, 1)), static_cast<Colour>(setup(i, 2)));
        if (verdict != Verdict::kLegal) set_up = verdict;
      }
      if (set_up != Verdict::kLegal) game.length = 0;
      ends[g] = replay(board, game,
                       {reinterpret_cast<Points*>(stones.data) + 2 * steps * row,
                        komis.data + row, played.data + row,
                        with_legal ? reinterpret_cast<Points*>(legal.data) + row : nullptr,
                        with_tactics ? reinterpret_cast<Points*>(tactics.data) + kTactics * row
                                     : nullptr,
                        steps});
      if (set_up != Verdict::kLegal) ends[g] = {-1, set_up};
    });
  }
  nb::list illegal;
  for (std::size_t g = 0; g < games; ++g) {
    if (ends[g].verdict == Verdict::kLegal) continue;
    illegal.append(nb::make_tuple(g, ends[g].ply, kVerdicts[static_cast<int>(ends[g].verdict)]));
  }
  return nb::make_tuple(stones_array, komi_array, played_array, legal_array, tactics_array,
                        illegal);
}

}  // namespace

namespace kedge {

void bind_go(nb::module_& m) {
  nb::class_<Board>(m, "GoBoard")
      .def("__init__",
           [](Board* self, int size, float komi, std::string_view superko, bool suicide,
              const std::vector<Action>& black, const std::vector<Action>& white, bool player) {
             new (self) Board(make_board(size, komi, superko, suicide, black, white, player));
           },
           "size"_a = kMaxSize, "komi"_a = 7.5f, "superko"_a = "positional", "suicide"_a = false,
           "black"_a = std::vector<Action>(), "white"_a = std::vector<Action>(),
           "player"_a = false)
      .def("copy", [](const Board& board) { return Board(board); })
      .def("push",
           [](Board& board, Action action) {
             if (!board.is_legal(action)) throw nb::value_error("not a legal move");
             board.push(action);
           },
           "action"_a)
      .def("pop",
           [](Board& board) {
             if (board.length() == 1) throw nb::index_error("no move to take back");
             board.pop();
           })
      .def("set_player",
           [](Board& board, bool player) { board.set_player(player ? kWhite : kBlack); },
           "player"_a)
      .def("legal_actions", &legal_actions)
      .def("verdict",
           [](const Board& board, Action action) {
             return kVerdicts[static_cast<int>(board.verdict(action))];
           },
           "action"_a)
      .def("is_legal", &Board::is_legal, "action"_a)
      .def("is_terminal", &Board::is_over)
      .def("is_draw_by_rule", &Board::is_draw_by_rule)
      .def("terminal_value", &Board::terminal_value)
      .def("player", &Board::player)
      .def("length", &Board::length)
      // The last move, or one so many half-moves before it.
      .def("move",
           [](const Board& board, std::size_t back) {
             if (back + 1 >= board.length()) throw nb::index_error("no such move");
             return board.position(back).move;
           },
           "back"_a = 0)
      .def("colour", [](const Board& board, Action p) { return int{colour_at(board, p)}; },
           "point"_a)
      .def("count", &count, "dead"_a = std::vector<Action>())
      .def("play_random",
           [](Board& board, std::size_t plies, std::uint64_t seed) {
             nb::gil_scoped_release release;
             return board.play_random(plies, seed);
           },
           "plies"_a, "seed"_a)
      .def_prop_ro("size", &Board::size)
      .def_prop_ro("komi", [](const Board& board) { return board.rules().komi; })
      .def_prop_ro("prisoners", [](const Board& board) { return board.position().prisoners; })
      .def_prop_ro("ko",
                   [](const Board& board) -> nb::object {
                     const Action ko = board.position().ko;
                     return ko == kNoAction ? nb::none() : nb::cast(ko);
                   })
      .def_prop_ro("key", [](const Board& board) { return board.position().key; })
      .def_prop_ro("key_from_scratch", &Board::key_from_scratch)
      .def("__eq__", [](const Board& a, const Board& b) { return a == b; }, nb::is_operator());

  m.def("go_encode", &encode, "boards"_a, "masks"_a.noconvert(), "komi"_a.noconvert());
  m.def("go_ownership",
        [](const Board& board, std::size_t playouts, std::uint64_t seed, unsigned threads) {
          if (playouts == 0) throw nb::value_error("no playouts");
          std::vector<double> owners;
          {
            nb::gil_scoped_release release;
            owners = ownership(board, playouts, seed, threads_or_all(threads));
          }
          return kedge::own(std::move(owners));
        },
        "board"_a, "playouts"_a, "seed"_a = 0, "threads"_a = 0);
  m.def("go_replay", &replay_games, "moves"_a.noconvert(), "colours"_a.noconvert(),
        "offsets"_a.noconvert(), "plies"_a.noconvert(), "ply_offsets"_a.noconvert(),
        "sizes"_a.noconvert(), "komi"_a.noconvert(), "setup"_a.noconvert(),
        "superko"_a = "simple", "suicide"_a = false, "steps"_a = kSteps, "legal"_a = false,
        "tactics"_a = false, "threads"_a = 0);
}

}  // namespace kedge
