// FEN, UCI and SAN: the members of Board that read and write text.
#include <algorithm>
#include <array>

#include "chess/board.hpp"
#include "chess/text.hpp"

namespace kedge::chess {
namespace {

constexpr std::string_view kLetters = "PNBRQK";
constexpr std::string_view kBlackLetters = "pnbrqk";
constexpr std::string_view kRightsLetters = "KQkq";  // in the order of Castling's bits
constexpr std::string_view kSpace = " \t\r\n\v\f";
constexpr std::size_t kQuoted = 40;  // letters of a text in an error

std::string square_name(int square) {
  return {static_cast<char>('a' + file_of(square)), static_cast<char>('1' + rank_of(square))};
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> out;
  while (out.size() < 8) {
    const std::size_t start = text.find_first_not_of(kSpace);
    if (start == text.npos) break;
    text.remove_prefix(start);
    const std::size_t end = std::min(text.find_first_of(kSpace), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

std::string parse_pieces(std::string_view text, Position& p) {
  int rank = 7, file = 0;
  bool after_digit = false;
  for (const char c : text) {
    if (c == '/') {
      if (file != 8) return "rank " + std::to_string(rank + 1) + " does not have 8 squares";
      if (--rank < 0) return "more than 8 ranks";
      file = 0;
      after_digit = false;
      continue;
    }
    if (c >= '1' && c <= '8') {
      if (after_digit) return "two digits in a row in rank " + std::to_string(rank + 1);
      after_digit = true;
      file += c - '0';
    } else {
      const std::size_t white = kLetters.find(c), black = kBlackLetters.find(c);
      const int colour = white != kLetters.npos ? kWhite : kBlack;
      const std::size_t piece = colour == kWhite ? white : black;
      if (piece == kLetters.npos) return quoted({&c, 1}, kQuoted) + " is not a piece";
      if (file >= 8) return "rank " + std::to_string(rank + 1) + " does not have 8 squares";
      p.pieces[piece] |= bit(8 * rank + file);
      p.colours[colour] |= bit(8 * rank + file);
      after_digit = false;
      ++file;
    }
    if (file > 8) return "rank " + std::to_string(rank + 1) + " does not have 8 squares";
  }
  if (rank != 0 || file != 8) return "the board does not have 8 ranks of 8 squares";
  return "";
}

std::string check_pieces(const Position& p) {
  constexpr int kAtStart[6] = {8, 2, 2, 2, 1, 1};
  for (int colour = 0; colour < 2; ++colour) {
    const std::string name = colour == kWhite ? "white" : "black";
    const int kings = std::popcount(p.of(colour, kKing));
    if (kings != 1) return name + " has " + std::to_string(kings) + " kings, not 1";
    const int pawns = std::popcount(p.of(colour, kPawn));
    if (pawns > 8) return name + " has " + std::to_string(pawns) + " pawns, at most 8";
    int promoted = 0;
    for (int piece = kKnight; piece <= kQueen; ++piece) {
      const int count = std::popcount(p.of(colour, static_cast<Piece>(piece)));
      promoted += std::max(0, count - kAtStart[piece]);
    }
    // This also keeps the number of legal moves within kMaxActions.
    if (promoted > 8 - pawns) return name + " has more pieces than promotions allow";
  }
  if (p.pieces[kPawn] & (rank_mask(0) | rank_mask(7))) return "a pawn is on the first or last rank";
  if (p.checkers(1 - p.side)) {
    return std::string(p.side == kWhite ? "black" : "white") + " is in check but not to move";
  }
  return "";
}

std::string parse_castling(std::string_view text, Position& p) {
  if (text == "-") return "";
  std::size_t black_from = 0;
  for (const char c : text) {
    const std::size_t i = kRightsLetters.find(c);
    const bool late_white = i < 2 && black_from > 0;
    if (i == kRightsLetters.npos || late_white || (p.castling >> i & 1)) {
      return "castling " + quoted(text, kQuoted) + " is not '-' or some of KQkq";
    }
    if (i >= 2) ++black_from;
    p.castling = static_cast<std::uint8_t>(p.castling | 1 << i);
  }
  // A right without its king and rook at home is dropped.
  for (int colour = 0; colour < 2; ++colour) {
    const int home = 56 * colour;
    const Bitboard rooks = p.of(colour, kRook);
    int keep = 0;
    if (p.of(colour, kKing) & bit(home + 4)) {
      keep = (rooks & bit(home + 7) ? 1 : 0) | (rooks & bit(home) ? 2 : 0);
    }
    const int others = colour == kWhite ? 12 : 3;
    p.castling = static_cast<std::uint8_t>(p.castling & (others | keep << (2 * colour)));
  }
  return "";
}

std::string parse_ep(std::string_view text, Position& p) {
  if (text == "-") return "";
  const char rank = p.side == kWhite ? '6' : '3';
  if (text.size() != 2 || !is_file(text[0]) || text[1] != rank) {
    return "en passant " + quoted(text, kQuoted) + " is not '-' or a square of rank " + rank;
  }
  const int square = 8 * (rank - '1') + text[0] - 'a';
  const int down = p.side == kWhite ? -8 : 8;
  const bool jumped = (p.of(1 - p.side, kPawn) & bit(square + down)) &&
                      !(p.occupied() & (bit(square) | bit(square - down)));
  // A square that no pawn can just have jumped over is dropped.
  if (jumped) p.ep = static_cast<std::uint8_t>(square);
  return "";
}

bool parse_number(std::string_view text, unsigned* out) {
  if (text.empty() || text.size() > 4) return false;
  *out = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    *out = 10 * *out + static_cast<unsigned>(c - '0');
  }
  return true;
}

int parse_square(std::string_view text) {
  if (text.size() != 2 || !is_file(text[0]) || !is_rank(text[1])) return -1;
  return 8 * (text[1] - '1') + text[0] - 'a';
}

// A SAN move without its marks: check, mate, comment glyphs, "e.p.".
std::string_view stripped(std::string_view text) {
  const auto trim = [&](std::string_view set) {
    const std::size_t last = text.find_last_not_of(set);
    text = text.substr(0, last == text.npos ? 0 : last + 1);
  };
  const std::size_t first = text.find_first_not_of(kSpace);
  text.remove_prefix(first == text.npos ? text.size() : first);
  trim(" \t\r\n\v\f+#!?");
  for (const std::string_view mark : {"e.p.", "e.p", "ep"}) {
    if (text.size() > mark.size() && text.ends_with(mark)) {
      text.remove_suffix(mark.size());
      trim(" \t\r\n\v\f+#!?");
      break;
    }
  }
  return text;
}

}  // namespace

std::optional<Board> Board::from_fen(std::string_view fen, std::string* error) {
  const auto fail = [&](std::string reason) {
    *error = std::move(reason);
    return std::nullopt;
  };
  const std::vector<std::string_view> fields = split(fen);
  if (fields.size() != 4 && fields.size() != 6) {
    return fail("has " + std::to_string(fields.size()) + (fields.size() == 8 ? " or more" : "") +
                " fields, not 6 (or 4: no counters)");
  }
  Position p;
  if (std::string bad = parse_pieces(fields[0], p); !bad.empty()) return fail(std::move(bad));
  if (fields[1] != "w" && fields[1] != "b") {
    return fail("side to move " + quoted(fields[1], kQuoted) + " is not w or b");
  }
  p.side = fields[1] == "w" ? kWhite : kBlack;
  for (std::string bad : {check_pieces(p), parse_castling(fields[2], p), parse_ep(fields[3], p)}) {
    if (!bad.empty()) return fail(std::move(bad));
  }
  unsigned rule50 = 0, move = 1;
  if (fields.size() == 6) {
    if (!parse_number(fields[4], &rule50)) {
      return fail("half-move clock " + quoted(fields[4], kQuoted) +
                  " is not a number from 0 to 9999");
    }
    if (!parse_number(fields[5], &move)) {
      return fail("move number " + quoted(fields[5], kQuoted) + " is not a number from 0 to 9999");
    }
  }
  p.rule50 = static_cast<std::uint16_t>(rule50);
  find_legal_ep(p);
  p.key = key_of(p);
  return Board(p, std::max(1u, move));
}

std::string Board::fen() const {
  const Position& p = position();
  std::string out;
  for (int rank = 7; rank >= 0; --rank) {
    int empty = 0;
    for (int file = 0; file < 8; ++file) {
      const int square = 8 * rank + file;
      const Piece piece = p.piece_at(square);
      if (piece == kNoPiece) {
        ++empty;
        continue;
      }
      if (empty) out += static_cast<char>('0' + empty);
      empty = 0;
      out += (p.colours[kWhite] & bit(square) ? kLetters : kBlackLetters)[piece];
    }
    if (empty) out += static_cast<char>('0' + empty);
    if (rank) out += '/';
  }
  out += p.side == kWhite ? " w " : " b ";
  for (std::size_t i = 0; i < 4; ++i) {
    if (p.castling >> i & 1) out += kRightsLetters[i];
  }
  if (!p.castling) out += '-';
  // The square is written only if the capture is legal, as python-chess and Lichess do.
  out += ' ';
  out += p.ep_legal ? square_name(p.ep) : "-";
  const std::size_t moves = (line_.front().side + line_.size() - 1) / 2;
  return out + " " + std::to_string(p.rule50) + " " + std::to_string(first_move_ + moves);
}

std::string Board::uci(Action action) {
  std::string out = square_name(from_square(action)) + square_name(to_square(action));
  const int piece = promotion(action);
  if (piece >= kKnight && piece <= kQueen) out += kBlackLetters[piece];
  return out;
}

// Returns the legal move from one square to another, or kNoAction.
Action move_between(const Position& p, int from, int to, std::size_t promoted) {
  // Some interfaces write castling as king takes rook.
  if ((p.of(p.side, kKing) & bit(from)) && (p.of(p.side, kRook) & bit(to))) {
    to = to > from ? from + 2 : from - 2;
    if (file_of(from) != 4) return kNoAction;
  }
  const Action action = make_action(from, to, static_cast<int>(promoted));
  return is_legal(p, action) ? action : kNoAction;
}

Action parse_uci(const Position& p, std::string_view text) {
  if (text.size() < 4 || text.size() > 5) return kNoAction;
  const int from = parse_square(text.substr(0, 2));
  const int to = parse_square(text.substr(2, 2));
  std::size_t piece = 0;
  if (text.size() == 5) {
    piece = kBlackLetters.find(text[4]);
    if (piece < kKnight || piece > kQueen) return kNoAction;
  }
  return from < 0 || to < 0 ? kNoAction : move_between(p, from, to, piece);
}

Action parse_san(const Position& p, std::string_view text) {
  text = stripped(text);
  const int king = p.king(p.side);
  for (const char o : {'O', '0', 'o'}) {
    const char castle[5] = {o, '-', o, '-', o};
    const bool kingside = text == std::string_view(castle, 3);
    if (!kingside && text != std::string_view(castle, 5)) continue;
    if (king != 4 + 56 * p.side) return kNoAction;
    const Action action = make_action(king, kingside ? king + 2 : king - 2);
    return is_legal(p, action) ? action : kNoAction;
  }

  std::size_t promoted = 0;
  if (text.size() >= 3 && !is_rank(text.back())) {
    if (text.back() == ')' && text[text.size() - 3] == '(') {
      text.remove_suffix(1);  // e8(Q)
      promoted = kLetters.find(text.back());
      text.remove_suffix(2);
    } else {
      promoted = std::min(kLetters.find(text.back()), kBlackLetters.find(text.back()));
      text.remove_suffix(1);
      if (text.back() == '=' || text.back() == '/') text.remove_suffix(1);
    }
    if (promoted < kKnight || promoted > kQueen) return kNoAction;
  }
  if (text.size() < 2) return kNoAction;
  const int to = parse_square(text.substr(text.size() - 2));
  if (to < 0) return kNoAction;
  text.remove_suffix(2);
  std::size_t piece = kPawn;
  if (!text.empty() && kLetters.find(text[0]) != kLetters.npos) {
    piece = kLetters.find(text[0]);
    text.remove_prefix(1);
  }
  if (!text.empty() && (text.back() == 'x' || text.back() == '-' || text.back() == ':')) {
    text.remove_suffix(1);
  }
  // Both squares without a letter mean any piece, and castling too, as in python-chess.
  if (const int from = piece == kPawn ? parse_square(text) : -1; from >= 0) {
    return move_between(p, from, to, promoted);
  }
  Bitboard origins = p.of(p.side, static_cast<Piece>(piece));
  bool has_file = false;
  if (!text.empty() && is_file(text[0])) {
    origins &= file_mask(text[0] - 'a');
    has_file = true;
    text.remove_prefix(1);
  }
  if (!text.empty() && is_rank(text[0])) {
    origins &= rank_mask(text[0] - '1');
    text.remove_prefix(1);
  }
  if (!text.empty()) return kNoAction;
  // "d5" is a pawn's step; a capture names its file.
  if (piece == kPawn && !has_file) origins &= file_mask(file_of(to));

  Action actions[kMaxActions];
  const std::size_t count = generate(p, actions);
  Action match = kNoAction;
  for (std::size_t i = 0; i < count; ++i) {
    const Action action = actions[i];
    if (to_square(action) != to || static_cast<std::size_t>(promotion(action)) != promoted) continue;
    if (!(origins & bit(from_square(action)))) continue;
    if (piece == kKing && std::abs(file_of(from_square(action)) - file_of(to)) == 2) continue;
    if (match != kNoAction) return kNoAction;  // ambiguous
    match = action;
  }
  return match;
}

Action Board::parse_uci(std::string_view text) const { return chess::parse_uci(position(), text); }
Action Board::parse_san(std::string_view text) const { return chess::parse_san(position(), text); }

std::string san(const Position& p, Action action) {
  const int from = from_square(action), to = to_square(action);
  const Piece piece = p.piece_at(from);
  const bool captures = p.colours[1 - p.side] & bit(to);
  std::string out;
  if (piece == kKing && std::abs(file_of(to) - file_of(from)) == 2) {
    out = to > from ? "O-O" : "O-O-O";
  } else if (piece == kPawn) {
    if (file_of(from) != file_of(to)) out += {static_cast<char>('a' + file_of(from)), 'x'};
    out += square_name(to);
    if (promotion(action)) out += {'=', kLetters[promotion(action)]};
  } else {
    out += kLetters[piece];
    Action actions[kMaxActions];
    const std::size_t count = generate(p, actions);
    Bitboard rivals = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (to_square(actions[i]) == to) rivals |= bit(from_square(actions[i]));
    }
    rivals &= p.pieces[piece] & ~bit(from);
    if (rivals) {
      const bool file_tells = !(rivals & file_mask(file_of(from)));
      const bool rank_tells = !(rivals & rank_mask(rank_of(from)));
      if (file_tells || !rank_tells) out += square_name(from)[0];
      if (!file_tells) out += square_name(from)[1];
    }
    if (captures) out += 'x';
    out += square_name(to);
  }
  Position next = p;
  apply(next, action);
  if (next.in_check()) out += count_legal(next) == 0 ? '#' : '+';
  return out;
}

std::string Board::san(Action action) const { return chess::san(position(), action); }

}  // namespace kedge::chess
