// Reads games from text.
#include "chess/records/records.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "chess/records/pgn_comments.hpp"
#include "chess/records/pgn_segments.hpp"
#include "chess/text.hpp"
#include "parallel.hpp"

namespace kedge::chess {
namespace {

constexpr std::size_t kShare = 32;  // games that a thread takes at a time
constexpr std::size_t kQuoted = 20;  // letters of a token in an error

Outcome outcome_of(std::string_view token) {
  if (token == "1-0") return kWhiteWon;
  if (token == "0-1") return kBlackWon;
  if (token == "1/2-1/2") return kDrawn;
  return token == "*" ? kUnfinished : kNoOutcome;
}

// Reads one game's moves from the front of a text.
class Movetext {
 public:
  Movetext(std::string_view text, Records& out) : text_(text), out_(out) {}

  // Reads from `at_` to the end of the result, or of the text.
  void read(const Position& start, Record& record) {
    position_ = start;
    record_ = &record;
    depth_ = 0;
    number_ = 0;
    const std::size_t first = out_.actions.size();
    unclosed_ = false;
    while (at_ < text_.size() && record.outcome == kNoOutcome) step();
    if (record.broken.empty() && unclosed_) record.broken = "cut short: a comment is not closed";
    if (record.broken.empty() && depth_ > 0) record.broken = "a variation is not closed";
    if (!record.broken.empty()) out_.resize(first);
    record.plies = out_.actions.size() - first;
    const bool untagged = std::all_of(record.tags.begin(), record.tags.end(),
                                      [](Span tag) { return tag.end == 0; });
    record.noise = !record.broken.empty() && untagged && number_ == 0;
  }

  // Skips comments and results; returns whether anything else is left.
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
        const float clock = clock_in(comment), eval = eval_in(comment);
        if (!std::isnan(clock)) {
          out_.clocks.back() = clock;
          record_->has_clocks = true;
        }
        if (!std::isnan(eval)) {
          out_.evals.back() = eval;
          record_->has_evals = true;
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
      out_.actions.push_back(action);
      out_.clocks.push_back(kUnknown);
      out_.evals.push_back(kUnknown);
      ++number_;
      return;
    }
    // Marks written as words: "!?", "+-", "e.p.". But "--" is a null move.
    const bool mark = token != "--" && token.find_first_not_of("!?+-=#/") == token.npos;
    if (mark || (number_ > 0 && (token == "e.p." || token == "ep"))) return;
    record_->broken = "half-move " + std::to_string(number_ + 1) + ", " + quoted(token, kQuoted) +
                      ", is not a legal move";
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Records& out_;
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

  Movetext moves(text.substr(segment.moves, segment.end - segment.moves), out);
  moves.read(start.value_or(Position()), record);
  record.noise |= nul;
  const Outcome promised = outcome_of(slice(record.tags[kResultTag]));
  if (record.broken.empty() && record.outcome == kNoOutcome && promised != kNoOutcome &&
      promised != kUnfinished) {
    record.broken = "cut short: no result after the moves";
    out.resize(out.actions.size() - record.plies);
    record.plies = 0;
  }
  const bool untagged = segment.begin == segment.moves;
  const bool nothing = untagged && record.plies == 0 && record.outcome == kNoOutcome;
  if (!nothing || !record.broken.empty()) out.games.push_back(std::move(record));

  // Games without tags may follow.
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

// Reads shares of the games in parallel and joins them in order.
template <typename Read>
Records gather(std::size_t count, std::size_t threads, const Read& read) {
  std::vector<Records> shares((count + kShare - 1) / kShare);
  parallel_for(shares.size(), threads, [&](std::size_t i) {
    shares[i].reserve(80 * kShare);
    for (std::size_t g = kShare * i; g < std::min(count, kShare * (i + 1)); ++g) read(g, shares[i]);
  });
  Records out;
  std::size_t plies = 0;
  for (const Records& share : shares) plies += share.actions.size();
  out.reserve(plies);
  out.games.reserve(count);
  for (Records& share : shares) {
    std::move(share.games.begin(), share.games.end(), std::back_inserter(out.games));
    out.actions.insert(out.actions.end(), share.actions.begin(), share.actions.end());
    out.clocks.insert(out.clocks.end(), share.clocks.begin(), share.clocks.end());
    out.evals.insert(out.evals.end(), share.evals.begin(), share.evals.end());
  }
  return out;
}

}  // namespace

void Records::resize(std::size_t plies) {
  actions.resize(plies);
  clocks.resize(plies, kUnknown);
  evals.resize(plies, kUnknown);
}

void Records::reserve(std::size_t plies) {
  actions.reserve(plies);
  clocks.reserve(plies);
  evals.reserve(plies);
}

Records read_pgn(std::string_view text, bool last, std::size_t threads) {
  Records ends;
  const std::vector<Segment> segments = split_pgn(text, last, ends);
  Records out = gather(segments.size(), threads, [&](std::size_t i, Records& share) {
    read_segment(text, segments[i], share);
  });
  out.consumed = ends.consumed;
  out.lines = ends.lines;
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
                        quoted(token, kQuoted) + ", is not a legal move";
        share.actions.resize(first);
        break;
      }
      share.actions.push_back(action);
      at = end;
    }
    share.resize(share.actions.size());
    record.plies = share.actions.size() - first;
  });
}

}  // namespace kedge::chess
