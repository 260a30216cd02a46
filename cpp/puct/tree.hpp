// One PUCT search, exactly the paper's (appendix F).
//
// The specification is the plain Python of kedge/search/puct/plain.py; tests hold this to it visit
// by visit. It is compiled without contraction of a * b + c, so that ties fall as they do there.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kedge::puct {

struct Options {
  double c_puct = 2.0;
  std::uint32_t playouts = 50;  // evaluations of states, the root's among them
  double constant_lambda = 0.0;  // > 0: c grows as √N, so that λ = c√N/N stays this
};

// A Board is a line of play: push(action), pop(), legal_actions(out), is_terminal(),
// terminal_value() for the player to move, player(). Two players, zero-sum.
template <class Board>
class Tree {
 public:
  using Action = typename Board::Action;
  static constexpr std::int32_t kUnvisited = -1;
  static constexpr std::int32_t kTerminal = -2;

  struct Edge {
    double prior = 0.0;
    double total = 0.0;    // Σ of values for the player who moves here; Q = total / visits
    double outcome = 0.0;  // for that player, where the move ends the game
    std::uint32_t visits = 0;
    std::int32_t child = kUnvisited;
    Action action = 0;
  };
  struct Node {
    std::uint32_t first = 0, count = 0;
    double value = 0.0;  // of the state, for the player to move
  };

  Tree(Board board, Options options) : board_(std::move(board)), options_(options) {
    // A root is searched even if the rules would call it a draw: people play on.
    leaf_actions_.resize(Board::kMaxActions);
    leaf_actions_.resize(board_.legal_actions(leaf_actions_.data()));
  }

  bool finished() const { return playouts_ >= options_.playouts || is_over(); }
  bool is_over() const { return nodes_.empty() && leaf_actions_.empty(); }
  bool is_waiting() const { return waiting_; }
  const Board& board() const { return board_; }  // at the leaf while waiting, else at the root
  const std::vector<Action>& leaf_actions() const { return leaf_actions_; }
  std::uint32_t playouts() const { return playouts_; }
  const Options& options() const { return options_; }
  void set_playouts(std::uint32_t playouts) { options_.playouts = playouts; }

  // Descends until a state waits for its evaluation (true) or the playouts are spent (false).
  bool collect() {
    while (!waiting_ && !finished()) {
      if (nodes_.empty()) {
        waiting_ = true;
      } else {
        descend();
      }
    }
    return waiting_;
  }

  // The evaluation of the leaf: a prior for each of `leaf_actions`, its value for who moves there.
  void expand(const double* priors, double value) {
    const auto node = static_cast<std::int32_t>(nodes_.size());
    nodes_.push_back({static_cast<std::uint32_t>(edges_.size()),
                      static_cast<std::uint32_t>(leaf_actions_.size()), value});
    for (std::size_t a = 0; a < leaf_actions_.size(); ++a) {
      Edge edge;
      edge.prior = priors[a];
      edge.action = leaf_actions_[a];
      edges_.push_back(edge);
    }
    if (!path_.empty()) edges_[path_.back().edge].child = node;
    back_up(value, board_.player());
    waiting_ = false;
  }

  // The root's edges; empty before its evaluation.
  const Edge* root_edges() const { return nodes_.empty() ? nullptr : edges_.data(); }
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

  // Plays `action` at the root and keeps what was searched below it.
  void advance(Action action) {
    if (waiting_) cancel();
    std::int32_t child = kUnvisited;
    for (std::size_t a = 0; a < root_count(); ++a) {
      if (edges_[a].action == action) child = edges_[a].child;
    }
    board_.push(action);
    std::vector<Node> nodes;
    std::vector<Edge> edges;
    playouts_ = 0;
    if (child >= 0) {
      // Breadth first, so that the new root's edges come first, as collect() expects.
      std::vector<std::int32_t> old{child};
      for (std::size_t n = 0; n < old.size(); ++n) {
        const Node& from = nodes_[static_cast<std::size_t>(old[n])];
        nodes.push_back({static_cast<std::uint32_t>(edges.size()), from.count, from.value});
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
    leaf_actions_.resize(Board::kMaxActions);
    leaf_actions_.resize(board_.legal_actions(leaf_actions_.data()));
  }

  // Forgets the leaf that waits, as if it had not been reached.
  void cancel() {
    for (std::size_t step = 0; step < path_.size(); ++step) board_.pop();
    path_.clear();
    waiting_ = false;
  }

 private:
  struct Step {
    std::size_t edge;
    int player;
  };

  const Edge* most_visited(const Node& node) const {
    const Edge* best = nullptr;
    for (std::uint32_t a = 0; a < node.count; ++a) {
      const Edge& edge = edges_[node.first + a];
      if (edge.visits == 0) continue;
      if (best == nullptr || edge.visits > best->visits ||
          (edge.visits == best->visits && edge.prior > best->prior)) {
        best = &edge;
      }
    }
    return best;
  }

  // argmax of Q + c·τ·√ΣN/(N + 1); an action never tried has the plain mean Q of its tried
  // siblings; ties go to the higher prior, then to the lower action.
  std::size_t select(const Node& node) const {
    double q_sum = 0.0;
    std::uint32_t total = 0, tried = 0;
    for (std::uint32_t a = 0; a < node.count; ++a) {
      const Edge& edge = edges_[node.first + a];
      if (edge.visits == 0) continue;
      q_sum += edge.total / edge.visits;
      total += edge.visits;
      ++tried;
    }
    const double untried = tried > 0 ? q_sum / tried : 0.0;
    const double scale = options_.constant_lambda > 0.0
                             ? options_.constant_lambda * total
                             : options_.c_puct * std::sqrt(static_cast<double>(total));
    std::size_t best = node.first;
    double best_score = 0.0;
    for (std::uint32_t a = 0; a < node.count; ++a) {
      const Edge& edge = edges_[node.first + a];
      const double q = edge.visits > 0 ? edge.total / edge.visits : untried;
      const double score = q + scale * edge.prior / (edge.visits + 1.0);
      if (a == 0 || score > best_score ||
          (score == best_score && edge.prior > edges_[best].prior)) {
        best = node.first + a;
        best_score = score;
      }
    }
    return best;
  }

  void descend() {
    std::size_t node = 0;
    for (;;) {
      const std::size_t chosen = select(nodes_[node]);
      path_.push_back({chosen, board_.player()});
      Edge& edge = edges_[chosen];
      if (edge.child == kTerminal) {
        back_up_terminal(edge.outcome, path_.back().player);
        return;
      }
      board_.push(edge.action);
      if (edge.child >= 0) {
        node = static_cast<std::size_t>(edge.child);
        continue;
      }
      if (board_.is_terminal()) {
        const double value = board_.terminal_value();
        const int mover = path_.back().player;
        edge.child = kTerminal;
        edge.outcome = board_.player() == mover ? value : -value;
        board_.pop();
        back_up_terminal(edge.outcome, mover);
        return;
      }
      leaf_actions_.resize(Board::kMaxActions);
      leaf_actions_.resize(board_.legal_actions(leaf_actions_.data()));
      waiting_ = true;
      return;
    }
  }

  // The last move of the path was not pushed (or was taken back): the game is over after it.
  void back_up_terminal(double outcome, int mover) {
    count(outcome, mover);
    for (std::size_t step = 1; step < path_.size(); ++step) board_.pop();
    path_.clear();
  }

  void back_up(double value, int player) {
    count(value, player);
    for (std::size_t step = 0; step < path_.size(); ++step) board_.pop();
    path_.clear();
  }

  void count(double value, int player) {
    for (const Step& step : path_) {
      Edge& edge = edges_[step.edge];
      edge.total += step.player == player ? value : -value;
      ++edge.visits;
    }
    ++playouts_;
  }

  Board board_;
  Options options_;
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<Step> path_;
  std::vector<Action> leaf_actions_;
  std::uint32_t playouts_ = 0;
  bool waiting_ = false;
};

}  // namespace kedge::puct
