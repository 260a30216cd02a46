#include "regret/utilities.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "parallel.hpp"
#include "regret/kernels.hpp"

namespace kedge {
namespace {

using Sizes = std::vector<std::size_t>;

std::size_t product(const Sizes& sizes, std::size_t first, std::size_t last) {
  return std::accumulate(sizes.begin() + first, sizes.begin() + last, std::size_t{1},
                         std::multiplies<>());
}

// Walks the joint actions of players [0, count) in C order and keeps the product of their
// probabilities, leaving out player `without`.
class JointWalk {
 public:
  JointWalk(const Sizes& actions, std::size_t count, const double* const* policies,
            std::size_t without, std::size_t start)
      : actions_(actions), policies_(policies), without_(without), digit_(count),
        weight_(count + 1, 1.0) {
    for (std::size_t j = count; j-- > 0;) {
      digit_[j] = start % actions[j];
      start /= actions[j];
    }
    refresh(0);
  }
  double weight() const { return weight_.back(); }
  std::size_t digit(std::size_t player) const { return digit_[player]; }
  void next() {
    std::size_t j = digit_.size();
    while (j-- > 0) {
      if (++digit_[j] < actions_[j]) break;
      digit_[j] = 0;
    }
    if (j < digit_.size()) refresh(j);
  }

 private:
  void refresh(std::size_t from) {
    for (std::size_t j = from; j < digit_.size(); ++j) {
      weight_[j + 1] = weight_[j] * (j == without_ ? 1.0 : policies_[j][digit_[j]]);
    }
  }
  const Sizes& actions_;
  const double* const* policies_;
  std::size_t without_;
  Sizes digit_;
  std::vector<double> weight_;
};

// The tensor is read as a matrix: rows are the joint actions of the leading players, columns those
// of the trailing ones, few enough to stay in cache.
constexpr std::size_t kColumns = 4096;
constexpr std::size_t kRowsAtOnce = 256;
// Above this many entries rows are split in a fixed number of blocks, so that the sums do not
// depend on how many threads share them.
constexpr std::size_t kLargeTensor = std::size_t{1} << 20;
constexpr std::size_t kBlocks = 16;

std::size_t leading_players(const Sizes& actions) {
  std::size_t leading = actions.size() - 1;
  while (leading > 1 && product(actions, leading - 1, actions.size()) <= kColumns) --leading;
  return leading;
}

// Contracts `block` (the axes of players [leading, n)) with every policy but player i's.
void contract_block(const Sizes& actions, std::size_t leading, std::size_t i,
                    const double* const* policies, std::vector<double> block, double* out) {
  std::vector<double> narrower;
  std::size_t size = block.size();
  for (std::size_t j = actions.size(); j-- > i + 1;) {
    size /= actions[j];
    narrower.resize(size);
    kernel::dot_rows(block.data(), size, actions[j], policies[j], narrower.data());
    block.swap(narrower);
  }
  for (std::size_t j = leading; j < i; ++j) {
    size /= actions[j];
    narrower.assign(size, 0.0);
    kernel::add_rows(block.data(), actions[j], size, policies[j], narrower.data());
    block.swap(narrower);
  }
  std::copy_n(block.begin(), actions[i], out);
}

// Player i's expected utilities from rows [first, last) of its tensor, to be added up over blocks:
// per action for a leading player, per column for a trailing one.
template <typename Real>
std::vector<double> contract_rows(const Sizes& actions, std::size_t leading, std::size_t columns,
                                  std::size_t i, const Real* tensor,
                                  const double* const* policies,
                                  const std::vector<double>& column_weights, std::size_t first,
                                  std::size_t last) {
  const bool is_leading = i < leading;
  std::vector<double> sums(is_leading ? actions[i] : columns, 0.0);
  JointWalk walk(actions, leading, policies, i, first);
  double values[kRowsAtOnce], weights[kRowsAtOnce];
  for (std::size_t row = first; row < last; row += kRowsAtOnce) {
    const std::size_t count = std::min(kRowsAtOnce, last - row);
    const Real* rows = tensor + row * columns;
    if (is_leading) {
      kernel::dot_rows(rows, count, columns, column_weights.data(), values);
      for (std::size_t r = 0; r < count; ++r, walk.next()) {
        sums[walk.digit(i)] += walk.weight() * values[r];
      }
    } else {
      for (std::size_t r = 0; r < count; ++r, walk.next()) weights[r] = walk.weight();
      kernel::add_rows(rows, count, columns, weights, sums.data());
    }
  }
  return sums;
}

template <typename Real>
void expected_utilities(const Sizes& actions, const Real* data, const double* const* policies,
                        double* const* out, unsigned threads) {
  const std::size_t players = actions.size();
  const std::size_t leading = leading_players(actions);
  const std::size_t columns = product(actions, leading, players);
  const std::size_t rows = product(actions, 0, leading);
  if (players == 2 && rows * columns < kLargeTensor) {  // a matrix game needs no walk
    kernel::dot_rows(data, rows, columns, policies[1], out[0]);
    std::fill_n(out[1], columns, 0.0);
    kernel::add_rows(data + rows * columns, rows, columns, policies[0], out[1]);
    return;
  }
  std::vector<double> column_weights(columns);
  const Sizes trailing(actions.begin() + leading, actions.end());
  JointWalk trailing_walk(trailing, trailing.size(), policies + leading, trailing.size(), 0);
  for (std::size_t c = 0; c < columns; ++c, trailing_walk.next()) {
    column_weights[c] = trailing_walk.weight();
  }
  const std::size_t blocks = rows * columns >= kLargeTensor ? std::min(kBlocks, rows) : 1;
  std::vector<std::vector<double>> partial(players * blocks);
  const auto work = [&](std::size_t task) {
    const std::size_t i = task / blocks, block = task % blocks;
    partial[task] = contract_rows(actions, leading, columns, i, data + i * rows * columns,
                                  policies, column_weights, rows * block / blocks,
                                  rows * (block + 1) / blocks);
  };
  parallel_for(partial.size(), blocks == 1 ? 1 : threads, work);

  for (std::size_t i = 0; i < players; ++i) {
    std::vector<double> sums = std::move(partial[i * blocks]);
    for (std::size_t block = 1; block < blocks; ++block) {
      const std::vector<double>& more = partial[i * blocks + block];
      for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += more[k];
    }
    if (i < leading) {
      std::copy(sums.begin(), sums.end(), out[i]);
    } else {
      contract_block(actions, leading, i, policies, std::move(sums), out[i]);
    }
  }
}

template <typename Real>
void utilities_against(const Sizes& actions, const Real* data, const std::int64_t* sampled,
                       double* const* out) {
  const std::size_t players = actions.size();
  Sizes strides(players, 1);
  std::size_t at = 0;
  for (std::size_t j = players; j-- > 0;) {
    if (j + 1 < players) strides[j] = strides[j + 1] * actions[j + 1];
    at += strides[j] * static_cast<std::size_t>(sampled[j]);
  }
  const std::size_t size = strides[0] * actions[0];
  for (std::size_t i = 0; i < players; ++i) {
    const Real* line = data + i * size + at - strides[i] * static_cast<std::size_t>(sampled[i]);
    for (std::size_t a = 0; a < actions[i]; ++a) out[i][a] = line[a * strides[i]];
  }
}

// The finaliser of splitmix64: every bit of the input moves every bit of the output.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ull;

}  // namespace

void TensorUtilities::against(std::size_t game, const std::int64_t* sampled,
                              double* const* out) const {
  const Tensor& tensor = tensors_[game];
  if (tensor.is_float32) {
    utilities_against(tensor.actions, static_cast<const float*>(tensor.data), sampled, out);
  } else {
    utilities_against(tensor.actions, static_cast<const double*>(tensor.data), sampled, out);
  }
}

void TensorUtilities::expected(std::size_t game, const double* const* policies,
                               double* const* out, unsigned threads) const {
  const Tensor& tensor = tensors_[game];
  if (tensor.is_float32) {
    expected_utilities(tensor.actions, static_cast<const float*>(tensor.data), policies, out,
                       threads);
  } else {
    expected_utilities(tensor.actions, static_cast<const double*>(tensor.data), policies, out,
                       threads);
  }
}

HashedUtilities::HashedUtilities(std::vector<std::vector<std::size_t>> actions,
                                 std::uint64_t seed)
    : actions_(std::move(actions)) {
  // Zobrist's scheme: the joint action's key is the xor of one key per player.
  for (std::uint64_t game = 0; game < actions_.size(); ++game) {
    auto& players = keys_.emplace_back();
    for (std::uint64_t player = 0; player < actions_[game].size(); ++player) {
      auto& keys = players.emplace_back();
      for (std::uint64_t action = 0; action < actions_[game][player]; ++action) {
        keys.push_back(mix(seed + kGolden * (1 + action + (player << 32) + (game << 40))));
      }
    }
  }
}

void HashedUtilities::against(std::size_t game, const std::int64_t* sampled,
                              double* const* out) const {
  const auto& players = keys_[game];
  const auto own = [&](std::size_t i) {
    return players[i].empty() ? 0 : players[i][static_cast<std::size_t>(sampled[i])];
  };
  std::uint64_t joint = 0;
  for (std::size_t i = 0; i < players.size(); ++i) joint ^= own(i);
  for (std::size_t i = 0; i < players.size(); ++i) {
    const std::uint64_t others = joint ^ own(i);
    for (std::size_t a = 0; a < players[i].size(); ++a) {
      const std::uint64_t bits = mix((others ^ players[i][a]) + kGolden * (i + 1));
      out[i][a] = static_cast<double>(bits >> 11) * 0x1p-53;
    }
  }
}

}  // namespace kedge
