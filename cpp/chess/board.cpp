#include "chess/board.hpp"

#include <algorithm>

namespace kedge::chess {

Board::Board() {
  constexpr Piece kBack[8] = {kRook, kKnight, kBishop, kQueen, kKing, kBishop, kKnight, kRook};
  Position p;
  for (int file = 0; file < 8; ++file) p.pieces[kBack[file]] |= bit(file) | bit(56 + file);
  p.pieces[kPawn] = rank_mask(1) | rank_mask(6);
  p.colours[kWhite] = rank_mask(0) | rank_mask(1);
  p.colours[kBlack] = rank_mask(6) | rank_mask(7);
  p.castling = kWhiteKingside | kWhiteQueenside | kBlackKingside | kBlackQueenside;
  p.key = key_of(p);
  line_.push_back(p);
}

void Board::push(Action action) {
  Position next = line_.back();
  apply(next, action);
  // No position before the last capture or pawn move can recur, and a position needs at least
  // four half-moves to recur.
  const std::size_t here = line_.size(), reach = std::min<std::size_t>(next.rule50, here);
  for (std::size_t back = 4; back <= reach; back += 2) {
    const Position& earlier = line_[here - back];
    if (same(earlier, next)) {
      next.repetitions = static_cast<std::uint16_t>(earlier.repetitions + 1);
      break;
    }
  }
  line_.push_back(next);
}

void Board::pop() { line_.pop_back(); }

bool Board::is_draw_by_rule() const {
  const Position& p = position();
  return p.rule50 >= 100 || p.repetitions >= 2 || insufficient_material(p);
}

bool Board::is_terminal() const { return is_draw_by_rule() || count_legal(position()) == 0; }

double Board::terminal_value() const {
  return position().in_check() && count_legal(position()) == 0 ? -1.0 : 0.0;
}

}  // namespace kedge::chess
