// The value of a position for each power, by a small network that takes the power's own view.
#pragma once

#include <span>
#include <vector>

#include "diplomacy/position.hpp"

namespace kedge::diplomacy {

// What a power sees, as rows of a table (row 0 is nothing): where its units and those of others
// stand, which centres are its own, others' or nobody's; of each province who is there, and with
// how many units it and the strongest other could move in; the phase; who it is; how many centres
// and units it has, what it may build, and how many each other has. It does not distinguish the
// other powers, so that what it learns about one holds for all.
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
