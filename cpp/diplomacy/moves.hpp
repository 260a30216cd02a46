#pragma once

#include "diplomacy/position.hpp"

namespace kedge::diplomacy {

// The position after these moves, with the dislodged units that can retreat. The phase stays.
Position move_units(const Position& position, std::span<const Order> orders);

}  // namespace kedge::diplomacy
