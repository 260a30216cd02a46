#include "diplomacy/network/joint.hpp"

#include <algorithm>
#include <numeric>

namespace kedge::diplomacy {

JointActions::JointActions(std::vector<Position> roots, std::span<const Packed> table,
                           std::size_t slots, std::vector<std::int64_t> counts,
                           std::vector<Candidate> asked, std::size_t threads)
    : roots_(std::move(roots)), table_(table.size(), 0), slots_(slots), counts_(std::move(counts)),
      first_(counts_.size()), asked_(std::move(asked)), workers_(threads) {
  std::exclusive_scan(counts_.begin(), counts_.end(), first_.begin(), std::int64_t{0});
  std::size_t at = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    const Position& position = roots_[i / kPowers];
    const Convoys convoys(position);
    const std::size_t end = at + static_cast<std::size_t>(counts_[i]) * slots_;
    for (; at < end; ++at) {
      const std::optional<Order> order = unpack(table[at]);
      const std::optional<Order> legal =
          order ? legalise(position, convoys, *order) : std::nullopt;
      if (legal) table_[at] = pack(*legal);
    }
  }
}

Position JointActions::after(const Candidate& candidate,
                             std::span<const std::int64_t> sampled) const {
  std::array<Packed, kPowers * kCentres> orders;
  std::size_t count = 0;
  const auto root = static_cast<std::size_t>(candidate.root);
  for (std::size_t power = 0; power < kPowers; ++power) {
    const bool own = static_cast<std::int64_t>(power) == candidate.power;
    for (const Packed order :
         row(root, power, own ? candidate.index : sampled[root * kPowers + power])) {
      if (order != 0) orders[count++] = order;
    }
  }
  return adjudicate(roots_[root], {orders.data(), count}, Orders::kLegal);
}

void JointActions::reach(std::span<const std::int64_t> sampled, std::vector<std::int64_t>& numbers,
                         std::vector<Position>& reached, std::vector<std::int64_t>& by) {
  constexpr int kBits = 6;
  constexpr std::size_t kChunk = 64;
  keys_.clear();
  for (const auto& [root, power, index] : asked_) {
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

  next_.resize(fresh_.size());
  workers_.run((fresh_.size() + kChunk - 1) / kChunk, [&](std::size_t chunk) {
    for (std::size_t i = chunk * kChunk; i < std::min(fresh_.size(), (chunk + 1) * kChunk); ++i) {
      next_[i] = after(asked_[static_cast<std::size_t>(fresh_[i])], sampled);
    }
  });
  keys_.clear();
  for (const Position& position : next_) keys_.push_back(position.hash());
  new_.clear();
  positions_.number(keys_, position_of_, new_);
  for (const std::int64_t i : new_) {
    reached.push_back(next_[static_cast<std::size_t>(i)]);
    by.push_back(fresh_[static_cast<std::size_t>(i)]);
  }
  for (const std::int64_t number : numbers_) {
    numbers.push_back(position_of_[static_cast<std::size_t>(number)]);
  }
}

}  // namespace kedge::diplomacy
