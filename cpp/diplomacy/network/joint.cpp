#include "diplomacy/network/joint.hpp"

#include <algorithm>

namespace kedge::diplomacy {

JointActions::JointActions(std::vector<Position> roots,
                           const std::vector<std::span<const Packed>>& candidates,
                           std::span<const std::int64_t> counts, std::span<const bool> valued,
                           std::size_t threads)
    : roots_(std::move(roots)), counts_(counts.begin(), counts.end()), workers_(threads) {
  for (std::int64_t i = 0; i < std::ssize(counts_); ++i) {
    first_.push_back(std::ssize(legal_));
    for (std::int64_t index = 0; index < counts_[i]; ++index) {
      if (valued[i]) valued_.push_back({i / kPowers, i % kPowers, index});
      const std::span<const Packed> orders = candidates[legal_.size()];
      legalise(roots_[i / kPowers], orders, legal_.emplace_back());
    }
  }
}

JointActions::Joint JointActions::joint(const Candidate& candidate,
                                        std::span<const std::int64_t> sampled) const {
  Joint played;
  for (std::int64_t power = 0; power < kPowers; ++power) {
    const auto at = static_cast<std::size_t>(candidate.root * kPowers + power);
    played[power] = first_[at] + (power == candidate.power ? candidate.index : sampled[at]);
  }
  return played;
}

Position JointActions::after(std::int64_t root, const Joint& played) const {
  std::vector<Order> orders;
  orders.reserve(kCentres);
  for (const std::int64_t candidate : played) {
    const std::vector<Order>& own = legal_[static_cast<std::size_t>(candidate)];
    orders.insert(orders.end(), own.begin(), own.end());
  }
  return adjudicate(roots_[static_cast<std::size_t>(root)], orders);
}

void JointActions::reach(std::span<const std::int64_t> sampled, std::vector<std::int64_t>& where,
                         std::vector<Position>& reached, std::vector<std::int64_t>& from,
                         std::vector<std::int64_t>& played) {
  constexpr int kBits = 6;
  constexpr std::size_t kChunk = 64;
  keys_.clear();
  for (const auto& [root, power, index] : valued_) {
    const std::int64_t* actions = sampled.data() + root * kPowers;
    auto key = static_cast<std::uint64_t>(root);
    for (std::int64_t p = kPowers - 1; p >= 0; --p) {
      key = key << kBits | static_cast<std::uint64_t>(p == power ? index : actions[p]);
    }
    keys_.push_back(key);
  }
  numbers_.clear();
  fresh_.clear();
  actions_.number(keys_, numbers_, fresh_);

  joints_.resize(fresh_.size());
  next_.resize(fresh_.size());
  workers_.run((fresh_.size() + kChunk - 1) / kChunk, [&](std::size_t chunk) {
    for (std::size_t i = chunk * kChunk; i < std::min(fresh_.size(), (chunk + 1) * kChunk); ++i) {
      const Candidate& candidate = valued_[static_cast<std::size_t>(fresh_[i])];
      joints_[i] = joint(candidate, sampled);
      next_[i] = after(candidate.root, joints_[i]);
    }
  });
  keys_.clear();
  for (const Position& position : next_) keys_.push_back(position.hash());
  new_.clear();
  positions_.number(keys_, position_of_, new_);
  for (const std::int64_t i : new_) {
    const auto at = static_cast<std::size_t>(i);
    reached.push_back(next_[at]);
    from.push_back(valued_[static_cast<std::size_t>(fresh_[at])].root);
    played.insert(played.end(), joints_[at].begin(), joints_[at].end());
  }
  where.assign(legal_.size(), -1);
  for (std::size_t i = 0; i < valued_.size(); ++i) {
    const auto& [root, power, index] = valued_[i];
    const std::int64_t position = position_of_[static_cast<std::size_t>(numbers_[i])];
    where[first_[root * kPowers + power] + index] = position * kPowers + power;
  }
}

}  // namespace kedge::diplomacy
