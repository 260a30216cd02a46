// The inputs of networks for positions and orders, and the choices of a power.
//
// All facts are numbers of rows in a table: a network adds up the rows. Row 0 is nothing. A fact
// about the seven powers has seven consecutive rows, so that powers are renamed by renaming rows.
#pragma once

#include <span>
#include <vector>

#include "diplomacy/position.hpp"

namespace kedge::diplomacy {

// Facts of a position: at most ten for each place, then at most ten for each power.
//   place: its number, the phase, its unit and dislodged unit (by type and power), the owner of the
//   centre, the power whose home it is, whether a unit may be built or removed; and the last order
//   to move of a unit there: its kind, the unit it was for, and its destination.
//   power: its number, the phase, its centres, its units, its builds or removals.
// A fleet on one of two coasts appears at the coast and at the whole province.
inline constexpr int kTokens = kLocations + kPowers, kFacts = 10;
inline constexpr std::uint16_t kPlaceRow = 1, kPowerRow = kPlaceRow + kLocations,
                               kPhaseRow = kPowerRow + kPowers, kUnitRow = kPhaseRow + 5,
                               kDislodgedRow = kUnitRow + 2 * kPowers,
                               kCentreRow = kDislodgedRow + 2 * kPowers,  // eighth row: no owner
                               kHomeRow = kCentreRow + kPowers + 1,
                               kAdjustableRow = kHomeRow + kPowers,  // built on, removed
                               kKindRow = kAdjustableRow + 2, kTargetRow = kKindRow + 11,
                               kDestinationRow = kTargetRow + kLocations,
                               kCentresRow = kDestinationRow + kLocations,
                               kUnitsRow = kCentresRow + kCentres + 1,
                               kAdjustmentRow = kUnitsRow + kCentres + 1,  // from −17 on
                               kFactRows = kAdjustmentRow + kCentres + 1;
// First rows of the facts about seven powers.
inline constexpr std::array<std::uint16_t, 7> kRowsByPower{
    kPowerRow, kUnitRow, kUnitRow + kPowers, kDislodgedRow, kDislodgedRow + kPowers, kCentreRow,
    kHomeRow};

void write_facts(const Position& position, std::span<const Packed> previous, std::uint16_t* out);

// Facts of an order. Three do not depend on the position: its kind and place, the unit that it
// supports or convoys, and that unit's way. Two are places for the network to look at, each for
// one of four purposes: the unit's destination, the helped unit's destination, the helped unit,
// and the place of a build or removal.
inline constexpr int kOrderFacts = 5, kPurposes = 4;
void write_order_facts(const Order& order, std::uint16_t* out);
std::uint16_t order_rows();  // of the first three
inline constexpr std::uint16_t kLookRows = 1 + kPurposes * kLocations;

// One choice of a power: the order of a unit, or a build or removal. A power has one for each build
// or removal that it may make, all with the same orders; their place is kLocations.
struct Choice {
  Power power;
  Location place;
  std::vector<Packed> orders;  // ascending by place; with builds the last is to waive
};

// The choices of one power, or of all, power by power and ascending by place.
std::vector<Choice> choices_of(const Position& position, Power power = kNobody);

}  // namespace kedge::diplomacy
