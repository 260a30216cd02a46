#include "bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <optional>
#include <span>

#include "regret/learner.hpp"
#include "numbering.hpp"
#include "regret/utilities.hpp"

namespace nb = nanobind;
using namespace nb::literals;

using kedge::copy;
using kedge::Doubles;
using kedge::own;
using kedge::threads_or_all;

namespace {

using AnyPayoffs = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using Keys = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Actions = std::vector<std::vector<std::size_t>>;

nb::ndarray<nb::numpy, double, nb::ndim<1>> to_numpy(std::span<const double> values) {
  return own(std::vector<double>(values.begin(), values.end()));
}

std::vector<kedge::TensorUtilities::Tensor> tensors(const std::vector<AnyPayoffs>& payoffs) {
  std::vector<kedge::TensorUtilities::Tensor> tensors;
  for (const AnyPayoffs& array : payoffs) {
    const bool is_float32 = array.dtype() == nb::dtype<float>();
    if (!is_float32 && array.dtype() != nb::dtype<double>()) {
      throw nb::type_error("payoffs must be float64 or float32");
    }
    if (array.ndim() < 2 || array.shape(0) + 1 != array.ndim()) {
      throw nb::value_error("payoffs must have the shape (players, actions of player 0, ...)");
    }
    std::vector<std::size_t> actions;
    for (std::size_t axis = 1; axis < array.ndim(); ++axis) actions.push_back(array.shape(axis));
    tensors.push_back({array.data(), is_float32, std::move(actions)});
  }
  return tensors;
}

// Keeps Python's arrays alive for as long as their memory is read.
class PythonTensors final : public kedge::TensorUtilities {
 public:
  explicit PythonTensors(std::vector<AnyPayoffs> payoffs)
      : TensorUtilities(tensors(payoffs)), payoffs_(std::move(payoffs)) {}

 private:
  std::vector<AnyPayoffs> payoffs_;
};

// The parts of a flat array for each player's utilities.
std::vector<double*> rows_of(std::vector<double>& flat, const std::vector<std::size_t>& actions) {
  std::vector<double*> rows;
  double* at = flat.data();
  for (const std::size_t count : actions) {
    rows.push_back(at);
    at += count;
  }
  return rows;
}

// The utilities of one player after the other against sampled actions or policies, flat.
nb::ndarray<nb::numpy, double, nb::ndim<1>> against(const kedge::Utilities& source,
                                                    std::size_t game,
                                                    const std::vector<std::int64_t>& sampled) {
  if (game >= source.games()) throw nb::index_error("no such game");
  const auto& actions = source.actions(game);
  if (sampled.size() != actions.size()) throw nb::value_error("actions: expected one per player");
  std::size_t total = 0;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const bool dead = actions[i] == 0;
    if (!dead && (sampled[i] < 0 || static_cast<std::size_t>(sampled[i]) >= actions[i])) {
      throw nb::index_error("no such action");
    }
    total += actions[i];
  }
  std::vector<double> out(total);
  source.against(game, sampled.data(), rows_of(out, actions).data());
  return own(std::move(out));
}

nb::ndarray<nb::numpy, double, nb::ndim<1>> expected(const kedge::Utilities& source,
                                                     std::size_t game, const Doubles& policies,
                                                     unsigned threads) {
  if (game >= source.games()) throw nb::index_error("no such game");
  std::size_t total = 0;
  for (const std::size_t count : source.actions(game)) total += count;
  if (policies.shape(0) != total) throw nb::value_error("policies do not match the actions");
  std::vector<const double*> each;
  const double* at = policies.data();
  for (const std::size_t count : source.actions(game)) {
    each.push_back(at);
    at += count;
  }
  std::vector<double> out(total);
  const std::vector<double*> rows = rows_of(out, source.actions(game));
  {
    nb::gil_scoped_release release;
    source.expected(game, each.data(), rows.data(), threads_or_all(threads));
  }
  return own(std::move(out));
}

void run(kedge::Learner& learner, const kedge::Utilities& source, std::int64_t count,
         const std::optional<Doubles>& uniforms, unsigned threads) {
  if (source.games() != learner.games()) throw nb::value_error("games differ from the learner's");
  std::size_t draws = 0;
  for (std::size_t game = 0; game < learner.games(); ++game) {
    draws += learner.players(game) * static_cast<std::size_t>(count);
  }
  if (uniforms && uniforms->shape(0) != draws) throw nb::value_error("uniforms: wrong number");
  if (!uniforms && !source.has_expected()) throw nb::value_error("these utilities need sampling");
  const double* drawn = uniforms ? uniforms->data() : nullptr;
  nb::gil_scoped_release release;
  learner.run(source, count, drawn, threads_or_all(threads));
}

}  // namespace

namespace kedge {

void bind_regret(nb::module_& m) {
  nb::class_<kedge::Utilities>(m, "Utilities")
      .def("against", &against, "game"_a, "sampled"_a)
      .def("expected", &expected, "game"_a, "policies"_a, "threads"_a = 0)
      .def("actions", [](const kedge::Utilities& u, std::size_t game) {
        if (game >= u.games()) throw nb::index_error("no such game");
        return u.actions(game);
      })
      .def_prop_ro("games", &kedge::Utilities::games)
      .def_prop_ro("has_expected", &kedge::Utilities::has_expected);
  nb::class_<PythonTensors, kedge::Utilities>(m, "TensorUtilities")
      .def(nb::init<std::vector<AnyPayoffs>>(), "payoffs"_a.noconvert());
  nb::class_<kedge::HashedUtilities, kedge::Utilities>(m, "HashedUtilities")
      .def(nb::init<Actions, std::uint64_t>(), "actions"_a, "seed"_a);

  nb::class_<kedge::Learner>(m, "Learner")
      .def("__init__",
           [](kedge::Learner* self, const std::string& rule, bool adaptive, bool anchor_first,
              bool linear_weighting, bool linear_average, bool plus,
              bool optimistic, bool largest, const Actions& actions, const Doubles& tau,
              const std::vector<std::size_t>& types, const Doubles& lambda, const Doubles& share,
              const Doubles& eta, const Doubles& decay) {
             kedge::Settings settings;
             settings.rule = rule == "hedge"             ? kedge::Rule::kHedge
                             : rule == "regret-matching" ? kedge::Rule::kRegretMatching
                             : rule == "mirror-descent"
                                 ? kedge::Rule::kMirrorDescent
                                 : throw nb::value_error("unknown rule");
             settings.adaptive = adaptive;
             settings.anchor_first = anchor_first;
             settings.linear_weighting = linear_weighting;
             settings.linear_average = linear_average;
             settings.plus = plus;
             settings.optimistic = optimistic;
             settings.largest = largest;
             new (self) kedge::Learner(settings, actions, copy(tau), types,
                                       {copy(lambda), copy(share), copy(eta), copy(decay)});
           },
           nb::kw_only(), "rule"_a, "adaptive"_a, "anchor_first"_a, "linear_weighting"_a,
           "linear_average"_a, "plus"_a, "optimistic"_a, "largest"_a, "actions"_a, "tau"_a,
           "types"_a, "lam"_a, "share"_a, "eta"_a, "decay"_a)
      .def("run", &run, "source"_a, "count"_a, "uniforms"_a.none(), "threads"_a = 0)
      .def("sample",
           [](const kedge::Learner& learner, const Doubles& uniforms) {
             std::size_t seats = learner.seats().size();
             if (uniforms.shape(0) != seats) throw nb::value_error("uniforms: wrong number");
             std::vector<std::int64_t> actions(seats);
             std::size_t at = 0;
             for (std::size_t game = 0; game < learner.games(); ++game) {
               learner.sample(game, uniforms.data() + at, actions.data() + at);
               at += learner.players(game);
             }
             return own(std::move(actions));
           },
           "uniforms"_a)
      .def("observe",
           [](kedge::Learner& learner, const Doubles& utilities) {
             std::size_t total = 0;
             for (const kedge::Seat& seat : learner.seats()) total += seat.actions;
             if (utilities.shape(0) != total) {
               throw nb::value_error("utilities do not match the actions");
             }
             for (std::size_t a = 0; a < utilities.shape(0); ++a) {
               if (!std::isfinite(utilities.data()[a])) {
                 throw nb::value_error("a utility is not a finite number");
               }
             }
             const double* values = utilities.data();
             nb::gil_scoped_release release;
             learner.observe(values);
           },
           "utilities"_a)
      .def_prop_ro("iterations", &kedge::Learner::iterations)
      .def_prop_ro("weight", &kedge::Learner::weight)
      .def_prop_ro("average_weight", &kedge::Learner::average_weight)
      .def("current", [](const kedge::Learner& l) { return own(l.current()); })
      .def("average_sum", [](const kedge::Learner& l) { return own(l.average_sum()); })
      .def("earned", [](const kedge::Learner& l) { return to_numpy(l.earned()); })
      .def("divergence", [](const kedge::Learner& l) { return to_numpy(l.divergence()); })
      .def("cumulative", [](const kedge::Learner& l) { return own(l.cumulative()); });

  nb::class_<kedge::Numbering>(m, "Numbering")
      .def(nb::init<>())
      .def("__len__", &kedge::Numbering::size)
      .def("number",
           [](kedge::Numbering& numbering, const Keys& keys) {
             std::vector<std::int64_t> numbers, fresh;
             numbering.number({keys.data(), keys.shape(0)}, numbers, fresh);
             return nb::make_tuple(own(std::move(numbers)), own(std::move(fresh)));
           },
           "keys"_a);
}

}  // namespace kedge
