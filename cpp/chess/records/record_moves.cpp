// Plays moves given as text: the fast path of the reader.
#include "chess/records/records.hpp"
#include "chess/text.hpp"

namespace kedge::chess {
namespace {

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

// The mover's pieces of one kind that attack a square; pins are ignored.
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

// Reads the plain forms that programs write; `parse_san` reads the others.
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
  Action match = kNoAction;
  Position after;
  for (Bitboard left = origins; left; left &= left - 1) {
    const Action action = make_action(lowest(left), to, promoted);
    Position next = p;
    if (!apply_if_legal(next, action)) continue;
    if (match != kNoAction) return kNoAction;  // ambiguous
    match = action;
    after = next;
  }
  if (match != kNoAction) p = after;
  return match;
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

}  // namespace kedge::chess
