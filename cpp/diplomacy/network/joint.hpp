// Joint actions made of the powers' candidates, and the positions that they lead to.
#pragma once

#include <span>
#include <vector>

#include "diplomacy/network/batch.hpp"
#include "parallel.hpp"
#include "numbering.hpp"

namespace kedge::diplomacy {

// One candidate of a power in one of several positions, the roots.
struct Candidate {
  std::int64_t root, power, index;
};

// A search needs the position after each candidate if all others play their samples. Each joint
// action is adjudicated once, and positions are numbered in the order of first occurrence.
class JointActions {
 public:
  // `candidates` are joint orders of one power. `counts` has the numbers of candidates by root and
  // power, and `valued` whether they need values. A power has at most 64, so that a joint action
  // has 42 bits.
  JointActions(std::vector<Position> roots,
               const std::vector<std::span<const Packed>>& candidates,
               std::span<const std::int64_t> counts, std::span<const bool> valued,
               std::size_t threads);

  bool has(std::size_t root, std::size_t power, std::int64_t index) const {
    return index >= 0 && index < counts_[root * kPowers + power];
  }
  std::size_t roots() const { return roots_.size(); }

  // Writes to `where` where to find the value of each candidate when the others play `sampled` (by
  // root and power): its place among the values of all positions, seven each, or −1 if it needs
  // none. New positions go to `reached`, their roots to `from`, and the candidates that the seven
  // powers played to reach them to `played`.
  void reach(std::span<const std::int64_t> sampled, std::vector<std::int64_t>& where,
             std::vector<Position>& reached, std::vector<std::int64_t>& from,
             std::vector<std::int64_t>& played);

 private:
  // The candidates that are played, by power.
  using Joint = std::array<std::int64_t, kPowers>;

  // Those that are played if a candidate deviates from `sampled`.
  Joint joint(const Candidate& candidate, std::span<const std::int64_t> sampled) const;
  Position after(std::int64_t root, const Joint& played) const;

  std::vector<Position> roots_;
  std::vector<std::vector<Order>> legal_;  // orders of each candidate, as from `legalise`
  std::vector<std::int64_t> counts_, first_;
  std::vector<Candidate> valued_;
  Numbering actions_, positions_;
  std::vector<std::int64_t> position_of_;  // by joint action
  std::vector<std::uint64_t> keys_;
  std::vector<std::int64_t> numbers_, fresh_, new_;
  std::vector<Joint> joints_;
  std::vector<Position> next_;
  Workers workers_;
};

}  // namespace kedge::diplomacy
