// Binds a Forest of any game to Python.
#pragma once

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "bindings.hpp"
#include "puct/forest.hpp"

namespace kedge::puct {

using Floats = nanobind::ndarray<const float, nanobind::c_contig, nanobind::device::cpu>;

template <class Board>
nanobind::class_<Forest<Board>> bind_forest(nanobind::module_& m, const char* name) {
  namespace nb = nanobind;
  using namespace nb::literals;
  using F = Forest<Board>;
  return nb::class_<F>(m, name)
      .def("__init__",
           [](F* self, unsigned threads) { new (self) F(threads_or_all(threads)); },
           "threads"_a = 0)
      .def("__len__", &F::size)
      .def("add",
           [](F& forest, const Board& root, double c_puct, std::uint32_t playouts,
              double constant_lambda) {
             return forest.add(root, {c_puct, playouts, constant_lambda});
           },
           "root"_a, "c_puct"_a, "playouts"_a, "constant_lambda"_a = 0.0)
      .def("remove", &F::remove, "tree"_a)
      .def("advance",
           [](F& forest, std::uint64_t id, typename Board::Action action) {
             forest.tree(id).advance(action);
           },
           "tree"_a, "action"_a)
      .def("set_playouts",
           [](F& forest, std::uint64_t id, std::uint32_t playouts) {
             forest.tree(id).set_playouts(playouts);
           },
           "tree"_a, "playouts"_a)
      .def("collect",
           [](F& forest, std::size_t most) {
             nb::gil_scoped_release release;
             return forest.collect(most);
           },
           "most"_a = static_cast<std::size_t>(-1))
      .def("waiting",
           [](const F& forest) {
             std::vector<std::uint64_t> ids;
             for (const auto& one : forest.waiting()) ids.push_back(one.first);
             return ids;
           })
      .def("leaf", [](F& forest, std::uint64_t id) { return forest.tree(id).board(); }, "tree"_a)
      .def("leaf_actions",
           [](F& forest, std::uint64_t id) { return forest.tree(id).leaf_actions(); }, "tree"_a)
      .def("update",
           [](F& forest, const Doubles& priors, const Doubles& values) {
             std::size_t total = 0;
             for (const auto& one : forest.waiting()) total += one.second->leaf_actions().size();
             if (priors.shape(0) != total || values.shape(0) != forest.waiting().size()) {
               throw nb::value_error("evaluations do not match the leaves");
             }
             nb::gil_scoped_release release;
             forest.update(priors.data(), values.data());
           },
           "priors"_a, "values"_a)
      .def("update_logits",
           [](F& forest, const Floats& logits, const Floats& values, double temperature) {
             const std::size_t leaves = forest.waiting().size();
             if (logits.ndim() != 2 || logits.shape(0) < leaves || values.ndim() != 1 ||
                 values.shape(0) < leaves || logits.shape(1) < Board::kPolicySize) {
               throw nb::value_error("evaluations do not match the leaves");
             }
             nb::gil_scoped_release release;
             forest.update_logits(logits.data(), logits.shape(1), values.data(), temperature);
           },
           "logits"_a, "values"_a, "temperature"_a = 1.0)
      .def("playouts",
           [](F& forest, std::uint64_t id) { return forest.tree(id).playouts(); }, "tree"_a)
      .def("finished",
           [](F& forest, std::uint64_t id) { return forest.tree(id).finished(); }, "tree"_a)
      .def("line",
           [](F& forest, std::uint64_t id, std::size_t first) {
             auto& tree = forest.tree(id);
             if (first >= tree.root_count()) throw nb::index_error("no such action");
             return tree.line(first);
           },
           "tree"_a, "first"_a)
      // The root: actions, priors, visits, totals, and the network's value of the root.
      .def("root",
           [](F& forest, std::uint64_t id) {
             auto& tree = forest.tree(id);
             std::vector<std::int64_t> actions, visits;
             std::vector<double> priors, totals;
             for (std::size_t a = 0; a < tree.root_count(); ++a) {
               const auto& edge = tree.root_edges()[a];
               actions.push_back(edge.action);
               priors.push_back(edge.prior);
               visits.push_back(edge.visits);
               totals.push_back(edge.total);
             }
             return nb::make_tuple(own(std::move(actions)), own(std::move(priors)),
                                   own(std::move(visits)), own(std::move(totals)),
                                   tree.root_network_value());
           },
           "tree"_a);
}

}  // namespace kedge::puct
