#include "hanabi/batch.hpp"
#include "hanabi/beliefs.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using namespace kedge::hanabi;

// (n, players, slots), for the largest numbers of players and slots: one shape for all games.
using MarkRows = nb::ndarray<const Cards, nb::shape<-1, kMaxPlayers, kMaxHand>, nb::c_contig,
                             nb::device::cpu>;

constexpr std::size_t kObserved = 2048, kPlayedOut = 16;  // games that a thread takes at a time

Marks* rows_of(Cards* marks) { return reinterpret_cast<Marks*>(marks); }
static_assert(sizeof(Marks) == sizeof(Cards[kMaxPlayers][kMaxHand]));

nb::ndarray<nb::numpy, Cards> give(std::vector<Cards> marks) {
  const std::size_t rows = marks.size() / (kMaxPlayers * kMaxHand);
  const auto [data, owner] = kedge::keep(std::move(marks));
  return {data, {rows, std::size_t{kMaxPlayers}, std::size_t{kMaxHand}}, owner};
}

std::vector<Cards> copied(const Games& games, const MarkRows& marks) {
  if (marks.shape(0) != games.games.size()) refuse("marks: expected one row per game");
  return {marks.data(), marks.data() + marks.size()};
}

auto observe_all(const Games& games, const MarkRows& given, unsigned threads) {
  std::vector<Cards> marks = copied(games, given);
  {
    nb::gil_scoped_release release;
    for_each<kObserved>(games.games.size(), threads, [&](std::size_t i) {
      const Game& game = games.games[i];
      observe(games.rules, game, Table(games.rules, game), rows_of(marks.data())[i]);
    });
  }
  return give(std::move(marks));
}

auto choose_all(const Games& games, const MarkRows& given, unsigned threads) {
  std::vector<Cards> marks = copied(games, given);
  std::vector<std::int64_t> actions(games.games.size(), -1);
  {
    nb::gil_scoped_release release;
    for_each<kObserved>(actions.size(), threads, [&](std::size_t i) {
      const Game& game = games.games[i];
      if (is_over(games.rules, game)) return;
      actions[i] = choose(games.rules, game, Table(games.rules, game), rows_of(marks.data())[i]);
    });
  }
  return kedge::own(std::move(actions));
}

auto play_out_all(Games& games, const MarkRows& given, unsigned threads) {
  std::vector<Cards> marks = copied(games, given);
  std::vector<double> scores(games.games.size());
  {
    nb::gil_scoped_release release;
    for_each<kPlayedOut>(scores.size(), threads, [&](std::size_t i) {
      scores[i] = play_out(games.rules, games.games[i], rows_of(marks.data())[i]);
    });
  }
  return kedge::own(std::move(scores));
}

Belief begin_belief(const Games& games, std::int64_t seat) {
  if (games.games.size() != 1) refuse("expected one game");
  if (games.games.front().last.action != kNoAction) refuse("expected the beginning of the game");
  if (seat < 0 || seat >= games.rules.players) {
    refuse("seats are 0 to " + std::to_string(games.rules.players - 1));
  }
  return Belief(games.rules, games.games.front(), static_cast<int>(seat));
}

}  // namespace

namespace kedge {

void bind_hanabi_conventions(nb::module_& m) {
  // Empty marks; marks after the last move; the mover's actions, -1 where a game is over; and the
  // scores of playouts. Playouts change their games, whose last move must not be observed yet.
  m.def("hanabi_begin",
        [](std::size_t count) {
          return give(std::vector<Cards>(count * kMaxPlayers * kMaxHand));
        },
        "count"_a);
  m.attr("HANABI_MOST_ACTIONS") = kMaxActions;
  m.def("hanabi_observe", &observe_all, "games"_a, "marks"_a.noconvert(), "threads"_a = 0);
  m.def("hanabi_choose", &choose_all, "games"_a, "marks"_a.noconvert(), "threads"_a = 0);
  m.def("hanabi_play_out", &play_out_all, "games"_a, "marks"_a.noconvert(), "threads"_a = 0);

  nb::class_<Belief>(m, "HanabiBelief")
      // The belief of a seat in a game, before the first move.
      .def(nb::new_(&begin_belief), "games"_a, "seat"_a)
      .def("step", [](Belief& belief, std::int64_t action) {
        const std::uint64_t legal = legal_actions(belief.rules(), belief.game());
        if (action < 0 || action >= 64 || !(legal >> action & 1)) {
          refuse("action " + std::to_string(action) + " is not legal");
        }
        belief.step(static_cast<Action>(action));
      }, "action"_a)
      // (m, slots): at most `count` hands, zeros where there is no card.
      .def("draw", [](Belief& belief, std::size_t count, std::uint64_t seed, unsigned threads) {
        std::vector<std::uint8_t> hands;
        {
          nb::gil_scoped_release release;
          hands = belief.draw(count, seed, threads_or_all(threads));
        }
        return kedge::own(std::move(hands), belief.rules().hand);
      }, "count"_a, "seed"_a, "threads"_a = 0);
}

}  // namespace kedge
