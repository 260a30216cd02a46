// Writes moves as text.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "chess/records/pgn_comments.hpp"
#include "chess/records/records.hpp"

namespace kedge::chess {
namespace {

// Thousandths without trailing zeros.
std::string clock_text(float seconds) {
  const double limit = 1e9;
  const auto left = static_cast<long long>(
      std::llround(1000.0 * std::clamp<double>(seconds, 0.0, limit)));
  char text[64];
  std::snprintf(text, sizeof text, "%lld:%02lld:%02lld.%03lld", left / 3600000, left / 60000 % 60,
                left / 1000 % 60, left % 1000);
  std::string_view clock(text);
  if (left % 1000 == 0) clock.remove_suffix(4);
  if (left % 1000 != 0) clock = clock.substr(0, clock.find_last_not_of('0') + 1);
  return std::string(clock);
}

std::string eval_text(float eval) {
  const double size = std::min<double>(std::abs(eval), kMate - 1.0);
  const auto hundredths = std::llround(size);
  const char* sign = eval < 0.0f && hundredths > 0 ? "-" : "";
  char text[64];
  if (size > kMostCentipawns) {
    std::snprintf(text, sizeof text, "#%s%lld", sign, std::llround(kMate) - hundredths);
  } else {
    std::snprintf(text, sizeof text, "%s%lld.%02lld", sign, hundredths / 100, hundredths % 100);
  }
  return text;
}

}  // namespace

std::string write_moves(std::string_view fen, const Action* actions, const float* clocks,
                        const float* evals, std::size_t length, std::string* error) {
  Board start;
  if (!fen.empty()) {
    std::optional<Board> first = Board::from_fen(fen, error);
    if (!first) return "";
    start = *std::move(first);
  }
  Position p = start.position();
  unsigned number = start.first_move();
  std::string out;
  bool numbered = true;  // black's move needs its number at the start and after a comment
  for (std::size_t ply = 0; ply < length; ++ply) {
    Position next = p;
    if (!apply_if_legal(next, actions[ply])) {
      *error = "half-move " + std::to_string(ply + 1) + " is not a legal move";
      return "";
    }
    const bool white = p.side == kWhite;
    if (ply > 0) out += ' ';
    if (white || numbered) out += std::to_string(number) + (white ? ". " : "... ");
    out += san(p, actions[ply]);
    numbered = !std::isnan(evals[ply]) || !std::isnan(clocks[ply]);
    if (numbered) {
      out += " {";
      if (!std::isnan(evals[ply])) out += " [%eval " + eval_text(evals[ply]) + "]";
      if (!std::isnan(clocks[ply])) out += " [%clk " + clock_text(clocks[ply]) + "]";
      out += " }";
    }
    if (!white) ++number;
    p = next;
  }
  return out;
}

}  // namespace kedge::chess
