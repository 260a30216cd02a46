// Binds Forest.encode: the input of a network that evaluates a batch of leaves.
#pragma once

#include <nanobind/stl/pair.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "bindings.hpp"
#include "puct/forest.hpp"

namespace kedge::puct {

// Adds encode(masks, numbers, moves, policy_size) to a forest's class. It fills one row of `masks`,
// kWords integers long, and one number for each leaf that waits. `moves` receives the places of the
// leaves' legal actions in the flattened policies of the batch. Each policy has policy_size entries,
// by default kPolicySize. It returns the numbers of leaves and of legal actions.
//
// write(features, masks, number) writes the row of one leaf.
template <std::size_t kWords, std::size_t kPolicySize, EncodedBoard B, class Write>
  requires std::invocable<const Write&, const typename B::Features&, std::uint64_t*, float*>
void bind_encode(nanobind::class_<Forest<B>>& forest_class, Write write) {
  namespace nb = nanobind;
  using namespace nb::literals;
  using Masks = nb::ndarray<std::uint64_t, nb::shape<-1, kWords>, nb::c_contig, nb::device::cpu>;
  using Numbers = nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  using Places = nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  forest_class.def(
      "encode",
      [write](const Forest<B>& forest, const Masks& masks, const Numbers& numbers,
              const Places& moves, std::size_t policy_size) {
        const auto& rows = forest.rows();
        if (masks.shape(0) < rows.size() || numbers.shape(0) < rows.size() ||
            moves.shape(0) < forest.actions()) {
          throw nb::value_error("the arrays have fewer rows than there are leaves");
        }
        nb::gil_scoped_release release;
        forest.for_each(rows.size(), [&](std::size_t i) {
          const auto& leaf = rows[i].get();
          write(leaf.features, masks.data() + kWords * i, numbers.data() + i);
          std::int32_t* out = moves.data() + rows[i].first_action;
          for (const std::uint16_t index : leaf.policy_indices) {
            *out++ = static_cast<std::int32_t>(policy_size * i + index);
          }
        });
        return std::pair(rows.size(), forest.actions());
      },
      "masks"_a.noconvert(), "numbers"_a.noconvert(), "moves"_a.noconvert(),
      "policy_size"_a = kPolicySize);
}

}  // namespace kedge::puct
