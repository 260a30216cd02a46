// What the bindings share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace kedge {

using Doubles = nanobind::ndarray<const double, nanobind::ndim<1>, nanobind::c_contig,
                                  nanobind::device::cpu>;

inline std::vector<double> copy(const Doubles& array) {
  return {array.data(), array.data() + array.shape(0)};
}

// A numpy array that owns its numbers.
template <typename Number>
nanobind::ndarray<nanobind::numpy, Number, nanobind::ndim<1>> own(std::vector<Number> values) {
  auto* owned = new std::vector<Number>(std::move(values));
  nanobind::capsule owner(
      owned, [](void* p) noexcept { delete static_cast<std::vector<Number>*>(p); });
  return {owned->data(), {owned->size()}, owner};
}

inline unsigned threads_or_all(unsigned threads) {
  return threads > 0 ? threads : std::max(1u, std::thread::hardware_concurrency());
}

void bind_chess(nanobind::module_& m);
void bind_chess_records(nanobind::module_& m);
void bind_diplomacy(nanobind::module_& m);
void bind_diplomacy_encoding(nanobind::module_& m);
void bind_go(nanobind::module_& m);
void bind_puct(nanobind::module_& m);
void bind_regret(nanobind::module_& m);

}  // namespace kedge
