// Regret minimisers for every player of a batch of independent games.
//
// The specification is the plain Python of kedge/search/regret/plain.py; tests hold this to it
// iterate by iterate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "regret/utilities.hpp"

namespace kedge {

enum class Rule { kHedge, kRegretMatching, kMirrorDescent };

struct Settings {
  Rule rule = Rule::kHedge;
  bool adaptive = false;          // η = c/(σ√k) with c in `eta`, rather than `eta` itself
  bool anchor_first = true;       // Algorithm 1's t, rather than the proof's t - 1
  bool linear_weighting = false;  // iteration t counts t times in what the players learn from
  bool linear_average = false;    // ... and in the average policy
  bool plus = false;              // RM+: regrets never fall below zero
  bool optimistic = false;        // RM: the last regret counts twice
  bool largest = false;           // RM: with no positive regret, play the largest, not uniformly
};

// The parameters of one seat (a player of one game). A seat has one or more types: copies of the
// player with their own λ, met with probability `share` (DiL-piKL); plain piKL-Hedge has one.
struct Seat {
  std::size_t actions;
  std::size_t blocks;        // blocks of its padded actions: see kernels.hpp
  std::size_t first_action;  // into arrays over actions
  std::size_t first_type;    // into arrays over types
  std::size_t types;
  std::size_t first_slot;  // into arrays over (type, action)
};

struct Types {
  std::vector<double> lambda, share, eta;
  std::vector<double> decay;  // η_t = eta·t^-decay
};

class Learner {
 public:
  // `actions[g][i]` is the number of actions of player i in game g; 0 for a dead player.
  Learner(Settings settings, const std::vector<std::vector<std::size_t>>& actions,
          std::vector<double> tau, const std::vector<std::size_t>& types, Types parameters);

  std::size_t games() const { return first_seat_.size() - 1; }
  std::size_t players(std::size_t game) const { return first_seat_[game + 1] - first_seat_[game]; }
  std::int64_t iterations() const { return iterations_; }

  // Draws one action per player from the current policies by inverse transform; -1 for the dead.
  void sample(std::size_t game, const double* uniforms, std::int64_t* actions) const;
  // One iteration of every game from utilities that the caller computed, without padding.
  void observe(const double* utilities);
  // `count` iterations of every game. `uniforms` (count x players for each game in turn) makes the
  // feedback sampled; without it the feedback is exact.
  void run(const Utilities& source, std::int64_t count, const double* uniforms, unsigned threads);

  // Arrays over (type, action), seat after seat, without padding; averages are weighted sums.
  std::vector<double> current() const { return by_type(current_); }
  std::vector<double> average_sum() const { return by_type(average_); }
  // Arrays over types.
  std::span<const double> earned() const { return earned_; }      // Σ w_t π^t·u^t
  std::span<const double> divergence() const { return paid_; }    // Σ w_t KL(π^t‖τ)
  // Over actions: CV = Σ w_t u^t.
  std::vector<double> cumulative() const;
  double weight() const { return counter_.weight; }
  double average_weight() const { return counter_.average_weight; }
  const std::vector<Seat>& seats() const { return seats_; }

 private:
  struct StepCounter {
    std::int64_t observed = 0;
    double weight = 0.0;          // Σ of the iterations' weights, the latest counted 1
    double average_weight = 0.0;  // the same for the average policy
  };
  double discount(const StepCounter& counter) const;
  void observe_game(std::size_t game, StepCounter& counter);
  std::vector<double> by_type(const std::vector<double>& padded) const;
  void learn(const Seat& seat, const StepCounter& before, const StepCounter& after,
             const double* utilities);
  void choose(const Seat& seat, const StepCounter& counter, const double* utilities);
  void match_regrets(const Seat& seat, double discount, double earned, const double* utilities);
  double eta(std::size_t type, double count, const StepCounter& counter) const;
  const double* policy(const Seat& seat) const {
    return seat.types == 1 ? current_.data() + seat.first_slot : mixture_.data() + seat.first_action;
  }

  Settings settings_;
  std::vector<Seat> seats_;
  std::vector<std::size_t> first_seat_;   // of each game
  Types types_;
  StepCounter counter_;
  std::int64_t iterations_ = 0;
  // Over actions.
  std::vector<double> log_tau_, cumulative_, regret_, mixture_, utilities_;
  // Over types.
  std::vector<double> earned_, paid_, divergence_, mean_, deviation_;
  // Over (type, action).
  std::vector<double> outside_, current_, average_, log_policy_;
};

}  // namespace kedge
