#pragma once

#include "diplomacy/position.hpp"

namespace kedge::diplomacy {

// Units after these moves, and those they dislodged that have somewhere to go. The phase stays.
Position move_units(const Position& position, std::span<const Packed> orders, Orders known);

}  // namespace kedge::diplomacy
