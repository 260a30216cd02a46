// A player by simple conventions, specified by tests/games/plain_conventions.py. What it remembers,
// all have seen: of every card in hand, what it may be by the hints and by what hints mean.
#pragma once

#include "hanabi/game.hpp"

namespace kedge::hanabi {

// Of every card in hand, what it may be; and kClued once a hint was about it.
using Marks = std::array<std::array<Cards, kMaxHand>, kMaxPlayers>;
inline constexpr Cards kClued = Cards{1} << 31;

// What all see of each kind of card.
struct Table {
  Table(const Rules& rules, const Game& game);

  bool is_certain(Cards mark) const { return (mark & ~kClued & ~playable) == 0; }
  bool is_useless(Cards mark) const { return (mark & needed) == 0; }

  Cards there = 0;     // in hands or in the pile
  Cards needed = 0;    // to be played yet, unless one before it is lost
  Cards critical = 0;  // of those, the last of its kind
  Cards playable = 0;  // of those, the next on its stack
};

// What all think after the last move, having thought `marks` before it.
void observe(const Rules& rules, const Game& game, const Table& table, Marks& marks);
// What who is to move does, by what it sees; the game is not over, and it was observed.
Action choose(const Rules& rules, const Game& game, const Table& table, const Marks& marks);
// The score of a game that goes on like this, its last move not yet observed.
int play_out(const Rules& rules, Game& game, Marks& marks);

}  // namespace kedge::hanabi
