// A set of up to 128 small numbers: provinces, or places.
#pragma once

#include <bit>
#include <cstdint>

namespace kedge::diplomacy {

class Set {
 public:
  constexpr Set() = default;

  constexpr void add(std::uint8_t i) { words_[i >> 6] |= std::uint64_t{1} << (i & 63); }
  constexpr void remove(std::uint8_t i) { words_[i >> 6] &= ~(std::uint64_t{1} << (i & 63)); }
  constexpr bool has(std::uint8_t i) const { return words_[i >> 6] >> (i & 63) & 1; }
  constexpr bool empty() const { return (words_[0] | words_[1]) == 0; }
  constexpr int count() const { return std::popcount(words_[0]) + std::popcount(words_[1]); }
  constexpr std::uint64_t word(int i) const { return words_[i]; }

  constexpr Set operator&(const Set& s) const {
    return Set(words_[0] & s.words_[0], words_[1] & s.words_[1]);
  }
  constexpr Set operator|(const Set& s) const {
    return Set(words_[0] | s.words_[0], words_[1] | s.words_[1]);
  }
  constexpr Set operator-(const Set& s) const {
    return Set(words_[0] & ~s.words_[0], words_[1] & ~s.words_[1]);
  }
  constexpr Set& operator|=(const Set& s) { return *this = *this | s; }
  constexpr Set& operator&=(const Set& s) { return *this = *this & s; }
  constexpr Set& operator-=(const Set& s) { return *this = *this - s; }
  constexpr bool operator==(const Set&) const = default;

  // Members in ascending order.
  class Iterator {
   public:
    constexpr Iterator(std::uint64_t low, std::uint64_t high) : low_(low), high_(high) {}
    constexpr std::uint8_t operator*() const {
      const int member = low_ ? std::countr_zero(low_) : 64 + std::countr_zero(high_);
      return static_cast<std::uint8_t>(member);
    }
    constexpr Iterator& operator++() {
      (low_ ? low_ : high_) &= (low_ ? low_ : high_) - 1;
      return *this;
    }
    constexpr bool operator==(const Iterator&) const = default;

   private:
    std::uint64_t low_, high_;
  };
  constexpr Iterator begin() const { return {words_[0], words_[1]}; }
  constexpr Iterator end() const { return {0, 0}; }

 private:
  constexpr Set(std::uint64_t low, std::uint64_t high) : words_{low, high} {}
  std::uint64_t words_[2] = {0, 0};
};

}  // namespace kedge::diplomacy
