// Helpers of all bindings.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

namespace kedge {

using Doubles = nanobind::ndarray<const double, nanobind::ndim<1>, nanobind::c_contig,
                                  nanobind::device::cpu>;

inline std::vector<double> copy(const Doubles& array) {
  return {array.data(), array.data() + array.shape(0)};
}

// Numbers to be owned by a numpy array, and the owner.
template <typename Number>
std::pair<Number*, nanobind::capsule> keep(std::vector<Number> values) {
  auto* owned = new std::vector<Number>(std::move(values));
  return {owned->data(), nanobind::capsule(owned, [](void* p) noexcept {
            delete static_cast<std::vector<Number>*>(p);
          })};
}

template <typename Number>
nanobind::ndarray<nanobind::numpy, Number, nanobind::ndim<1>> own(std::vector<Number> values) {
  const std::size_t size = values.size();
  const auto [data, owner] = keep(std::move(values));
  return {data, {size}, owner};
}

// A two-dimensional numpy array that owns its numbers.
template <typename Number>
nanobind::ndarray<nanobind::numpy, Number, nanobind::ndim<2>> own(std::vector<Number> values,
                                                                  std::size_t columns) {
  const std::size_t rows = values.size() / columns;
  const auto [data, owner] = keep(std::move(values));
  return {data, {rows, columns}, owner};
}

inline unsigned threads_or_all(unsigned threads) {
  return threads > 0 ? threads : std::max(1u, std::thread::hardware_concurrency());
}

void bind_chess(nanobind::module_& m);
void bind_chess_records(nanobind::module_& m);
void bind_diplomacy(nanobind::module_& m);
void bind_diplomacy_encoding(nanobind::module_& m);
void bind_go(nanobind::module_& m);
void bind_hanabi(nanobind::module_& m);
void bind_hanabi_conventions(nanobind::module_& m);
void bind_puct(nanobind::module_& m);
void bind_regret(nanobind::module_& m);
void bind_tower(nanobind::module_& m);

}  // namespace kedge
