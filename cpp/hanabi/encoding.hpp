// What a player sees of a game, as the Hanabi Learning Environment lays it out for networks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hanabi/game.hpp"

namespace kedge::hanabi {

// A view is a row's end: all hands, the player's own first; less that one; or without any.
enum class View : std::uint8_t { kFull, kPrivate, kPublic };

std::size_t features(const Rules& rules, View view);

// Zeros and ones, as float or std::uint8_t, of `features` numbers.
template <typename Number>
void encode(const Rules& rules, const Game& game, int seat, View view, Number* row);

// Turns what each card may be, in a row of encode's, into how likely that is by what all see: the
// cards that were neither discarded nor played.
void weigh(const Rules& rules, const Game& game, int seat, View view, float* row);

}  // namespace kedge::hanabi
