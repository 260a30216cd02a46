// Sources of utilities: a payoff tensor, or a rule for games too large to tabulate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kedge {

// The utilities of a batch of independent games. In every call `out[i]` receives the utility of
// each action of player i.
class Utilities {
 public:
  virtual ~Utilities() = default;
  virtual std::size_t games() const = 0;
  virtual const std::vector<std::size_t>& actions(std::size_t game) const = 0;
  // u_i(a, a*_-i): every action of every player against the others' sampled actions.
  virtual void against(std::size_t game, const std::int64_t* sampled,
                       double* const* out) const = 0;
  // u_i(a, π_-i): the same in expectation. `policies[i]` is player i's policy.
  virtual void expected(std::size_t game, const double* const* policies,
                        double* const* out, unsigned threads) const = 0;
  virtual bool has_expected() const = 0;
};

// One payoff tensor per game, not copied: shape (players, actions of player 0, ...),
// C-contiguous, float64 or float32.
class TensorUtilities : public Utilities {
 public:
  struct Tensor {
    const void* data;
    bool is_float32;
    std::vector<std::size_t> actions;  // one per player
  };
  explicit TensorUtilities(std::vector<Tensor> tensors) : tensors_(std::move(tensors)) {}
  std::size_t games() const override { return tensors_.size(); }
  const std::vector<std::size_t>& actions(std::size_t game) const override {
    return tensors_[game].actions;
  }
  void against(std::size_t game, const std::int64_t* sampled, double* const* out) const override;
  void expected(std::size_t game, const double* const* policies, double* const* out,
                unsigned threads) const override;
  bool has_expected() const override { return true; }

 private:
  std::vector<Tensor> tensors_;
};

// A random game of any size: u_i(a) in [0, 1) is a hash of the seed, the player and the joint
// action. It stands in for oracles such as Diplomacy's, whose joint actions cannot be tabulated.
class HashedUtilities final : public Utilities {
 public:
  HashedUtilities(std::vector<std::vector<std::size_t>> actions, std::uint64_t seed);
  std::size_t games() const override { return actions_.size(); }
  const std::vector<std::size_t>& actions(std::size_t game) const override {
    return actions_[game];
  }
  void against(std::size_t game, const std::int64_t* sampled, double* const* out) const override;
  void expected(std::size_t, const double* const*, double* const*, unsigned) const override {}
  bool has_expected() const override { return false; }

 private:
  std::vector<std::vector<std::size_t>> actions_;
  std::vector<std::vector<std::vector<std::uint64_t>>> keys_;  // by game, player, action
};

}  // namespace kedge
