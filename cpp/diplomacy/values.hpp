// What positions are worth to each power, by a small network that sees them with its eyes.
#pragma once

#include <span>
#include <vector>

#include "diplomacy/position.hpp"

namespace kedge::diplomacy {

// What a power sees, as rows of a table (row 0 is nothing): where its units and those of others
// stand, which centres are its own, others' or nobody's; of each province who is there, and with
// how many units it and the strongest other could move in; the phase; who it is; how many centres
// and units it has, what it may build, and how many each other has. To all powers but itself it is
// blind otherwise, so that what is learned of one is known of all.
inline constexpr int kSeen = 176;  // at most so many
inline constexpr std::uint16_t kSeenUnit = 1, kSeenDislodged = kSeenUnit + 4 * kLocations,
                               kSeenCentre = kSeenDislodged + 4 * kLocations,
                               kSeenPhase = kSeenCentre + 3 * kLocations,
                               kSeenSelf = kSeenPhase + 5, kSeenOwn = kSeenSelf + kPowers,
                               kSeenOther = kSeenOwn + 3 * (kCentres + 1),
                               kSeenStrength = kSeenOther + 2 * (kCentres + 1),
                               kSeenRows = kSeenStrength + 3 * 4 * 4 * kProvinces;

// Rows of what `power` sees, kSeen of them, the rest 0.
void see(const Position& position, Power power, std::uint16_t* out);

// Of the rows that a power sees the sum, what is positive of it, a layer on that, what is positive
// of it, and a number. The powers' shares are those numbers' softmax; who has nothing left gets
// nothing.
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
