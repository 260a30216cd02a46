// The inputs of networks for positions and orders, and the choices of a power.
//
// All facts are numbers of rows in a table: a network adds up the rows. Row 0 is nothing. A fact
// about the seven powers has seven consecutive rows, so that powers are renamed by renaming rows.
#pragma once

#include <span>
#include <vector>

#include "diplomacy/position.hpp"

namespace kedge::diplomacy {

// Facts of a position: of each place, and then of each power, at most ten.
//   place: which, the phase, the unit there and the dislodged one (by type and power), who has the
//   centre, whose home it is, whether a unit may be built or removed; of the last movement's order
//   to a unit there its kind, whom it was for, and where to.
//   power: which, the phase, its centres, its units, what it may build or must remove.
// A fleet on one of two coasts appears at the coast and at the whole province.
inline constexpr int kTokens = kLocations + kPowers, kFacts = 10;
inline constexpr std::uint16_t kPlaceRow = 1, kPowerRow = kPlaceRow + kLocations,
                               kPhaseRow = kPowerRow + kPowers, kUnitRow = kPhaseRow + 5,
                               kDislodgedRow = kUnitRow + 2 * kPowers,
                               kCentreRow = kDislodgedRow + 2 * kPowers,  // the eighth: nobody's
                               kHomeRow = kCentreRow + kPowers + 1,
                               kAdjustableRow = kHomeRow + kPowers,  // built on, removed
                               kKindRow = kAdjustableRow + 2, kTargetRow = kKindRow + 11,
                               kDestinationRow = kTargetRow + kLocations,
                               kCentresRow = kDestinationRow + kLocations,
                               kUnitsRow = kCentresRow + kCentres + 1,
                               kAdjustmentRow = kUnitsRow + kCentres + 1,  // from −17 on
                               kFactRows = kAdjustmentRow + kCentres + 1;
// Where rows of seven powers begin.
inline constexpr std::array<std::uint16_t, 7> kRowsByPower{
    kPowerRow, kUnitRow, kUnitRow + kPowers, kDislodgedRow, kDislodgedRow + kPowers, kCentreRow,
    kHomeRow};

void tell(const Position& position, std::span<const Packed> previous, std::uint16_t* out);

// Facts of an order, three that are always the same (its kind with the place it is for, whom it
// supports or convoys, and from where to where that one goes) and two places that a network is
// to look at, each for one of four purposes: where the unit goes, where the one that it helps
// goes, the one that it helps, and where a unit is built or removed.
inline constexpr int kOrderFacts = 5, kPurposes = 4;
void tell_order(const Order& order, std::uint16_t* out);
std::uint16_t order_rows();  // of the first three
inline constexpr std::uint16_t kLookRows = 1 + kPurposes * kLocations;

// One choice that a power has: among the orders of a unit, or among its builds or removals, of
// which it has as many alike as it may make. These are at no place, so at kLocations.
struct Slot {
  Power power;
  Location place;
  std::vector<Packed> orders;  // ascending by place; with builds the last is to waive
};

// The choices of one power, or of all, power by power and ascending by place.
std::vector<Slot> slots(const Position& position, Power power = kNobody);

}  // namespace kedge::diplomacy
