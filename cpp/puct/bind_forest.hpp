// Binds the forest of a game to Python. kedge/_core.pyi has its methods with their types, as Forest.
#pragma once

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "bindings.hpp"
#include "puct/forest.hpp"

namespace kedge::puct {

using Floats =
    nanobind::ndarray<const float, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

// The root's edges in the order of their actions.
template <Board B>
std::vector<std::size_t> by_action(const Tree<B>& tree) {
  std::vector<std::size_t> order(tree.root_count());
  std::iota(order.begin(), order.end(), 0);
  const auto* edges = tree.root_edges();
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return edges[a].action < edges[b].action; });
  return order;
}

template <Board B>
nanobind::class_<Forest<B>> bind_forest(nanobind::module_& m, const char* name) {
  namespace nb = nanobind;
  using namespace nb::literals;
  using F = Forest<B>;
  const auto row = [](const F& forest, std::size_t i) -> const typename F::Row& {
    if (i >= forest.rows().size()) throw nb::index_error("no such leaf");
    return forest.rows()[i];
  };
  return nb::class_<F>(m, name)
      .def("__init__",
           [](F* self, unsigned threads) { new (self) F(threads_or_all(threads)); },
           "threads"_a = 0)
      .def("__len__", &F::size)
      .def("add",
           [](F& forest, const B& root, double c_puct, std::uint32_t playouts,
              double constant_lambda, std::uint32_t batch, std::uint32_t gumbel, double c_visit,
              double c_scale, std::vector<double> noise) {
             typename B::Action legal[B::kMaxActions];
             if (!noise.empty() && noise.size() != root.legal_actions(legal)) {
               throw nb::value_error("noise: expected one number for each legal move");
             }
             return forest.add(root, {c_puct, playouts, constant_lambda, std::max(1u, batch),
                                      {gumbel, playouts - 1, c_visit, c_scale, std::move(noise)}});
           },
           "root"_a, "c_puct"_a, "playouts"_a, "constant_lambda"_a = 0.0, "batch"_a = 1,
           "gumbel"_a = 0, "c_visit"_a = 50.0, "c_scale"_a = 1.0,
           "noise"_a = std::vector<double>())
      .def("remove", &F::remove, "tree"_a)
      .def("clear", &F::clear)
      .def("cancel", &F::cancel)
      .def("advance",
           [](F& forest, std::uint64_t id, typename B::Action action) {
             typename B::Action legal[B::kMaxActions];
             const auto* end = legal + forest.tree(id).root().legal_actions(legal);
             if (std::find<const typename B::Action*>(legal, end, action) == end) {
               throw nb::value_error("not a legal move");
             }
             if (forest.tree(id).has_gumbel_root()) {
               throw nb::value_error("a tree with a Gumbel root cannot advance: add a new tree");
             }
             forest.advance(id, action);
           },
           "tree"_a, "action"_a)
      .def("set_playouts",
           [](F& forest, std::uint64_t id, std::uint32_t playouts) {
             forest.tree(id).set_playouts(playouts);
           },
           "tree"_a, "playouts"_a)
      .def("collect", &F::collect, "one_batch"_a = false,
           nb::call_guard<nb::gil_scoped_release>())
      .def("waiting",
           [](const F& forest) {
             std::vector<std::uint64_t> ids;
             for (const auto& leaf : forest.rows()) ids.push_back(leaf.id);
             return own(std::move(ids));
           })
      .def("leaf",
           [row](const F& forest, std::size_t i) {
             return row(forest, i).tree->leaf_board(row(forest, i).leaf);
           },
           "row"_a)
      .def("leaf_actions",
           [row](const F& forest, std::size_t i) { return row(forest, i).get().actions; }, "row"_a)
      .def("action_counts",
           [](const F& forest) {
             std::vector<std::int64_t> counts;
             for (const auto& leaf : forest.rows()) {
               counts.push_back(static_cast<std::int64_t>(leaf.actions));
             }
             return own(std::move(counts));
           })
      .def("update",
           [](F& forest, const Doubles& priors, const Doubles& values) {
             if (priors.shape(0) < forest.actions() || values.shape(0) < forest.rows().size()) {
               throw nb::value_error("evaluations do not match the leaves");
             }
             nb::gil_scoped_release release;
             forest.update(priors.data(), values.data());
           },
           "priors"_a, "values"_a)
      .def("update_logits",
           [](F& forest, const Floats& logits, const Floats& values, double temperature) {
             if (logits.shape(0) < forest.actions() || values.shape(0) < forest.rows().size()) {
               throw nb::value_error("evaluations do not match the leaves");
             }
             nb::gil_scoped_release release;
             forest.update_logits(logits.data(), values.data(), temperature);
           },
           "logits"_a, "values"_a, "temperature"_a = 1.0)
      .def("playouts",
           [](F& forest, std::uint64_t id) { return forest.tree(id).playouts(); }, "tree"_a)
      .def("finished",
           [](F& forest, std::uint64_t id) { return forest.tree(id).finished(); }, "tree"_a)
      // The most visited line after each root action.
      .def("lines",
           [](F& forest, std::uint64_t id) {
             const auto& tree = forest.tree(id);
             std::vector<std::vector<typename B::Action>> lines;
             for (const std::size_t edge : by_action(tree)) lines.push_back(tree.line(edge));
             return lines;
           },
           "tree"_a)
      // The roots of some trees, one after the other. Returns the offset of each root's first
      // action, with the total number of actions at the end; for every action its number, prior,
      // visits and total; and for every root the network's value.
      .def("roots",
           [](F& forest, const std::vector<std::uint64_t>& ids) {
             std::vector<const typename F::TreeType*> trees;
             std::vector<std::int64_t> starts{0};
             for (const std::uint64_t id : ids) {
               trees.push_back(&forest.tree(id));
               starts.push_back(starts.back() +
                                static_cast<std::int64_t>(trees.back()->root_count()));
             }
             const auto total = static_cast<std::size_t>(starts.back());
             std::vector<std::int64_t> actions(total), visits(total);
             std::vector<double> priors(total), totals(total), values(ids.size());
             {
               nb::gil_scoped_release release;
               forest.for_each(trees.size(), [&](std::size_t i) {
                 auto at = static_cast<std::size_t>(starts[i]);
                 for (const std::size_t e : by_action(*trees[i])) {
                   const auto& edge = trees[i]->root_edges()[e];
                   actions[at] = edge.action;
                   priors[at] = edge.prior;
                   visits[at] = edge.visits;
                   totals[at++] = edge.total;
                 }
                 values[i] = trees[i]->root_network_value();
               });
             }
             return nb::make_tuple(own(std::move(starts)), own(std::move(actions)),
                                   own(std::move(priors)), own(std::move(visits)),
                                   own(std::move(totals)), own(std::move(values)));
           },
           "trees"_a);
}

}  // namespace kedge::puct
