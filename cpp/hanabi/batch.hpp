// Shared by the bindings of Hanabi: batches of games.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "hanabi/game.hpp"
#include "parallel.hpp"

namespace kedge::hanabi {

template <typename Number>
using Flat = nanobind::ndarray<const Number, nanobind::ndim<1>, nanobind::c_contig,
                               nanobind::device::cpu>;

// Games with the same rules.
struct Games {
  Rules rules;
  std::vector<Game> games;
};

[[noreturn]] inline void refuse(const std::string& why) {
  throw nanobind::value_error(why.c_str());
}

template <std::size_t chunk, typename Work>
void for_each(std::size_t count, unsigned threads, const Work& work) {
  parallel_for((count + chunk - 1) / chunk, threads_or_all(threads), [&](std::size_t number) {
    const std::size_t end = std::min(count, (number + 1) * chunk);
    for (std::size_t i = number * chunk; i < end; ++i) work(i);
  });
}

}  // namespace kedge::hanabi
