// Helpers of the readers of text: kinds of letters, and quotes for error messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kedge::chess {

inline bool is_file(char c) { return c >= 'a' && c <= 'h'; }
inline bool is_rank(char c) { return c >= '1' && c <= '8'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// At most `limit` printable letters, for a message of one line.
inline std::string quoted(std::string_view text, std::size_t limit) {
  std::string out = "'";
  for (const char c : text.substr(0, limit)) out += c >= ' ' && c <= '~' ? c : '?';
  return out + (text.size() > limit ? "…'" : "'");
}

}  // namespace kedge::chess
