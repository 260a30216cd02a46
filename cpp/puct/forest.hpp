// Many PUCT searches side by side. Each is the paper's sequential search; the network evaluates all
// their leaves as one batch:
//
//   while (forest.collect() > 0) { evaluate the leaves in forest.rows(); forest.update(...); }
//
// Trees are added and removed between batches.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "parallel.hpp"
#include "puct/tree.hpp"

namespace kedge::puct {

template <Board B>
class Forest {
 public:
  using TreeType = Tree<B>;
  using Leaf = typename TreeType::Leaf;
  // A leaf that waits, and the place of its first action among the actions of all leaves.
  struct Row {
    std::uint64_t id;
    TreeType* tree;
    std::size_t leaf;
    std::size_t actions, first_action;
    const Leaf& get() const { return tree->leaf(leaf); }
  };

  explicit Forest(unsigned threads) : workers_(std::max(1u, threads)) {}

  std::uint64_t add(const B& root, Options options) {
    std::unique_ptr<TreeType> tree;
    if (spare_.empty()) {
      tree = std::make_unique<TreeType>(root, options);
    } else {
      tree = std::move(spare_.back());
      spare_.pop_back();
      tree->restart(root, options);
    }
    trees_.emplace(next_, std::move(tree));
    changed_ = true;
    return next_++;
  }
  // Later trees reuse the memory of removed ones.
  void remove(std::uint64_t id) {
    if (tree(id).waiting() > 0) {
      std::erase_if(rows_, [&](const Row& row) { return row.id == id; });
      number_actions();
    }
    const auto tree = trees_.find(id);
    spare_.push_back(std::move(tree->second));
    trees_.erase(tree);
    changed_ = true;
  }
  void clear() {
    rows_.clear();
    actions_ = 0;
    for (auto& [id, tree] : trees_) spare_.push_back(std::move(tree));
    trees_.clear();
    changed_ = true;
  }
  TreeType& tree(std::uint64_t id) {
    const auto tree = trees_.find(id);
    if (tree == trees_.end()) throw std::out_of_range("no such tree");
    return *tree->second;
  }
  std::size_t size() const { return trees_.size(); }

  void advance(std::uint64_t id, typename B::Action action) {
    cancel();
    tree(id).advance(action);
  }

  // Advances every tree to its next leaves and returns how many wait. Rows are in the order of the
  // trees' numbers. Playouts that end a game need no evaluation, and may run on by the thousand:
  // with `one_batch`, a tree makes at most one batch of playouts, and may have no leaf though it is
  // not finished.
  std::size_t collect(bool one_batch = false) {
    if (changed_) {
      open_.clear();
      for (auto& [id, tree] : trees_) open_.push_back({tree.get(), id, 0, 0});
      changed_ = false;
    }
    for_each(open_.size(), [&](std::size_t i) {
      Open& open = open_[i];
      open.waiting = open.tree->collect(one_batch);
      if (open.waiting > 0) open.actions = open.tree->leaf(0).actions.size();
    });
    rows_.clear();
    for (const Open& open : open_) {
      for (std::size_t leaf = 0; leaf < open.waiting; ++leaf) {
        const std::size_t count = leaf == 0 ? open.actions : open.tree->leaf(leaf).actions.size();
        rows_.push_back({open.id, open.tree, leaf, count, 0});
      }
    }
    number_actions();
    return rows_.size();
  }

  // Drops the leaves that wait, as if they had not been reached.
  void cancel() {
    for (const Row& row : rows_) row.tree->cancel();
    rows_.clear();
    actions_ = 0;
  }

  // The leaves that wait since the last collect(), and the number of all their actions.
  const std::vector<Row>& rows() const { return rows_; }
  std::size_t actions() const { return actions_; }

  // Takes the evaluations of all leaves, row by row: a prior for each action, and a value for the
  // player to move.
  void update(const double* priors, const double* values) {
    check(priors, values, 0.0);
    expand([&](const Row& row, std::size_t i) {
      row.tree->expand(row.leaf, priors + row.first_action, values[i]);
    });
  }

  // The same with logits for priors; an action with −∞ is never tried.
  void update_logits(const float* logits, const float* values, double temperature) {
    check(logits, values, -INFINITY);
    expand([&](const Row& row, std::size_t i) {
      const float* mine = logits + row.first_action;
      const double highest = row.actions > 0 ? *std::max_element(mine, mine + row.actions) : 0.0;
      double priors[B::kMaxActions];
      double sum = 0.0;
      for (std::size_t a = 0; a < row.actions; ++a) {
        sum += priors[a] = std::exp((mine[a] - highest) / temperature);
      }
      for (std::size_t a = 0; a < row.actions; ++a) priors[a] /= sum;
      row.tree->expand(row.leaf, priors, values[i]);
    });
  }

  // Calls work(i) for every i < count. Threads take 32 at a time, since a leaf takes only about a
  // microsecond.
  template <typename Work>
  void for_each(std::size_t count, const Work& work) const {
    constexpr std::size_t kShare = 32;
    workers_.run((count + kShare - 1) / kShare, [&](std::size_t share) {
      for (std::size_t i = share * kShare; i < std::min(count, (share + 1) * kShare); ++i) work(i);
    });
  }

 private:
  struct Open {
    TreeType* tree;
    std::uint64_t id;
    std::size_t waiting, actions;
  };

  // A network with finite weights can still overflow; its answer must not enter a search.
  template <typename Number>
  void check(const Number* numbers, const Number* values, double lowest) const {
    for_each(rows_.size(), [&](std::size_t i) {
      const Number* mine = numbers + rows_[i].first_action;
      bool good = std::isfinite(values[i]), some = false;
      for (std::size_t a = 0; a < rows_[i].actions; ++a) {
        good &= mine[a] >= lowest && mine[a] < INFINITY;
        some |= mine[a] > lowest;
      }
      if (!good || (!some && rows_[i].actions > 0)) {
        throw std::domain_error("an evaluation is not finite");
      }
    });
  }

  template <typename Expand>
  void expand(const Expand& expand_row) {
    // One thread expands all leaves of a tree, since the tree's memory may move. They are
    // neighbours in rows_.
    for_each(rows_.size(), [&](std::size_t i) {
      if (rows_[i].leaf > 0) return;
      TreeType* tree = rows_[i].tree;
      for (std::size_t j = i; j < rows_.size() && rows_[j].tree == tree; ++j) {
        expand_row(rows_[j], j);
      }
      tree->expanded();
    });
    rows_.clear();
    actions_ = 0;
  }

  void number_actions() {
    actions_ = 0;
    for (Row& row : rows_) {
      row.first_action = actions_;
      actions_ += row.actions;
    }
  }

  mutable Workers workers_;
  std::uint64_t next_ = 0;
  std::map<std::uint64_t, std::unique_ptr<TreeType>> trees_;
  std::vector<std::unique_ptr<TreeType>> spare_;
  std::vector<Open> open_;
  std::vector<Row> rows_;
  std::size_t actions_ = 0;
  bool changed_ = false;  // open_ is out of date
};

}  // namespace kedge::puct
