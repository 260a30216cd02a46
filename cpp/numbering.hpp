// Numbers keys, so that results computed once per key can be kept in an array.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "splitmix.hpp"

namespace kedge {

class Numbering {
 public:
  std::size_t size() const { return keys_.size(); }

  // The number of each key, from 0 in order of first occurrence, and the places in `keys` of the
  // new ones.
  void number(std::span<const std::uint64_t> keys, std::vector<std::int64_t>& numbers,
              std::vector<std::int64_t>& fresh) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (2 * keys_.size() >= slots_.size()) grow();
      std::uint32_t& slot = slots_[find(keys[i])];
      if (slot == 0) {
        keys_.push_back(keys[i]);
        slot = static_cast<std::uint32_t>(keys_.size());
        fresh.push_back(static_cast<std::int64_t>(i));
      }
      numbers.push_back(slot - 1);
    }
  }

 private:
  // The slot that holds the key, or an empty one for it.
  std::size_t find(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = splitmix(key) & mask;
    while (slots_[at] != 0 && keys_[slots_[at] - 1] != key) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    slots_.assign(slots_.empty() ? 1024 : 2 * slots_.size(), 0);
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      slots_[find(keys_[i])] = static_cast<std::uint32_t>(i + 1);
    }
  }

  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> slots_;  // 1 + a number, or 0
};

}  // namespace kedge
