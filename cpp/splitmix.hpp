// Sebastiano Vigna's splitmix64: random numbers from a count, the same on every machine.
#pragma once

#include <cstdint>

namespace kedge {

constexpr std::uint64_t splitmix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

}  // namespace kedge
