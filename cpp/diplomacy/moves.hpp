#pragma once

#include "diplomacy/position.hpp"

namespace kedge::diplomacy {

// The position after these moves, with the dislodged units that can retreat. The phase stays. Adds
// the provinces of units whose moves fail to `failed`, if it is given.
Position move_units(const Position& position, std::span<const Order> orders, Set* failed);

}  // namespace kedge::diplomacy
