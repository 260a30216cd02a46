// One PUCT search, exactly the paper's (appendix F).
//
// The specification is kedge/search/puct/plain.py; tests compare both visit by visit. Files that use
// this header are compiled without fused multiply-add (-ffp-contract=off), so that scores which are
// equal there are equal here.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "puct/board.hpp"
#include "puct/gumbel.hpp"

namespace kedge::puct {

struct Options {
  double c_puct = 2.0;
  std::uint32_t playouts = 50;   // evaluations of states, the root's included
  double constant_lambda = 0.0;  // > 0: c grows as √N, so that λ = c√N/N stays this
  std::uint32_t batch = 1;       // leaves that wait at once; > 1: each counts as a loss meanwhile
  Gumbel gumbel;
};

// The network's input for a leaf. Empty for boards that are not encoded.
template <Board B>
struct LeafInput {};
template <EncodedBoard B>
struct LeafInput<B> {
  typename B::Features features;
  std::vector<std::uint16_t> policy_indices;  // of the leaf's actions
};

template <Board B>
class Tree {
 public:
  using Action = typename B::Action;
  static constexpr std::int32_t kUnvisited = -1, kTerminal = -2, kWaiting = -3;

  struct Edge {
    double prior = 0.0;
    double total = 0.0;    // sum of values for the player who moves here; Q = total / visits
    double outcome = 0.0;  // result and reward of a move that ends the game, for the same player
    std::uint32_t visits = 0;
    std::int32_t child = kUnvisited;
    Action action = 0;
  };
  // PUCT tries actions in the order of their priors, highest first. The first `ordered` edges stand
  // in that order: those tried, then the next to try. The others are sorted when they are needed,
  // since most nodes are leaves and never need it.
  struct Node {
    std::uint32_t first = 0, count = 0, ordered = 0;
    double value = 0.0;  // the network's, for the player to move
  };
  struct Step {
    std::size_t edge;
    int player;
    double reward = 0.0;  // the move's, for `player`
  };
  // A state that waits for its evaluation.
  struct Leaf : LeafInput<B> {
    std::vector<Step> path;
    std::vector<Action> actions;
    int player = 0;
  };

  Tree(const B& board, Options options) : board_(board), options_(options) {}

  // Starts a new search and reuses the memory of the old one.
  void restart(const B& board, Options options) {
    board_ = board;
    options_ = options;
    nodes_.clear();
    edges_.clear();
    playouts_ = waiting_ = 0;
    over_ = false;
  }

  bool finished() const { return playouts_ >= options_.playouts || over_; }
  std::uint32_t playouts() const { return playouts_; }
  void set_playouts(std::uint32_t playouts) { options_.playouts = playouts; }
  const B& root() const { return board_; }
  bool has_gumbel_root() const { return options_.gumbel.considered > 0; }

  // Descends until leaves wait for their evaluation or the playouts are spent, with `one_batch` at
  // most through one batch. Returns how many leaves wait.
  std::size_t collect(bool one_batch) {
    while (waiting_ == 0 && !finished()) {
      // Playouts that end a game count in the batch too, although they need no evaluation.
      const std::uint32_t end = std::min(options_.playouts, playouts_ + options_.batch);
      while (playouts_ + waiting_ < end) {
        if (nodes_.empty()) {
          over_ = !wait();
          break;
        }
        if (!descend()) break;
      }
      if (one_batch) break;
    }
    return waiting_;
  }
  std::size_t waiting() const { return waiting_; }
  const Leaf& leaf(std::size_t i) const { return leaves_[i]; }
  B leaf_board(std::size_t i) const {
    B board = board_;
    for (const Step& step : leaves_[i].path) board.push(edges_[step.edge].action);
    return board;
  }

  // Takes the evaluation of leaf i: a prior for each of its actions, and its value for the player
  // to move there. Call expanded() after the last leaf.
  void expand(std::size_t i, const double* priors, double value) {
    const Leaf& leaf = leaves_[i];
    if (leaf.actions.empty()) {
      Edge& edge = edges_[leaf.path.back().edge];
      edge.child = kTerminal;
      const Step& last = leaf.path.back();
      edge.outcome = (last.player == leaf.player ? value : -value) + last.reward;
    } else {
      if (!leaf.path.empty()) {
        edges_[leaf.path.back().edge].child = static_cast<std::int32_t>(nodes_.size());
      }
      const std::size_t first = edges_.size();
      nodes_.push_back({static_cast<std::uint32_t>(first),
                        static_cast<std::uint32_t>(leaf.actions.size()), 0, value});
      edges_.resize(first + leaf.actions.size());
      for (std::size_t a = 0; a < leaf.actions.size(); ++a) {
        edges_[first + a].prior = priors[a];
        edges_[first + a].action = leaf.actions[a];
      }
    }
    for (const Step& step : leaf.path) {
      Edge& edge = edges_[step.edge];
      if (options_.batch > 1) edge.total += 1.0;  // takes back the loss that it counted as
      else ++edge.visits;
    }
    back_up(leaf.path, value, leaf.player);
    ++playouts_;
  }
  void expanded() { waiting_ = 0; }

  // The root's edges in no particular order; none before its evaluation.
  const Edge* root_edges() const { return edges_.data(); }
  std::size_t root_count() const { return nodes_.empty() ? 0 : nodes_[0].count; }
  double root_network_value() const { return nodes_.empty() ? 0.0 : nodes_[0].value; }

  // The most visited line after root edge `first`.
  std::vector<Action> line(std::size_t first) const {
    std::vector<Action> moves;
    const Edge* edge = &edges_[first];
    while (edge != nullptr) {
      moves.push_back(edge->action);
      edge = edge->child >= 0 ? most_visited(nodes_[static_cast<std::size_t>(edge->child)])
                              : nullptr;
    }
    return moves;
  }

  // Plays `action`, which must be legal, at the root and keeps the search below it.
  void advance(Action action) {
    cancel();
    std::int32_t child = kUnvisited;
    for (std::size_t a = 0; a < root_count(); ++a) {
      if (edges_[a].action == action) child = edges_[a].child;
    }
    board_.push(action);
    std::vector<Node> nodes;
    std::vector<Edge> edges;
    playouts_ = 0;
    if (child >= 0) {
      // Breadth first: the new root's edges must come first.
      std::vector<std::int32_t> old{child};
      for (std::size_t n = 0; n < old.size(); ++n) {
        const Node& from = nodes_[static_cast<std::size_t>(old[n])];
        nodes.push_back({static_cast<std::uint32_t>(edges.size()), from.count, from.ordered,
                         from.value});
        for (std::uint32_t a = 0; a < from.count; ++a) {
          Edge edge = edges_[from.first + a];
          if (n == 0) playouts_ += edge.visits;
          if (edge.child >= 0) {
            old.push_back(edge.child);
            edge.child = static_cast<std::int32_t>(old.size() - 1);
          }
          edges.push_back(edge);
        }
      }
      ++playouts_;  // its own evaluation
    }
    nodes_ = std::move(nodes);
    edges_ = std::move(edges);
    over_ = false;
  }

  // Drops the leaves that wait, as if they had not been reached.
  void cancel() {
    for (std::size_t i = 0; i < waiting_; ++i) {
      for (const Step& step : leaves_[i].path) {
        Edge& edge = edges_[step.edge];
        if (edge.child == kWaiting) edge.child = kUnvisited;
        if (options_.batch == 1) continue;
        --edge.visits;
        edge.total += 1.0;
      }
    }
    waiting_ = 0;
  }

 private:
  const Edge* most_visited(const Node& node) const {
    const Edge* best = nullptr;
    for (std::uint32_t a = 0; a < node.count; ++a) {
      const Edge& edge = edges_[node.first + a];
      if (edge.visits == 0) break;
      if (best == nullptr || edge.visits > best->visits) best = &edge;
    }
    return best;
  }

  // A Gumbel root's edges stay in the order of their actions.
  std::size_t select_root() {
    if (options_.gumbel.considered == 0) return select(nodes_[0]);
    return options_.gumbel.select(edges_.data(), nodes_[0].count, nodes_[0].value);
  }

  // argmax of Q + c·τ·√ΣN/(N + 1). The Q of an action never tried is the plain mean of its tried
  // siblings'. The higher prior wins ties, then the lower action: these edges come first.
  std::size_t select(Node& node) {
    Edge* edges = edges_.data() + node.first;
    double q_sum = 0.0;
    std::uint32_t total = 0, tried = 0;
    for (; tried < node.count && edges[tried].visits > 0; ++tried) {
      q_sum += edges[tried].total / edges[tried].visits;
      total += edges[tried].visits;
    }
    const double scale = options_.constant_lambda > 0.0
                             ? options_.constant_lambda * total
                             : options_.c_puct * std::sqrt(static_cast<double>(total));
    std::size_t best = 0;
    double best_score = 0.0;
    for (std::uint32_t a = 0; a < tried; ++a) {
      const double q = edges[a].total / edges[a].visits;
      const double score = q + scale * edges[a].prior / (edges[a].visits + 1.0);
      if (a == 0 || score > best_score) {
        best = a;
        best_score = score;
      }
    }
    if (tried < node.count) {
      if (node.ordered == tried) {
        std::swap(edges[tried], *std::max_element(edges + tried, edges + node.count, comes_later));
        ++node.ordered;
      }
      const double untried = tried > 0 ? q_sum / tried : 0.0;
      if (tried == 0 || untried + scale * edges[tried].prior > best_score) best = tried;
    }
    return node.first + best;
  }
  static bool comes_later(const Edge& a, const Edge& b) {
    return a.prior < b.prior || (a.prior == b.prior && a.action > b.action);
  }

  // Plays out to a new leaf or the end of a game. False if it met a leaf that waits already.
  bool descend() {
    path_.clear();
    std::size_t node = 0;
    for (;;) {
      const std::size_t chosen = node == 0 ? select_root() : select(nodes_[node]);
      path_.push_back({chosen, board_.player()});
      Edge& edge = edges_[chosen];
      if (edge.child == kTerminal || edge.child == kWaiting) {
        if (edge.child == kTerminal) count_terminal(edge.outcome);
        rewind(path_.size() - 1);
        return edge.child == kTerminal;
      }
      board_.push(edge.action);
      if constexpr (RewardBoard<B>) path_.back().reward = board_.reward();
      if (edge.child >= 0) {
        node = static_cast<std::size_t>(edge.child);
        continue;
      }
      if (wait()) {
        edge.child = kWaiting;
      } else {
        const double value = board_.terminal_value();
        edge.child = kTerminal;
        const Step& last = path_.back();
        edge.outcome = (board_.player() == last.player ? value : -value) + last.reward;
        count_terminal(edge.outcome);
      }
      rewind(path_.size());
      return true;
    }
  }

  // `value` is that of the state after the last move of the path, for `player`.
  void back_up(const std::vector<Step>& path, double value, int player) {
    for (std::size_t i = path.size(); i-- > 0;) {
      value = (path[i].player == player ? value : -value) + path[i].reward;
      player = path[i].player;
      edges_[path[i].edge].total += value;
    }
  }

  void rewind(std::size_t plies) {
    for (std::size_t ply = 0; ply < plies; ++ply) board_.pop();
    path_.clear();
  }

  void count_terminal(double outcome) {
    path_.back().reward = 0.0;  // the outcome includes it
    for (const Step& step : path_) ++edges_[step.edge].visits;
    back_up(path_, outcome, path_.back().player);
    ++playouts_;
  }

  // Adds the state at the end of path_ to the leaves that wait. False if the game is over there. A
  // root is searched even if the rules call it a draw: people play on.
  bool wait() {
    if (leaves_.size() == waiting_) leaves_.emplace_back();
    Leaf& leaf = leaves_[waiting_];
    leaf.actions.resize(B::kMaxActions);
    leaf.actions.resize(board_.legal_actions(leaf.actions.data()));
    if (leaf.actions.empty() && (path_.empty() || !B::kEndsByAgreement)) return false;
    if (!path_.empty() && board_.is_draw_by_rule()) return false;
    ++waiting_;
    leaf.path = path_;
    leaf.player = board_.player();
    if constexpr (EncodedBoard<B>) {
      leaf.policy_indices.clear();
      for (const Action action : leaf.actions) {
        leaf.policy_indices.push_back(static_cast<std::uint16_t>(board_.policy_index(action)));
      }
      board_.features(leaf.features);
    }
    if (options_.batch > 1) {
      for (const Step& step : path_) {
        edges_[step.edge].total -= 1.0;
        ++edges_[step.edge].visits;
      }
    }
    return true;
  }

  B board_;  // at the root between descents
  Options options_;
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<Step> path_;
  std::vector<Leaf> leaves_;  // the first waiting_ of them wait
  std::uint32_t playouts_ = 0, waiting_ = 0;
  bool over_ = false;  // there is no legal action at the root
};

}  // namespace kedge::puct
