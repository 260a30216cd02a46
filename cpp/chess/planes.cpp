#include "chess/planes.hpp"

#include <algorithm>
#include <array>

namespace kedge::chess {
namespace {

constexpr std::size_t kSteps = 8, kPlanesPerStep = 13, kAuxiliary = kSteps * kPlanesPerStep;

struct PolicyTable {
  std::array<Action, kPolicySize> moves{};
  std::array<std::uint16_t, 4096> index{};         // [from | to << 6]
  std::array<std::uint16_t, 3 * 8 * 8> promoted{};  // [q, r, b][file from][file to]
};

// From-square, then to-square ascending over all moves of a queen or a knight; then the promotions
// of white's pawns to queen, rook and bishop.
constexpr PolicyTable make_policy() {
  PolicyTable table;
  std::uint16_t next = 0;
  for (int from = 0; from < 64; ++from) {
    for (int to = 0; to < 64; ++to) {
      const int up = rank_of(to) - rank_of(from), right = file_of(to) - file_of(from);
      const int tall = up < 0 ? -up : up, wide = right < 0 ? -right : right;
      const bool queen = from != to && (tall == wide || tall == 0 || wide == 0);
      const bool knight = tall * wide == 2;
      if (!queen && !knight) continue;
      table.index[make_action(from, to)] = next;
      table.moves[next++] = make_action(from, to);
    }
  }
  for (int from = 0; from < 8; ++from) {
    for (int to = from > 0 ? from - 1 : 0; to <= from + 1 && to < 8; ++to) {
      for (int i = 0; i < 3; ++i) {
        table.promoted[64 * i + 8 * from + to] = next;
        table.moves[next++] = make_action(48 + from, 56 + to, kQueen - i);
      }
    }
  }
  return table;
}
constexpr PolicyTable kPolicy = make_policy();

bool is_start(const Position& p) {
  constexpr Bitboard kBack[6] = {0, 0x42, 0x24, 0x81, 0x08, 0x10};
  if (p.side != kWhite || p.castling != 15 || p.ep != kNoSquare) return false;
  if (p.pieces[kPawn] != (rank_mask(1) | rank_mask(6))) return false;
  if (p.colours[kWhite] != (rank_mask(0) | rank_mask(1))) return false;
  for (int piece = kKnight; piece <= kKing; ++piece) {
    if (p.pieces[piece] != (kBack[piece] | kBack[piece] << 56)) return false;
  }
  return true;
}

}  // namespace

void encode_planes(const Position* line, std::size_t length, std::uint64_t* planes,
                   std::uint8_t* rule50, Fill fill) {
  const Position& now = line[length - 1];
  const int us = now.side, them = 1 - us;
  const auto seen = [&](Bitboard b) { return us == kWhite ? b : flip(b); };
  std::fill(planes, planes + kPlanes, 0);

  for (std::size_t step = 0; step < kSteps; ++step) {
    const bool known = step < length;
    const Position& p = known ? line[length - 1 - step] : line[0];
    if (!known) {
      const bool jumped = p.ep != kNoSquare;
      if (fill == Fill::kNone && (step > length || !jumped)) break;
      if (fill == Fill::kFenOnly && is_start(p)) break;
    }
    std::uint64_t* out = planes + kPlanesPerStep * step;
    Bitboard pawns = p.pieces[kPawn], all[2] = {p.colours[0], p.colours[1]};
    if (!known && p.ep != kNoSquare) {
      // Take back the jump: the pawn that passed `ep` returns to its home square.
      const int jumper = 1 - p.side;
      const int up = jumper == kWhite ? 8 : -8;
      const Bitboard both = bit(p.ep + up) | bit(p.ep - up);
      pawns ^= both;
      all[jumper] ^= both;
    }
    out[0] = seen(pawns & all[us]);
    out[6] = seen(pawns & all[them]);
    for (int piece = kKnight; piece <= kKing; ++piece) {
      out[piece] = seen(p.pieces[piece] & all[us]);
      out[6 + piece] = seen(p.pieces[piece] & all[them]);
    }
    out[12] = p.repetitions > 0 ? kAll : 0;
  }

  const int ours = us == kWhite ? now.castling : now.castling >> 2;
  const int theirs = us == kWhite ? now.castling >> 2 : now.castling;
  std::uint64_t* out = planes + kAuxiliary;
  out[0] = ours & kWhiteQueenside ? kAll : 0;
  out[1] = ours & kWhiteKingside ? kAll : 0;
  out[2] = theirs & kWhiteQueenside ? kAll : 0;
  out[3] = theirs & kWhiteKingside ? kAll : 0;
  out[4] = us == kBlack ? kAll : 0;
  out[5] = now.rule50 > 0 ? kAll : 0;
  out[7] = kAll;
  *rule50 = static_cast<std::uint8_t>(std::min<int>(now.rule50, 255));
}

std::uint16_t policy_index(const Position& position, Action action) {
  const int turn = position.side == kWhite ? 0 : 56;  // s ^ 56 swaps the ranks
  int from = from_square(action), to = to_square(action);
  const int piece = promotion(action);
  if (piece > kKnight) {
    return kPolicy.promoted[64 * (kQueen - piece) + 8 * file_of(from) + file_of(to)];
  }
  if ((to - from == 2 || from - to == 2) && (position.pieces[kKing] & bit(from))) {
    to = to > from ? to + 1 : to - 2;
  }
  from ^= turn;
  to ^= turn;
  return kPolicy.index[make_action(from, to)];
}

Action policy_move(std::size_t index) { return kPolicy.moves[index]; }

}  // namespace kedge::chess
