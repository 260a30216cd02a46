#include "tower/tower.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "vectors.hpp"

#if defined(__GNUC__)
#define KEDGE_UNROLL _Pragma("GCC unroll 16")
#else
#define KEDGE_UNROLL
#endif

#define KEDGE_ISA any
#if defined(__GNUC__)
#define KEDGE_LANES 4
#define KEDGE_ROWS 3
#else
#define KEDGE_LANES 1
#define KEDGE_ROWS 1
#endif
#include "tower/forward.inl"
#undef KEDGE_ISA
#undef KEDGE_LANES
#undef KEDGE_ROWS

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define KEDGE_X86
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define KEDGE_ISA avx2
#define KEDGE_LANES 8
#define KEDGE_ROWS 6
#include "tower/forward.inl"
#undef KEDGE_ISA
#undef KEDGE_LANES
#undef KEDGE_ROWS
#pragma GCC target("avx512f,avx512vl,avx512dq")
#define KEDGE_ISA avx512
#define KEDGE_LANES 16
#define KEDGE_ROWS 12
#include "tower/forward.inl"
#pragma GCC pop_options
#endif

namespace kedge::tower {
namespace {

constexpr int kPatience = 200;  // polls, some tens of microseconds

// Fewest channels of tiles in a position for which sharing it among threads pays. With fewer,
// handing over the planes takes longer than the threads save.
constexpr std::size_t kShared = 1024;

}  // namespace

std::vector<Instructions> instructions() {
  std::vector<Instructions> sets{{"any", any::forward}};
#if defined(KEDGE_X86)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    sets.push_back({"avx2", avx2::forward});
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq")) {
      sets.push_back({"avx512", avx512::forward});
    }
  }
#endif
  return sets;
}

Layer::Layer(const float* weights, const float* bias, std::size_t matrices, std::size_t inputs,
             std::size_t outputs)
    : matrices_(matrices),
      inputs_(inputs),
      outputs_(outputs),
      bias_(padded(outputs)) {
  auto panels = std::make_shared<std::vector<float>>(matrices * inputs * padded(outputs));
  float* to = panels->data();
  for (std::size_t m = 0; m < matrices; ++m, weights += inputs * outputs) {
    for (std::size_t column = 0; column < outputs; column += kPanel) {
      const std::size_t some = std::min(kPanel, outputs - column);
      for (std::size_t k = 0; k < inputs; ++k, to += kPanel) {
        std::copy_n(weights + k * outputs + column, some, to);
      }
    }
  }
  std::copy_n(bias, outputs, bias_.data());
  panels_ = std::move(panels);
}

Scratch::Scratch(const Parts& parts, std::size_t members)
    : tiles(tiles_of(parts)), width(tiles * kTile + 2), of_member(members) {
  std::size_t widest = 0;  // largest input of a convolution
  const auto planes = [&](std::initializer_list<std::size_t> channels) {
    const std::size_t most = padded(std::max(channels));
    widest = std::max(widest, most);
    return std::vector<float>(kPositions * width * width * most);
  };
  const std::size_t filters = parts.input.outputs(), last = parts.policy_last.outputs();
  const bool dense = parts.policy == PolicyKind::kClassical;
  input = planes({parts.planes});
  x = planes({filters});
  hidden = planes({filters});
  policy = planes({parts.policy_first.outputs()});
  out = planes({filters, dense ? 0 : last, parts.value_planes.outputs()});
  std::size_t squeezing = 0;
  for (const Block& block : parts.blocks) {
    if (!block.squeeze) continue;
    squeezing = std::max(squeezing, 3 * padded(filters) + padded(block.squeeze->first.outputs()) +
                                        padded(block.squeeze->second.outputs()));
  }
  const std::size_t row = parts.value_first.inputs() + padded(parts.value_first.outputs()) +
                          padded(parts.value_last.outputs());
  for (Own& own : of_member) {
    own.seen.resize(kBasis * kTiles * widest);
    own.product.resize(kBasis * kTiles * widest);
    own.flat.resize(std::max({squeezing, kPositions * row + padded(parts.value_planes.outputs()),
                              dense ? kPositions * (parts.policy_last.inputs() + padded(last)) : 0}));
  }
}

Tower::Tower(Parts parts, Instructions instructions, std::size_t threads)
    : parts_(std::move(parts)), forward_(instructions.forward), workers_(threads, kPatience) {}

void Tower::evaluate(const Batch& batch, const Answers& answers) {
  const std::lock_guard lock(working_);
  const std::size_t threads = workers_.ready();
  const std::size_t channels = padded(parts_.input.outputs()), tiles = Scratch::tiles_of(parts_);
  const std::size_t most = channels * tiles * tiles < kShared ? 1 : channels / kPanel;
  const std::size_t members = std::min(threads, most);
  while (scratch_.size() < threads) scratch_.emplace_back(parts_, scratch_.empty() ? members : 1);
  if (batch.count < members && batch.count <= kPositions) {
    Barrier barrier(members);
    workers_.run(members, [&](std::size_t member) {
      forward_(parts_, scratch_[0], {member, members, barrier}, batch, answers);
    });
    return;
  }
  const std::size_t share = (batch.count + threads - 1) / threads;
  const std::size_t size = std::clamp<std::size_t>(share, 1, kPositions);
  workers_.run(std::min(threads, batch.count), [&](std::size_t thread) {
    Barrier alone(1);
    for (std::size_t first = thread * size; first < batch.count; first += threads * size) {
      Batch part = batch;
      part.count = std::min(size, batch.count - first);
      if (batch.planes) part.planes += first * parts_.planes * parts_.side * parts_.side;
      if (batch.masks) part.masks += first * parts_.planes * parts_.plane_words;
      if (batch.numbers) part.numbers += first;
      forward_(parts_, scratch_[thread], {0, 1, alone}, part,
              {answers.policy + first * parts_.moves, answers.value + first,
               answers.wdl ? answers.wdl + 3 * first : nullptr});
    }
  });
}

}  // namespace kedge::tower
