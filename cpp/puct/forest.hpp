// Many PUCT searches side by side: each is the paper's sequential search, the network sees a batch.
//
//   collect() -> the leaves of all trees that wait -> evaluate them -> update(), until none waits.
//
// Trees are admitted and retired between batches.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include "parallel.hpp"
#include "puct/tree.hpp"

namespace kedge::puct {

template <class Board>
class Forest {
 public:
  using TreeType = Tree<Board>;

  explicit Forest(unsigned threads) : threads_(std::max(1u, threads)) {}
  Forest(const Forest&) = delete;
  Forest& operator=(const Forest&) = delete;

  std::uint64_t add(Board root, Options options) {
    trees_.emplace(next_, std::make_unique<TreeType>(std::move(root), options));
    return next_++;
  }
  void remove(std::uint64_t id) {
    tree(id);
    std::erase_if(waiting_, [&](const auto& one) { return one.first == id; });
    trees_.erase(id);
  }
  TreeType& tree(std::uint64_t id) {
    const auto found = trees_.find(id);
    if (found == trees_.end()) throw std::out_of_range("no such tree");
    return *found->second;
  }
  std::size_t size() const { return trees_.size(); }

  // Advances every tree to its next leaf; how many wait. Trees keep the order of their admission.
  std::size_t collect(std::size_t most) {
    waiting_.clear();
    std::vector<std::pair<std::uint64_t, TreeType*>> open;
    for (auto& [id, one] : trees_) {
      if (open.size() == most) break;
      if (!one->finished()) open.emplace_back(id, one.get());
    }
    parallel(open.size(), [&](std::size_t i) { open[i].second->collect(); });
    for (const auto& one : open) {
      if (one.second->is_waiting()) waiting_.push_back(one);
    }
    return waiting_.size();
  }

  // The trees whose leaves the last collect() left waiting.
  const std::vector<std::pair<std::uint64_t, TreeType*>>& waiting() const { return waiting_; }

  // Priors of one leaf after the other, flat, and the values for who moves there.
  void update(const double* priors, const double* values) {
    std::vector<const double*> starts;
    for (const auto& [id, one] : waiting_) {
      starts.push_back(priors);
      priors += one->leaf_actions().size();
    }
    parallel(waiting_.size(), [&](std::size_t i) { waiting_[i].second->expand(starts[i], values[i]); });
    waiting_.clear();
  }

  // Policy logits over all moves that the game knows, one row a leaf.
  void update_logits(const float* logits, std::size_t width, const float* values,
                     double temperature) {
    parallel(waiting_.size(), [&](std::size_t i) {
      TreeType& one = *waiting_[i].second;
      const float* row = logits + i * width;
      std::vector<double> priors(one.leaf_actions().size());
      double highest = -INFINITY;
      for (std::size_t a = 0; a < priors.size(); ++a) {
        priors[a] = row[one.board().policy_index(one.leaf_actions()[a])] / temperature;
        highest = std::max(highest, priors[a]);
      }
      double sum = 0.0;
      for (double& prior : priors) sum += prior = std::exp(prior - highest);
      for (double& prior : priors) prior /= sum;
      one.expand(priors.data(), values[i]);
    });
    waiting_.clear();
  }

  template <typename Work>
  void parallel(std::size_t count, const Work& work) const {
    // A thread costs some tens of microseconds, a leaf one or two: leaves go by the hundred.
    constexpr std::size_t kShare = 128;
    parallel_for((count + kShare - 1) / kShare, threads_, [&](std::size_t share) {
      for (std::size_t i = share * kShare; i < std::min(count, (share + 1) * kShare); ++i) work(i);
    });
  }

 private:
  unsigned threads_;
  std::uint64_t next_ = 0;
  std::map<std::uint64_t, std::unique_ptr<TreeType>> trees_;
  std::vector<std::pair<std::uint64_t, TreeType*>> waiting_;
};

}  // namespace kedge::puct
