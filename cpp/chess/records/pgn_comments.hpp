// The numbers that programs write in the comments of PGN. Each function returns the last valid one
// of a comment, or kUnknown.
#pragma once

#include <limits>
#include <string_view>

namespace kedge::chess {

inline constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

// An evaluation is in centipawns from White's view, at most kMostCentipawns. White mates in n moves
// at kMate − n, Black at n − kMate; n is at most kFarthestMate, so no mate looks like centipawns.
inline constexpr float kMate = 32000.0f, kFarthestMate = 1000.0f, kMostCentipawns = 30000.0f;

// The seconds of [%clk h:mm:ss(.d)].
float clock_in(std::string_view comment);

// The evaluation of [%eval 0.24], in pawns, or [%eval #-3]; a depth may follow: [%eval 0.24,18].
float eval_in(std::string_view comment);

}  // namespace kedge::chess
