#include "chess/records/pgn_comments.hpp"

#include <algorithm>
#include <cstddef>

#include "chess/text.hpp"

namespace kedge::chess {

float clock_in(std::string_view comment) {
  constexpr std::string_view kMark = "[%clk ";
  float clock = kUnknown;
  for (std::size_t at = comment.find(kMark); at != comment.npos; at = comment.find(kMark, at)) {
    at += kMark.size();
    while (at < comment.size() && is_space(comment[at])) ++at;
    double seconds = 0.0;
    int parts = 0;
    bool good = true;
    while (good && parts < 3) {
      double part = 0.0;
      const std::size_t start = at;
      while (at < comment.size() && is_digit(comment[at]) && at - start < 9) {
        part = 10.0 * part + (comment[at++] - '0');
      }
      good = at > start;
      seconds = 60.0 * seconds + part;
      ++parts;
      if (at < comment.size() && comment[at] == ':') {
        ++at;
        continue;
      }
      break;
    }
    if (at < comment.size() && comment[at] == '.') {
      double unit = 0.1;
      for (++at; at < comment.size() && is_digit(comment[at]); ++at, unit *= 0.1) {
        seconds += unit * (comment[at] - '0');
      }
    }
    if (good && parts >= 2 && at < comment.size() && comment[at] == ']') {
      clock = static_cast<float>(seconds);
    }
  }
  return clock;
}

float eval_in(std::string_view comment) {
  constexpr std::string_view kMark = "[%eval ";
  float eval = kUnknown;
  for (std::size_t at = comment.find(kMark); at != comment.npos; at = comment.find(kMark, at)) {
    at += kMark.size();
    const auto is = [&](char c) { return at < comment.size() && comment[at] == c; };
    // Reads digits, of which those after the ninth do not count.
    const auto digits = [&](double number, double* unit) {
      const std::size_t start = at;
      for (; at < comment.size() && is_digit(comment[at]); ++at) {
        if (at - start >= 9) continue;
        number = 10.0 * number + (comment[at] - '0');
        *unit *= 10.0;
      }
      return number;
    };
    while (at < comment.size() && is_space(comment[at])) ++at;
    const bool mate = is('#');
    at += mate;
    const double sign = is('-') ? -1.0 : 1.0;
    at += is('-') || is('+');
    double whole = 1.0, unit = 1.0;
    double number = digits(0.0, &whole);
    if (!mate && is('.')) {
      ++at;
      number = digits(number, &unit);
    }
    const bool good = whole > 1.0 || unit > 1.0;
    if (is(',')) {
      double depth = 1.0;
      ++at;
      digits(0.0, &depth);
    }
    if (!good || !is(']')) continue;
    if (!mate) {
      const double centipawns = std::min<double>(100.0 * number / unit, kMostCentipawns);
      eval = static_cast<float>(sign * centipawns);
    } else if (number > 0.0) {  // #0 does not say who is mated
      eval = static_cast<float>(sign * (kMate - std::min<double>(number, kFarthestMate)));
    }
  }
  return eval;
}

}  // namespace kedge::chess
