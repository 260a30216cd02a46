#include "chess/records.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>

#include "parallel.hpp"

namespace kedge::chess {
namespace {

constexpr float kNoClock = std::numeric_limits<float>::quiet_NaN();
constexpr std::size_t kShare = 32;  // games that a thread takes at a time

bool is_file(char c) { return c >= 'a' && c <= 'h'; }
bool is_rank(char c) { return c >= '1' && c <= '8'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool is_blank(std::string_view text) { return std::all_of(text.begin(), text.end(), is_space); }

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text.substr(0, 20)) out += c >= ' ' && c <= '~' ? c : '?';
  return out + (text.size() > 20 ? "…'" : "'");
}

Piece piece_of(char letter) {
  switch (letter) {
    case 'N': return kKnight;
    case 'B': return kBishop;
    case 'R': return kRook;
    case 'Q': return kQueen;
    case 'K': return kKing;
    default: return kNoPiece;
  }
}

// Which of the mover's pieces of one kind could go to a square, were its king not in the way.
Bitboard origins_of(const Position& p, Piece piece, int to) {
  const Bitboard occupied = p.occupied();
  switch (piece) {
    case kKnight: return knight_attacks(to) & p.of(p.side, kKnight);
    case kBishop: return bishop_attacks(to, occupied) & p.of(p.side, kBishop);
    case kRook: return rook_attacks(to, occupied) & p.of(p.side, kRook);
    case kQueen:
      return (bishop_attacks(to, occupied) | rook_attacks(to, occupied)) & p.of(p.side, kQueen);
    default: return king_attacks(to) & p.of(p.side, kKing);
  }
}

// The plain forms, as programs write them. Whatever this does not take, `parse_san` judges.
Action play_plain_san(Position& p, std::string_view text) {
  while (!text.empty() && (text.back() == '+' || text.back() == '#')) text.remove_suffix(1);
  int promoted = 0;
  if (text.size() >= 4 && text[text.size() - 2] == '=') {
    const Piece piece = piece_of(text.back());
    if (piece > kQueen) return kNoAction;
    promoted = piece;
    text.remove_suffix(2);
  }
  if (text.size() < 2 || !is_file(text[text.size() - 2]) || !is_rank(text.back())) return kNoAction;
  const int to = 8 * (text.back() - '1') + text[text.size() - 2] - 'a';
  text.remove_suffix(2);

  Bitboard origins = 0;
  if (text.empty() || is_file(text[0])) {
    const int back = p.side == kWhite ? -8 : 8;
    const int from = to + back;
    if (from < 0 || from > 63) return kNoAction;
    const Bitboard pawns = p.of(p.side, kPawn);
    if (text.empty()) {
      if (pawns & bit(from)) {
        origins = bit(from);
      } else if (from + back >= 0 && from + back < 64) {
        origins = pawns & bit(from + back);
      }
    } else if (text.size() == 2 && text[1] == 'x') {
      const int file = text[0] - 'a', step = file - file_of(to);
      if (step != 1 && step != -1) return kNoAction;
      origins = pawns & bit(8 * rank_of(from) + file);
    }
  } else {
    const Piece piece = piece_of(text[0]);
    if (piece == kNoPiece || promoted) return kNoAction;
    text.remove_prefix(1);
    if (!text.empty() && text.back() == 'x') text.remove_suffix(1);
    origins = origins_of(p, piece, to);
    if (!text.empty() && is_file(text[0])) {
      origins &= file_mask(text[0] - 'a');
      text.remove_prefix(1);
    }
    if (!text.empty() && is_rank(text[0])) {
      origins &= rank_mask(text[0] - '1');
      text.remove_prefix(1);
    }
    if (!text.empty()) return kNoAction;
  }
  if (!origins) return kNoAction;
  if (!(origins & (origins - 1))) {
    const Action action = make_action(lowest(origins), to, promoted);
    return apply_if_legal(p, action) ? action : kNoAction;
  }
  Action found = kNoAction;
  Position after;
  for (Bitboard left = origins; left; left &= left - 1) {
    const Action action = make_action(lowest(left), to, promoted);
    Position next = p;
    if (!apply_if_legal(next, action)) continue;
    if (found != kNoAction) return kNoAction;  // ambiguous
    found = action;
    after = next;
  }
  if (found != kNoAction) p = after;
  return found;
}

// --- Splitting a text into games ----------------------------------------------------------------

struct Segment {
  std::size_t begin = 0, moves = 0, end = 0;  // tags from `begin`, moves from `moves`
  std::int64_t line = 0;
};

// [Name "…: the start of a tag at the start of a line. Comments may have lines that start with a
// bracket, such as [%clk 0:01:00], but hardly with this.
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

// A tag after moves starts a game, whatever the moves are like: a comment or a variation that is
// never closed costs its own game only.
std::vector<Segment> split(std::string_view text, bool last, Records& out) {
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
    // What stands before the first game is of no use.
    out.consumed = state == kBefore ? at : now.begin;
    out.lines = state == kBefore ? line : now.line;
  }
  return segments;
}

// Where the first of the tags in a row ends: most stand in a row of their own.
std::size_t end_of_tag(std::string_view row) {
  for (std::size_t at = row.find(']'); at != row.npos; at = row.find(']', at + 1)) {
    const std::size_t next = row.find_first_not_of(" \t", at + 1);
    if (next != row.npos && is_tag(row.substr(next))) return next;
  }
  return row.size();
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

// --- Movetext -----------------------------------------------------------------------------------

// The last [%clk h:mm:ss(.d)] of a comment.
float clock_in(std::string_view comment) {
  constexpr std::string_view kMark = "[%clk ";
  float found = kNoClock;
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
      found = static_cast<float>(seconds);
    }
  }
  return found;
}

Outcome outcome_of(std::string_view token) {
  if (token == "1-0") return kWhiteWon;
  if (token == "0-1") return kBlackWon;
  if (token == "1/2-1/2") return kDrawn;
  return token == "*" ? kUnfinished : kNoOutcome;
}

// Reads one game's moves from the front of a text.
class Movetext {
 public:
  Movetext(std::string_view text, std::vector<Action>& actions, std::vector<float>& clocks)
      : text_(text), actions_(actions), clocks_(clocks) {}

  // From `at_` past the result, or to the end.
  void read(const Position& start, Record& record) {
    position_ = start;
    record_ = &record;
    depth_ = 0;
    number_ = 0;
    const std::size_t first = actions_.size();
    unclosed_ = false;
    while (at_ < text_.size() && record.outcome == kNoOutcome) step();
    if (record.broken.empty() && unclosed_) record.broken = "cut short: a comment is not closed";
    if (record.broken.empty() && depth_ > 0) record.broken = "a variation is not closed";
    if (!record.broken.empty()) {
      actions_.resize(first);
      clocks_.resize(first);
    }
    record.plies = actions_.size() - first;
    const bool untagged = std::all_of(record.tags.begin(), record.tags.end(),
                                      [](Span tag) { return tag.end == 0; });
    record.noise = !record.broken.empty() && untagged && number_ == 0;
  }

  // Whether something like a move is left.
  bool more() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (is_space(c)) {
        ++at_;
      } else if (c == '{' || c == ';' || (c == '%' && at_line_start())) {
        skip_comment();
      } else if (c == '*' || c == ')' || c == '$') {
        ++at_;
      } else if (const std::string_view word = peek(); outcome_of(word) != kNoOutcome) {
        at_ += word.size();
      } else {
        return true;
      }
    }
    return false;
  }

  std::size_t at() const { return at_; }

 private:
  bool at_line_start() const { return at_ == 0 || text_[at_ - 1] == '\n'; }

  std::string_view peek() const {
    std::size_t end = at_ + 1;
    while (end < text_.size()) {
      const char c = text_[end];
      if (is_space(c) || c == '{' || c == '(' || c == ')' || c == ';' || c == '$' || c == '}') break;
      ++end;
    }
    return text_.substr(at_, end - at_);
  }

  std::string_view skip_comment() {
    const bool brace = text_[at_] == '{';
    const std::size_t start = at_ + 1, end = text_.find(brace ? '}' : '\n', start);
    if (end == text_.npos) {
      unclosed_ = unclosed_ || brace;
      at_ = text_.size();
      return text_.substr(start);
    }
    at_ = end + 1;
    return text_.substr(start, end - start);
  }

  void step() {
    const char c = text_[at_];
    if (is_space(c) || c == '.' || c == '}') {
      ++at_;
    } else if (c == '{') {
      const std::string_view comment = skip_comment();
      if (depth_ == 0 && number_ > 0 && record_->broken.empty()) {
        const float clock = clock_in(comment);
        if (!std::isnan(clock)) {
          clocks_.back() = clock;
          record_->has_clocks = true;
        }
      }
    } else if (c == ';' || (c == '%' && at_line_start())) {
      skip_comment();
    } else if (c == '(') {
      ++depth_;
      ++at_;
    } else if (c == ')') {
      if (depth_ > 0) --depth_;
      ++at_;
    } else if (c == '$') {
      for (++at_; at_ < text_.size() && is_digit(text_[at_]);) ++at_;
    } else {
      word(peek());
    }
  }

  void word(std::string_view token) {
    if (is_digit(token[0]) || token[0] == '*') {
      const Outcome outcome = outcome_of(token);
      if (outcome != kNoOutcome) {
        at_ += token.size();
        if (depth_ == 0) record_->outcome = outcome;
        return;
      }
      if (!token.starts_with("0-0")) {  // a move's number; the move may follow at once
        do ++at_;
        while (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.'));
        return;
      }
    }
    at_ += token.size();
    if (depth_ > 0 || !record_->broken.empty()) return;
    const Action action = play_san(position_, token);
    if (action != kNoAction) {
      actions_.push_back(action);
      clocks_.push_back(kNoClock);
      ++number_;
      return;
    }
    // Marks that people set apart: "!?", "+-", "e.p.". But "--" is a null move.
    const bool mark = token != "--" && token.find_first_not_of("!?+-=#/") == token.npos;
    if (mark || (number_ > 0 && (token == "e.p." || token == "ep"))) return;
    record_->broken = "half-move " + std::to_string(number_ + 1) + ", " + quoted(token) +
                      ", is not a legal move";
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Action>& actions_;
  std::vector<float>& clocks_;
  Position position_;
  Record* record_ = nullptr;
  int depth_ = 0;
  std::size_t number_ = 0;  // moves made
  bool unclosed_ = false;
};

std::optional<Position> start_of(std::string_view fen, std::string* error) {
  static const Position kStart = Board().position();
  if (fen.empty()) return kStart;
  const std::optional<Board> board = Board::from_fen(fen, error);
  if (!board) return std::nullopt;
  return board->position();
}

void read_segment(std::string_view text, const Segment& segment, Records& out) {
  const auto slice = [&](Span s) {
    return text.substr(static_cast<std::size_t>(s.begin), static_cast<std::size_t>(s.end - s.begin));
  };
  const auto newlines = [&](std::size_t begin, std::size_t end) {
    return std::count(text.data() + begin, text.data() + end, '\n');
  };
  Record record;
  record.line = segment.line;
  read_tags(text, segment, record);
  std::string error;
  const std::optional<Position> start = start_of(slice(record.tags[kFenTag]), &error);
  if (!start) record.broken = "FEN: " + error;
  const std::string_view whole = text.substr(segment.begin, segment.end - segment.begin);
  const bool nul = whole.find('\0') != whole.npos;
  if (nul) record.broken = "has NUL bytes";

  Movetext moves(text.substr(segment.moves, segment.end - segment.moves), out.actions, out.clocks);
  moves.read(start.value_or(Position()), record);
  record.noise |= nul;
  const Outcome promised = outcome_of(slice(record.tags[kResultTag]));
  if (record.broken.empty() && record.outcome == kNoOutcome && promised != kNoOutcome &&
      promised != kUnfinished) {
    record.broken = "cut short: no result after the moves";
    out.actions.resize(out.actions.size() - record.plies);
    out.clocks.resize(out.actions.size());
    record.plies = 0;
  }
  const bool untagged = segment.begin == segment.moves;
  const bool nothing = untagged && record.plies == 0 && record.outcome == kNoOutcome;
  if (!nothing || !record.broken.empty()) out.games.push_back(std::move(record));

  // More games may follow that have no tags.
  std::size_t counted = segment.begin;
  std::int64_t line = segment.line;
  while (!nul && moves.more()) {
    Record next;
    line += newlines(counted, segment.moves + moves.at());
    counted = segment.moves + moves.at();
    next.line = line;
    moves.read(*start_of("", &error), next);
    const bool something = next.plies > 0 || next.outcome != kNoOutcome || !next.broken.empty();
    if (something) out.games.push_back(std::move(next));
  }
}

// Shares of the work done each by itself, put together in order.
template <typename Read>
Records gather(std::size_t count, std::size_t threads, const Read& read) {
  std::vector<Records> shares((count + kShare - 1) / kShare);
  parallel_for(shares.size(), threads, [&](std::size_t i) {
    shares[i].actions.reserve(80 * kShare);
    shares[i].clocks.reserve(80 * kShare);
    for (std::size_t g = kShare * i; g < std::min(count, kShare * (i + 1)); ++g) read(g, shares[i]);
  });
  Records out;
  std::size_t plies = 0;
  for (const Records& share : shares) plies += share.actions.size();
  out.actions.reserve(plies);
  out.clocks.reserve(plies);
  out.games.reserve(count);
  for (Records& share : shares) {
    std::move(share.games.begin(), share.games.end(), std::back_inserter(out.games));
    out.actions.insert(out.actions.end(), share.actions.begin(), share.actions.end());
    out.clocks.insert(out.clocks.end(), share.clocks.begin(), share.clocks.end());
  }
  return out;
}

}  // namespace

Action play_san(Position& p, std::string_view text) {
  Action action = play_plain_san(p, text);
  if (action == kNoAction && (action = parse_san(p, text)) != kNoAction) apply(p, action);
  return action;
}

Action play_uci(Position& p, std::string_view text) {
  if (text.size() == 4 && is_file(text[0]) && is_rank(text[1]) && is_file(text[2]) &&
      is_rank(text[3])) {
    const int from = 8 * (text[1] - '1') + text[0] - 'a', to = 8 * (text[3] - '1') + text[2] - 'a';
    const Action action = make_action(from, to);
    if (apply_if_legal(p, action)) return action;
  }
  const Action action = parse_uci(p, text);
  if (action != kNoAction) apply(p, action);
  return action;
}

Records read_pgn(std::string_view text, bool last, std::size_t threads) {
  Records found;
  const std::vector<Segment> segments = split(text, last, found);
  Records out = gather(segments.size(), threads, [&](std::size_t i, Records& share) {
    read_segment(text, segments[i], share);
  });
  out.consumed = found.consumed;
  out.lines = found.lines;
  return out;
}

Records read_uci(const std::vector<std::string_view>& moves,
                 const std::vector<std::string_view>& fens, std::size_t threads) {
  return gather(moves.size(), threads, [&](std::size_t i, Records& share) {
    Record& record = share.games.emplace_back();
    std::string error;
    std::optional<Position> position = start_of(fens[i], &error);
    if (!position) {
      record.broken = "FEN: " + error;
      return;
    }
    const std::size_t first = share.actions.size();
    const std::string_view text = moves[i];
    for (std::size_t at = 0; at < text.size();) {
      if (is_space(text[at])) {
        ++at;
        continue;
      }
      std::size_t end = at;
      while (end < text.size() && !is_space(text[end])) ++end;
      const std::string_view token = text.substr(at, end - at);
      const Action action = play_uci(*position, token);
      if (action == kNoAction) {
        record.broken = "half-move " + std::to_string(share.actions.size() - first + 1) + ", " +
                        quoted(token) + ", is not a legal move";
        share.actions.resize(first);
        break;
      }
      share.actions.push_back(action);
      at = end;
    }
    share.clocks.resize(share.actions.size(), kNoClock);
    record.plies = share.actions.size() - first;
  });
}

std::string write_moves(std::string_view fen, const Action* actions, const float* clocks,
                        std::size_t length, std::string* error) {
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
    numbered = clocks != nullptr && !std::isnan(clocks[ply]);
    if (numbered) {
      // Thousandths, of which trailing zeros are left out.
      const double limit = 1e9;
      const auto left = static_cast<long long>(
          std::llround(1000.0 * std::clamp<double>(clocks[ply], 0.0, limit)));
      char text[64];
      std::snprintf(text, sizeof text, "%lld:%02lld:%02lld.%03lld", left / 3600000,
                    left / 60000 % 60, left / 1000 % 60, left % 1000);
      std::string_view clock(text);
      if (left % 1000 == 0) clock.remove_suffix(4);
      if (left % 1000 != 0) clock = clock.substr(0, clock.find_last_not_of('0') + 1);
      out.append(" { [%clk ").append(clock).append("] }");
    }
    if (!white) ++number;
    p = next;
  }
  return out;
}

std::string encode_game(std::string_view fen, const Action* actions, std::size_t length,
                        const std::int64_t* plies, std::size_t count, Fill fill, EncodedRows out) {
  if (count == 0) return "";
  const auto [least, most] = std::minmax_element(plies, plies + count);
  if (*least < 0 || *most >= static_cast<std::int64_t>(length)) {
    return "has no half-move " + std::to_string(*least < 0 ? *least : *most);
  }
  Board board;
  if (!fen.empty()) {
    std::string error;
    std::optional<Board> first = Board::from_fen(fen, &error);
    if (!first) return "FEN: " + error;
    board = *std::move(first);
  }
  const std::size_t end = static_cast<std::size_t>(*most);
  for (std::size_t ply = 0; ply <= end; ++ply) {
    Position next = board.position();
    if (!apply_if_legal(next, actions[ply])) {
      return "half-move " + std::to_string(ply + 1) + " is not a legal move";
    }
    if (ply < end) board.push(actions[ply]);
  }
  const Position* line = &board.position(board.length() - 1);
  Action legal[kMaxActions];
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t ply = static_cast<std::size_t>(plies[i]);
    encode_planes(line, ply + 1, out.planes + kPlanes * i, out.rule50 + i, fill);
    out.played[i] = policy_index(line[ply], actions[ply]);
    std::uint64_t* words = out.legal + kLegalWords * i;
    std::fill(words, words + kLegalWords, 0);
    const std::size_t moves = generate(line[ply], legal);
    for (std::size_t m = 0; m < moves; ++m) {
      const std::uint16_t index = policy_index(line[ply], legal[m]);
      words[index / 64] |= std::uint64_t{1} << (index % 64);
    }
  }
  return "";
}

}  // namespace kedge::chess
