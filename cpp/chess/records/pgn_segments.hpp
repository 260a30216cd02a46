// The parts of a PGN text: one segment per game, and its tags.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "chess/records/records.hpp"

namespace kedge::chess {

struct Segment {
  std::size_t begin = 0, moves = 0, end = 0;  // tags from `begin`, moves from `moves`
  std::int64_t line = 0;
};

// Splits a text into games, and sets what is consumed: see read_pgn.
std::vector<Segment> split_pgn(std::string_view text, bool last, Records& out);

// Reads a game's tags into its record.
void read_tags(std::string_view text, const Segment& segment, Record& record);

}  // namespace kedge::chess
