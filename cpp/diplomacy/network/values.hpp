// The value of a position for each power, by a small network that takes the power's own view.
#pragma once

#include <span>
#include <vector>

#include "diplomacy/position.hpp"

namespace kedge::diplomacy {

// The view of a power, as rows of a table (row 0 is empty): the units and centres of itself, of
// others and of nobody; for each province its unit, and the numbers of units with which it and the
// strongest other power can move in; the phase; the power; how many centres, units and builds it
// has; and how many centres and units each other power has. A view does not distinguish the other
// powers, so that what a network learns about one holds for all.
inline constexpr int kSeen = 176;  // most rows that a power sees
inline constexpr std::uint16_t kSeenUnit = 1, kSeenDislodged = kSeenUnit + 4 * kLocations,
                               kSeenCentre = kSeenDislodged + 4 * kLocations,
                               kSeenPhase = kSeenCentre + 3 * kLocations,
                               kSeenSelf = kSeenPhase + 5, kSeenOwn = kSeenSelf + kPowers,
                               kSeenOther = kSeenOwn + 3 * (kCentres + 1),
                               kSeenStrength = kSeenOther + 2 * (kCentres + 1),
                               kSeenRows = kSeenStrength + 3 * 4 * 4 * kProvinces;

// The rows that `power` sees, padded with 0 to kSeen.
void see(const Position& position, Power power, std::uint16_t* out);

// A network: the sum of the rows that a power sees, ReLU, a dense layer, ReLU, and one output. The
// powers' shares are the softmax of their outputs; a power with nothing left gets 0.
struct ValueNetwork {
  std::size_t width, hidden;
  std::vector<float> rows;         // kSeenRows x width
  std::vector<float> bias;         // width
  std::vector<float> layer;        // width x hidden
  std::vector<float> layer_bias;   // hidden
  std::vector<float> out;          // hidden

  void shares(const Position& position, double* out) const;
};

}  // namespace kedge::diplomacy
