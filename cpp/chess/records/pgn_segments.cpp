#include "chess/records/pgn_segments.hpp"

#include <algorithm>
#include <cstring>

#include "chess/text.hpp"

namespace kedge::chess {
namespace {

bool is_blank(std::string_view text) { return std::all_of(text.begin(), text.end(), is_space); }

// [Name "…: the start of a tag at the start of a line. Comments may have lines that start with a
// bracket, such as [%clk 0:01:00], but rarely with a name and a quote.
bool is_tag(std::string_view line) {
  if (line.size() < 4 || line[0] != '[') return false;
  std::size_t i = 1;
  const auto in_name = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  while (i < line.size() && in_name(line[i])) ++i;
  if (i == 1) return false;
  const std::size_t name_end = i;
  while (i < line.size() && (line[i] == ' ' || line[i] == '\t')) ++i;
  return i > name_end && i < line.size() && line[i] == '"';
}

// The end of the first tag of a row. Most rows have one tag.
std::size_t end_of_tag(std::string_view row) {
  for (std::size_t at = row.find(']'); at != row.npos; at = row.find(']', at + 1)) {
    const std::size_t next = row.find_first_not_of(" \t", at + 1);
    if (next != row.npos && is_tag(row.substr(next))) return next;
  }
  return row.size();
}

}  // namespace

// A tag after moves always starts a game, so an unclosed comment or variation damages only one.
std::vector<Segment> split_pgn(std::string_view text, bool last, Records& out) {
  enum { kBefore, kInTags, kInMoves } state = kBefore;
  std::vector<Segment> segments;
  Segment now;
  bool blank = false;  // a blank line since the last tag
  std::int64_t line = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const void* newline = std::memchr(text.data() + at, '\n', text.size() - at);
    if (newline == nullptr && !last) break;
    const std::size_t end =
        newline ? static_cast<std::size_t>(static_cast<const char*>(newline) - text.data())
                : text.size();
    const std::string_view row = text.substr(at, end - at);
    if (is_tag(row)) {
      const bool again = state == kInTags && blank && row.starts_with("[Event ");
      if (state == kInMoves || again) {
        now.end = at;
        if (state == kInTags) now.moves = at;
        segments.push_back(now);
        now = {at, at, 0, line};
      } else if (state == kBefore) {
        now = {at, at, 0, line};
      }
      state = kInTags;
      blank = false;
    } else if (state != kInMoves) {
      const char first = row.empty() ? '\n' : row[0];
      if (first == '%' || first == ';') {
      } else if (is_blank(row)) {
        blank = true;
      } else {
        if (state == kBefore) now = {at, at, 0, line};
        now.moves = at;
        state = kInMoves;
      }
    }
    at = newline ? end + 1 : end;
    ++line;
  }
  if (last) {
    now.end = text.size();
    if (state == kInTags) now.moves = now.end;
    if (state != kBefore) segments.push_back(now);
    out.consumed = text.size();
    out.lines = line;
  } else {
    // Text before the first game is dropped.
    out.consumed = state == kBefore ? at : now.begin;
    out.lines = state == kBefore ? line : now.line;
  }
  return segments;
}

void read_tags(std::string_view text, const Segment& segment, Record& record) {
  std::size_t at = segment.begin;
  while (at < segment.moves) {
    std::size_t end = text.find('\n', at);
    end = std::min(end == text.npos ? segment.moves : end, segment.moves);
    std::string_view row = text.substr(at, end - at);
    if (is_tag(row)) {
      row = row.substr(0, end_of_tag(row));
      const std::size_t open = row.find('"'), close = row.rfind('"');
      const std::size_t name_end = row.find_first_of(" \t");
      const std::string_view name = row.substr(1, name_end - 1);
      const auto known = std::find(kTags.begin(), kTags.end(), name);
      if (close > open && known != kTags.end()) {
        record.tags[static_cast<std::size_t>(known - kTags.begin())] = {
            static_cast<std::int32_t>(at + open + 1), static_cast<std::int32_t>(at + close)};
      }
    }
    at += row.size();
    if (at == end) ++at;
  }
}

}  // namespace kedge::chess
