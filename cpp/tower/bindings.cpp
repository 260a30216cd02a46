#include "bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "tower/tower.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using namespace kedge::tower;

template <int kDimensions>
using Floats =
    nb::ndarray<const float, nb::ndim<kDimensions>, nb::c_contig, nb::device::cpu>;
using Masks = nb::ndarray<const std::uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Indices = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

[[noreturn]] void refuse(const char* why) { throw nb::value_error(why); }

// Checks that layers fit each other; the native code does not.
void check(const Parts& parts) {
  const std::size_t filters = parts.input.outputs(), area = parts.side * parts.side;
  const auto takes = [](const Layer& layer, std::size_t inputs, bool convolves) {
    if (layer.inputs() != inputs) refuse("a layer's inputs differ from the last outputs");
    if (layer.wide() && !convolves) refuse("a dense layer has one matrix");
  };
  const auto gives = [](const Layer& layer, std::size_t outputs) {
    if (layer.outputs() != outputs) refuse("a layer's outputs differ from the next inputs");
  };
  if (parts.side == 0 || parts.plane_words * 64 < area) refuse("masks are smaller than the board");
  takes(parts.input, parts.planes, true);
  for (const Block& block : parts.blocks) {
    takes(block.first, filters, true);
    takes(block.second, block.first.outputs(), true);
    gives(block.first, filters);
    gives(block.second, filters);
    if (!block.squeeze) continue;
    takes(block.squeeze->first, filters, false);
    takes(block.squeeze->second, block.squeeze->first.outputs(), false);
    gives(block.squeeze->second, 2 * filters);
  }
  takes(parts.policy_first, filters, true);
  const std::size_t planes = parts.policy_first.outputs();
  if (parts.policy == PolicyKind::kClassical) {
    takes(parts.policy_last, planes * area, false);
    gives(parts.policy_last, parts.moves);
  } else {
    takes(parts.policy_last, planes, true);
    if (parts.policy == PolicyKind::kPoints) gives(parts.policy_last, 2);
    const bool fits = parts.policy == PolicyKind::kPoints
                          ? parts.moves == area + 1
                          : parts.gather.size() == parts.moves;
    if (!fits) refuse("policy: has fewer moves");
    for (const std::uint32_t from : parts.gather) {
      if (from >= area * parts.policy_last.outputs()) refuse("gather: outside the policy");
    }
  }
  takes(parts.value_planes, filters, true);
  const std::size_t means = parts.value_planes.outputs();
  takes(parts.value_first, parts.pools_value ? means : means * area, false);
  takes(parts.value_last, parts.value_first.outputs(), false);
  if (parts.value_last.outputs() != 1) gives(parts.value_last, 3);
}

PolicyKind policy_kind(const std::string& name) {
  if (name == "classical") return PolicyKind::kClassical;
  if (name == "convolution") return PolicyKind::kConvolution;
  if (name == "points") return PolicyKind::kPoints;
  refuse("policy: expected classical, convolution or points");
}

nb::tuple evaluate(Tower& tower, const Batch& batch) {
  const std::size_t moves = tower.parts().moves;
  std::vector<float> policy(batch.count * moves), value(batch.count);
  std::vector<float> wdl(tower.knows_draws() ? 3 * batch.count : 0);
  {
    nb::gil_scoped_release release;
    tower.evaluate(batch, {policy.data(), value.data(), wdl.empty() ? nullptr : wdl.data()});
  }
  return nb::make_tuple(kedge::own(std::move(policy), moves), kedge::own(std::move(value)),
                        tower.knows_draws() ? nb::cast(kedge::own(std::move(wdl), 3)) : nb::none());
}

}  // namespace

namespace kedge {

void bind_tower(nb::module_& m) {
  m.def("tower_instructions", [] {
    std::vector<std::string> names;
    for (const Instructions& each : instructions()) names.emplace_back(each.name);
    return names;
  });

  nb::class_<Layer>(m, "TowerLayer")
      .def(
          "__init__",
          [](Layer* self, const Floats<3>& weights, const Floats<1>& bias) {
            const std::size_t matrices = weights.shape(0);
            if (matrices != 1 && matrices != kBasis) refuse("one matrix, or one for each place");
            if (bias.shape(0) != weights.shape(2)) refuse("expected one bias per output");
            if (weights.size() == 0) refuse("a layer needs inputs and outputs");
            new (self) Layer(weights.data(), bias.data(), matrices, weights.shape(1),
                             weights.shape(2));
          },
          "weights"_a, "bias"_a);

  using Squeezing = std::optional<std::pair<Layer, Layer>>;
  nb::class_<Tower>(m, "Tower")
      .def(
          "__init__",
          [](Tower* self, std::tuple<std::size_t, std::size_t, std::size_t, std::size_t> shape,
             std::size_t moves, const Layer& input,
             const std::vector<std::tuple<Layer, Layer, Squeezing>>& blocks,
             const std::string& policy, const std::pair<Layer, Layer>& policy_layers,
             const Indices& gather, const std::tuple<Layer, Layer, Layer>& value, bool pools_value,
             std::size_t threads, const std::optional<std::string>& with) {
            if (threads == 0) refuse("threads is 0, expected at least 1");
            const auto& [planes, side, plane_words, number_plane] = shape;
            const auto& [value_planes, value_first, value_last] = value;
            std::vector<Block> all;
            for (const auto& [first, second, squeeze] : blocks) {
              all.push_back({first, second, std::nullopt});
              if (squeeze) all.back().squeeze = Squeeze{squeeze->first, squeeze->second};
            }
            Parts parts{side, planes, plane_words, number_plane, moves, input, std::move(all),
                        policy_kind(policy), policy_layers.first, policy_layers.second,
                        {gather.data(), gather.data() + gather.size()}, value_planes, pools_value,
                        value_first, value_last};
            check(parts);
            const std::vector<Instructions> known = instructions();  // the widest last
            const auto set = with ? std::ranges::find(known, *with, &Instructions::name)
                                  : std::prev(known.end());
            if (set == known.end()) refuse("this machine lacks these instructions");
            new (self) Tower(std::move(parts), *set, threads);
          },
          "shape"_a, "moves"_a, "input"_a, "blocks"_a, "policy"_a, "policy_layers"_a, "gather"_a,
          "value"_a, "pools_value"_a, "threads"_a, "instructions"_a = nb::none())
      .def(
          "evaluate",
          [](Tower& tower, const Floats<4>& planes) {
            const Parts& parts = tower.parts();
            if (planes.shape(1) != parts.planes || planes.shape(2) != parts.side ||
                planes.shape(3) != parts.side) {
              refuse("planes: wrong shape");
            }
            return evaluate(tower, {planes.shape(0), planes.data(), nullptr, nullptr});
          },
          "planes"_a)
      .def(
          "evaluate_packed",
          [](Tower& tower, const Masks& masks, const Floats<1>& numbers) {
            const Parts& parts = tower.parts();
            if (masks.shape(1) != parts.planes * parts.plane_words ||
                masks.shape(0) != numbers.shape(0)) {
              refuse("masks: wrong shape");
            }
            return evaluate(tower, {masks.shape(0), nullptr, masks.data(), numbers.data()});
          },
          "masks"_a, "numbers"_a);
}

}  // namespace kedge
