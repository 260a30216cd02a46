// The features of a game for one player, in the layout of the Hanabi Learning Environment.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hanabi/game.hpp"

namespace kedge::hanabi {

// A view is the end of a row: with all hands, the player's own first; without its own; or without
// any hand.
enum class View : std::uint8_t { kFull, kPrivate, kPublic };

std::size_t features(const Rules& rules, View view);

// Writes `features` zeros and ones, as float or std::uint8_t.
template <typename Number>
void encode(const Rules& rules, const Game& game, int seat, View view, Number* row);

// Replaces the possible values of each card, in a row of `encode`, by their probabilities given the
// cards that were neither discarded nor played.
void weigh(const Rules& rules, const Game& game, int seat, View view, float* row);

}  // namespace kedge::hanabi
