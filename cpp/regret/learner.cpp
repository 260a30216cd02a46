#include "regret/learner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "parallel.hpp"
#include "regret/kernels.hpp"

namespace kedge {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kTiny = 1e-6;  // the released code's guard against a zero deviation or weight

// Factor of a total before iteration k (from 0) is added to it. The released code's
// (k + 1e-6)/(k + 1) gives iteration t the final weight t: linear weighting.
double discount_at(bool linear, std::int64_t observed) {
  const double k = static_cast<double>(observed);
  return linear ? (k + kTiny) / (k + 1.0) : 1.0;
}

std::size_t slot_of(const Seat& seat, std::size_t kind) {
  return seat.first_slot + kind * seat.blocks * kernel::kBlock;
}

}  // namespace

Learner::Learner(Settings settings, const std::vector<std::vector<std::size_t>>& actions,
                 std::vector<double> tau, const std::vector<std::size_t>& types, Types parameters)
    : settings_(settings), first_seat_{0}, types_(std::move(parameters)) {
  std::size_t total = 0, first_action = 0, first_type = 0, first_slot = 0;
  for (const auto& game : actions) {
    for (const std::size_t count : game) {
      const std::size_t kinds = types.at(seats_.size());
      const std::size_t blocks = kernel::blocks_for(count);
      seats_.push_back({count, blocks, first_action, first_type, kinds, first_slot});
      total += count;
      first_action += blocks * kernel::kBlock;
      first_type += kinds;
      first_slot += kinds * blocks * kernel::kBlock;
    }
    first_seat_.push_back(seats_.size());
  }
  if (tau.size() != total || types_.lambda.size() != first_type ||
      types_.share.size() != first_type || types_.eta.size() != first_type ||
      types_.decay.size() != first_type) {
    throw std::invalid_argument("arrays do not match the numbers of actions and types");
  }
  for (auto* over_actions : {&log_tau_, &cumulative_, &regret_, &mixture_, &utilities_}) {
    over_actions->resize(first_action);
  }
  for (auto* over_types : {&earned_, &paid_, &divergence_, &mean_, &deviation_}) {
    over_types->resize(first_type);
  }
  current_.resize(first_slot);
  average_.resize(first_slot);
  outside_.assign(first_slot, -kInfinity);
  if (settings_.rule == Rule::kMirrorDescent) log_policy_.assign(first_slot, -kInfinity);

  const double* anchor = tau.data();
  for (const Seat& seat : seats_) {
    for (std::size_t a = 0; a < seat.actions; ++a) {
      const double t = *anchor++;
      log_tau_[seat.first_action + a] = t > 0.0 ? std::log(t) : 0.0;
      for (std::size_t k = 0; k < seat.types; ++k) {
        // With λ = 0 the anchor drops out, its support included.
        const bool anchored =
            settings_.rule != Rule::kRegretMatching && types_.lambda[seat.first_type + k] > 0.0;
        const std::size_t slot = slot_of(seat, k) + a;
        outside_[slot] = anchored && t <= 0.0 ? -kInfinity : 0.0;
        if (settings_.rule == Rule::kMirrorDescent) {
          log_policy_[slot] = outside_[slot] + (anchored ? log_tau_[seat.first_action + a] : 0.0);
        }
      }
    }
    choose(seat, counter_, utilities_.data() + seat.first_action);
  }
}

void Learner::sample(std::size_t game, const double* uniforms, std::int64_t* actions) const {
  for (std::size_t s = first_seat_[game]; s < first_seat_[game + 1]; ++s) {
    const Seat& seat = seats_[s];
    const double* probability = policy(seat);
    const double target = *uniforms++;
    std::int64_t chosen = -1;
    double sum = 0.0;
    for (std::size_t a = 0; a < seat.actions; ++a) {
      if (probability[a] <= 0.0) continue;
      chosen = static_cast<std::int64_t>(a);  // rounding may leave the sum just short of 1
      sum += probability[a];
      if (sum > target) break;
    }
    *actions++ = chosen;
  }
}

void Learner::observe(const double* utilities) {
  for (const Seat& seat : seats_) {
    std::copy_n(utilities, seat.actions, utilities_.data() + seat.first_action);
    utilities += seat.actions;
  }
  const StepCounter before = counter_;
  for (std::size_t game = 0; game < games(); ++game) {
    counter_ = before;
    observe_game(game, counter_);
  }
  ++iterations_;
}

void Learner::run(const Utilities& source, std::int64_t count, const double* uniforms,
                  unsigned threads) {
  const StepCounter before = counter_;
  StepCounter after = before;
  const unsigned inner = games() == 1 ? threads : 1;
  std::vector<std::size_t> first_uniform{0};
  for (std::size_t game = 0; game < games(); ++game) {
    first_uniform.push_back(first_uniform.back() + players(game) * static_cast<std::size_t>(count));
  }
  const auto work = [&](std::size_t game) {
    std::vector<std::int64_t> actions(players(game));
    std::vector<const double*> policies(players(game));
    std::vector<double*> utilities(players(game));
    for (std::size_t i = 0; i < players(game); ++i) {
      const Seat& seat = seats_[first_seat_[game] + i];
      policies[i] = policy(seat);
      utilities[i] = utilities_.data() + seat.first_action;
    }
    StepCounter counter = before;
    for (std::int64_t t = 0; t < count; ++t) {
      if (uniforms != nullptr) {
        sample(game, uniforms + first_uniform[game] + static_cast<std::size_t>(t) * players(game),
               actions.data());
        source.against(game, actions.data(), utilities.data());
      } else {
        source.expected(game, policies.data(), utilities.data(), inner);
      }
      observe_game(game, counter);
    }
    if (game == 0) after = counter;
  };
  parallel_for(games(), threads, work);
  counter_ = after;
  iterations_ += count;
}

double Learner::discount(const StepCounter& counter) const {
  return discount_at(settings_.linear_weighting, counter.observed);
}

void Learner::observe_game(std::size_t game, StepCounter& counter) {
  const StepCounter before = counter;
  counter.weight = before.weight * discount(before) + 1.0;
  counter.average_weight =
      before.average_weight * discount_at(settings_.linear_average, before.observed) + 1.0;
  ++counter.observed;
  for (std::size_t s = first_seat_[game]; s < first_seat_[game + 1]; ++s) {
    learn(seats_[s], before, counter, utilities_.data() + seats_[s].first_action);
  }
}

void Learner::learn(const Seat& seat, const StepCounter& before, const StepCounter& after,
                    const double* utilities) {
  if (seat.actions == 0) return;
  const double fade = discount(before);
  const double fade_average = discount_at(settings_.linear_average, before.observed);
  for (std::size_t k = 0; k < seat.types; ++k) {
    const std::size_t type = seat.first_type + k;
    const std::size_t slot = slot_of(seat, k);
    const double gained = kernel::dot(seat.blocks, current_.data() + slot, utilities);
    kernel::discount_add(seat.blocks, fade_average, current_.data() + slot, average_.data() + slot);
    earned_[type] = earned_[type] * fade + gained;
    paid_[type] = paid_[type] * fade + divergence_[type];
    // West's update of a weighted mean and of the weighted squared deviations from it.
    const double off = gained - mean_[type];
    mean_[type] += off / after.weight;
    deviation_[type] = deviation_[type] * fade + off * (gained - mean_[type]);
    if (settings_.rule == Rule::kRegretMatching) match_regrets(seat, fade, gained, utilities);
  }
  kernel::discount_add(seat.blocks, fade, utilities, cumulative_.data() + seat.first_action);
  choose(seat, after, utilities);
}

// The policies of the next iteration, `counter.observed + 1`.
void Learner::choose(const Seat& seat, const StepCounter& counter, const double* utilities) {
  if (seat.actions == 0) return;
  const double* log_tau = log_tau_.data() + seat.first_action;
  for (std::size_t k = 0; k < seat.types; ++k) {
    const std::size_t type = seat.first_type + k;
    const std::size_t slot = slot_of(seat, k);
    const double lambda = types_.lambda[type];
    double* policy = current_.data() + slot;
    if (settings_.rule == Rule::kHedge) {
      // Eq. 6: (η·CV + kλη·log τ)/(1 + kλη), k the weight of the anchor: t, or t - 1.
      const double count =
          settings_.anchor_first ? counter.weight * discount(counter) + 1.0 : counter.weight;
      double value_weight = 0.0, anchor_weight = 0.0;
      if (lambda == kInfinity) {
        anchor_weight = 1.0;
      } else if (count > 0.0) {
        value_weight = 1.0 / (1.0 / eta(type, count, counter) + count * lambda);
        anchor_weight = count * lambda * value_weight;
      }
      divergence_[type] =
          kernel::softmax(seat.blocks, value_weight, cumulative_.data() + seat.first_action,
                          anchor_weight, log_tau, outside_.data() + slot, policy);
    } else if (settings_.rule == Rule::kMirrorDescent) {
      // π' ∝ [π · τ^(ηλ) · exp(ηu)]^(1/(1 + ηλ)); before any iteration, the start as it is.
      const bool anchored = lambda < kInfinity;
      const double step = counter.observed > 0 && anchored ? types_.eta[type] : 0.0;
      divergence_[type] =
          kernel::mirror_step(seat.blocks, step, utilities, anchored ? step * lambda : 0.0,
                              log_tau, log_policy_.data() + slot, policy);
    } else if (counter.observed == 0) {
      std::fill_n(policy, seat.actions, 1.0 / static_cast<double>(seat.actions));
    }
  }
  if (seat.types > 1) {
    double* mixture = mixture_.data() + seat.first_action;
    std::fill_n(mixture, seat.actions, 0.0);
    for (std::size_t k = 0; k < seat.types; ++k) {
      kernel::add_scaled(seat.blocks, types_.share[seat.first_type + k],
                         current_.data() + slot_of(seat, k), mixture);
    }
  }
}

void Learner::match_regrets(const Seat& seat, double fade, double earned,
                            const double* utilities) {
  double* regret = regret_.data() + seat.first_action;
  double* policy = current_.data() + seat.first_slot;
  double sum = 0.0, best = -kInfinity;
  std::size_t largest = 0;
  for (std::size_t a = 0; a < seat.actions; ++a) {
    const double latest = utilities[a] - earned;
    const double total = regret[a] * fade + latest;
    regret[a] = settings_.plus ? std::max(total, 0.0) : total;
    const double basis = settings_.optimistic ? regret[a] + latest : regret[a];
    if (basis > best) {
      best = basis;
      largest = a;
    }
    policy[a] = std::max(basis, 0.0);
    sum += policy[a];
  }
  if (sum > 0.0) {
    for (std::size_t a = 0; a < seat.actions; ++a) policy[a] /= sum;
  } else if (settings_.largest) {
    std::fill_n(policy, seat.actions, 0.0);
    policy[largest] = 1.0;
  } else {
    std::fill_n(policy, seat.actions, 1.0 / static_cast<double>(seat.actions));
  }
}

std::vector<double> Learner::by_type(const std::vector<double>& padded) const {
  std::vector<double> flat;
  for (const Seat& seat : seats_) {
    for (std::size_t k = 0; k < seat.types; ++k) {
      const double* first = padded.data() + slot_of(seat, k);
      flat.insert(flat.end(), first, first + seat.actions);
    }
  }
  return flat;
}

std::vector<double> Learner::cumulative() const {
  std::vector<double> flat;
  for (const Seat& seat : seats_) {
    const double* first = cumulative_.data() + seat.first_action;
    flat.insert(flat.end(), first, first + seat.actions);
  }
  return flat;
}

double Learner::eta(std::size_t type, double count, const StepCounter& counter) const {
  const double scale = types_.eta[type];
  if (settings_.adaptive) {
    // c/(σ√k), σ the deviation across iterations of what this player earned (appendix H).
    const double variance = counter.weight > 0.0 ? deviation_[type] / counter.weight : 0.0;
    return scale / ((std::sqrt(std::max(variance, 0.0)) + kTiny) * std::sqrt(count));
  }
  const double decay = types_.decay[type];
  return decay > 0.0 ? scale * std::pow(static_cast<double>(counter.observed + 1), -decay) : scale;
}

}  // namespace kedge
