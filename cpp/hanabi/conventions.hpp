// A player that follows simple conventions, specified by tests/games/plain_conventions.py. Its
// memory is public: the possible values of every card in hand, by hints and their meanings.
#pragma once

#include "hanabi/game.hpp"

namespace kedge::hanabi {

// The possible values of every card in hand, and kClued after a hint about it.
using Marks = std::array<std::array<Cards, kMaxHand>, kMaxPlayers>;
inline constexpr Cards kClued = Cards{1} << 31;

// Public facts about each kind of card.
struct Table {
  Table(const Rules& rules, const Game& game);

  bool is_certain(Cards mark) const { return (mark & ~kClued & ~playable) == 0; }
  bool is_useless(Cards mark) const { return (mark & needed) == 0; }

  Cards there = 0;     // in hands or in the pile
  Cards needed = 0;    // to be played yet, unless one before it is lost
  Cards critical = 0;  // of those, the last of its kind
  Cards playable = 0;  // of those, the next on its stack
};

// The public marks after the last move, given the `marks` before it.
void observe(const Rules& rules, const Game& game, const Table& table, Marks& marks);
// The mover's action by what it sees; the game must not be over, its last move observed.
Action choose(const Rules& rules, const Game& game, const Table& table, const Marks& marks);
// The score of a game played to its end by the conventions; its last move is not yet observed.
int play_out(const Rules& rules, Game& game, Marks& marks);

}  // namespace kedge::hanabi
