#include "chess/position.hpp"

#include <algorithm>
#include <array>

namespace kedge::chess {
namespace {

struct Keys {
  std::uint64_t piece[2][6][64] = {};
  std::uint64_t castling[16] = {};
  std::uint64_t ep_file[8] = {};
  std::uint64_t black = 0;
};

constexpr std::uint64_t splitmix64(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

constexpr Keys make_keys() {
  Keys keys;
  std::uint64_t state = 0x6b65646765;
  for (auto& colour : keys.piece) {
    for (auto& piece : colour) {
      for (auto& square : piece) square = splitmix64(state);
    }
  }
  for (int i = 1; i < 16; ++i) keys.castling[i] = splitmix64(state);
  for (auto& file : keys.ep_file) file = splitmix64(state);
  keys.black = splitmix64(state);
  return keys;
}
constexpr Keys kKeys = make_keys();

// The castling rights that are lost by a move from or to a square.
constexpr std::array<std::uint8_t, 64> make_rights() {
  std::array<std::uint8_t, 64> out{};
  out[0] = kWhiteQueenside;
  out[7] = kWhiteKingside;
  out[4] = kWhiteKingside | kWhiteQueenside;
  out[56] = kBlackQueenside;
  out[63] = kBlackKingside;
  out[60] = kBlackKingside | kBlackQueenside;
  return out;
}
constexpr auto kRights = make_rights();

constexpr Bitboard shift(Bitboard b, int by) { return by > 0 ? b << by : b >> -by; }

Bitboard sliders_attacking(const Position& p, int square, int by, Bitboard occupied) {
  const Bitboard queens = p.pieces[kQueen];
  return p.colours[by] & ((bishop_attacks(square, occupied) & (p.pieces[kBishop] | queens)) |
                          (rook_attacks(square, occupied) & (p.pieces[kRook] | queens)));
}

Bitboard attackers(const Position& p, int square, int by, Bitboard occupied) {
  return sliders_attacking(p, square, by, occupied) |
         (p.colours[by] & ((knight_attacks(square) & p.pieces[kKnight]) |
                           (pawn_attacks(1 - by, square) & p.pieces[kPawn]) |
                           (king_attacks(square) & p.pieces[kKing])));
}

// An en-passant capture takes two pawns off one rank, which pin masks do not cover: check the
// board after the capture.
bool ep_is_legal(const Position& p, int from) {
  const int us = p.side, them = 1 - us;
  const int captured = us == kWhite ? p.ep - 8 : p.ep + 8;
  const Bitboard occupied = (p.occupied() ^ bit(from) ^ bit(captured)) | bit(p.ep);
  return (attackers(p, p.king(us), them, occupied) & ~bit(captured)) == 0;
}

Bitboard ep_capturers(const Position& p) {
  return pawn_attacks(1 - p.side, p.ep) & p.of(p.side, kPawn);
}

template <int Us>
Bitboard attacked_by_them(const Position& p, Bitboard occupied) {
  constexpr int kThem = 1 - Us, kUp = kThem == kWhite ? 8 : -8;
  const Bitboard theirs = p.colours[kThem];
  const Bitboard pawns = theirs & p.pieces[kPawn];
  Bitboard out = shift(pawns & ~kFileA, kUp - 1) | shift(pawns & ~kFileH, kUp + 1);
  out |= king_attacks(p.king(kThem));
  each(theirs & p.pieces[kKnight], [&](int s) { out |= knight_attacks(s); });
  each(theirs & (p.pieces[kBishop] | p.pieces[kQueen]),
       [&](int s) { out |= bishop_attacks(s, occupied); });
  each(theirs & (p.pieces[kRook] | p.pieces[kQueen]),
       [&](int s) { out |= rook_attacks(s, occupied); });
  return out;
}

// Every legal move, handed to a sink in sets:
//   moves(from, targets)        a piece's moves
//   pawns(targets, step)        pawns that go from `target - step` to each target
//   promotions(targets, step)   the same, four moves each
//   move(from, to)              a single move
template <int Us, typename Sink>
void generate_for(const Position& p, Sink& sink) {
  constexpr int kThem = 1 - Us, kUp = Us == kWhite ? 8 : -8;
  constexpr Bitboard kLast = rank_mask(Us == kWhite ? 7 : 0);
  constexpr Bitboard kThird = rank_mask(Us == kWhite ? 2 : 5);
  const Bitboard ours = p.colours[Us], theirs = p.colours[kThem], occupied = ours | theirs;
  const int king = lowest(ours & p.pieces[kKing]);

  const Bitboard danger = attacked_by_them<Us>(p, occupied ^ bit(king));
  sink.moves(king, king_attacks(king) & ~ours & ~danger);

  Bitboard target = kAll;  // where a move must go to leave no check
  if (danger & bit(king)) {
    const Bitboard checkers = attackers(p, king, kThem, occupied);
    if (checkers & (checkers - 1)) return;
    target = between(king, lowest(checkers)) | checkers;
  } else {
    constexpr int kHome = Us == kWhite ? 0 : 56;
    constexpr int kKingside = Us == kWhite ? kWhiteKingside : kBlackKingside;
    constexpr int kQueenside = Us == kWhite ? kWhiteQueenside : kBlackQueenside;
    constexpr Bitboard kShort = Bitboard{0x60} << kHome, kLong = Bitboard{0x0c} << kHome;
    constexpr Bitboard kLongEmpty = Bitboard{0x0e} << kHome;
    if ((p.castling & kKingside) && !((occupied | danger) & kShort)) {
      sink.move(kHome + 4, kHome + 6);
    }
    if ((p.castling & kQueenside) && !(occupied & kLongEmpty) && !(danger & kLong)) {
      sink.move(kHome + 4, kHome + 2);
    }
  }

  Bitboard pinned = 0;
  each(sliders_attacking(p, king, kThem, theirs), [&](int sniper) {
    const Bitboard blockers = between(king, sniper) & ours;
    if (blockers && !(blockers & (blockers - 1))) pinned |= blockers;
  });

  const Bitboard reach = target & ~ours;
  each(ours & p.pieces[kKnight] & ~pinned,
       [&](int s) { sink.moves(s, knight_attacks(s) & reach); });
  const auto slide = [&](int s, Bitboard attacks) {
    attacks &= reach;
    if (pinned & bit(s)) attacks &= line(king, s);
    sink.moves(s, attacks);
  };
  each(ours & p.pieces[kBishop], [&](int s) { slide(s, bishop_attacks(s, occupied)); });
  each(ours & p.pieces[kRook], [&](int s) { slide(s, rook_attacks(s, occupied)); });
  each(ours & p.pieces[kQueen],
       [&](int s) { slide(s, bishop_attacks(s, occupied) | rook_attacks(s, occupied)); });

  const auto pawns = [&](Bitboard set, Bitboard allowed) {
    const Bitboard one = shift(set, kUp) & ~occupied;
    const Bitboard two = shift(one & kThird, kUp) & ~occupied & allowed;
    const Bitboard left = shift(set & ~kFileA, kUp - 1) & theirs & allowed;
    const Bitboard right = shift(set & ~kFileH, kUp + 1) & theirs & allowed;
    const Bitboard push = one & allowed;
    sink.pawns(push & ~kLast, kUp);
    sink.pawns(two, 2 * kUp);
    sink.pawns(left & ~kLast, kUp - 1);
    sink.pawns(right & ~kLast, kUp + 1);
    if ((push | left | right) & kLast) {
      sink.promotions(push & kLast, kUp);
      sink.promotions(left & kLast, kUp - 1);
      sink.promotions(right & kLast, kUp + 1);
    }
  };
  const Bitboard our_pawns = ours & p.pieces[kPawn];
  pawns(our_pawns & ~pinned, target);
  each(our_pawns & pinned, [&](int s) { pawns(bit(s), target & line(king, s)); });

  if (p.ep_legal) {
    each(ep_capturers(p), [&](int s) {
      if (ep_is_legal(p, s)) sink.move(s, p.ep);
    });
  }
}

template <typename Sink>
void generate_into(const Position& p, Sink& sink) {
  if (p.side == kWhite) {
    generate_for<kWhite>(p, sink);
  } else {
    generate_for<kBlack>(p, sink);
  }
}

struct Counter {
  std::size_t count = 0;
  void moves(int, Bitboard targets) { count += std::popcount(targets); }
  void pawns(Bitboard targets, int) { count += std::popcount(targets); }
  void promotions(Bitboard targets, int) { count += 4 * std::popcount(targets); }
  void move(int, int) { ++count; }
};

struct List {
  Action* end;
  void moves(int from, Bitboard targets) {
    each(targets, [&](int to) { *end++ = make_action(from, to); });
  }
  void pawns(Bitboard targets, int step) {
    each(targets, [&](int to) { *end++ = make_action(to - step, to); });
  }
  void promotions(Bitboard targets, int step) {
    each(targets, [&](int to) {
      for (int piece = kKnight; piece <= kQueen; ++piece) *end++ = make_action(to - step, to, piece);
    });
  }
  void move(int from, int to) { *end++ = make_action(from, to); }
};

// Ascending order is promotion, then target, then origin: gather the origins of each target, and
// read them off in order.
struct Sorter {
  Bitboard origins[64] = {};
  Bitboard promoting[8] = {};  // by the target's file: one side's promotions share a rank
  Bitboard targets = 0, promotion_targets = 0;

  void moves(int from, Bitboard to) {
    targets |= to;
    each(to, [&](int t) { origins[t] |= bit(from); });
  }
  void pawns(Bitboard to, int step) {
    targets |= to;
    each(to, [&](int t) { origins[t] |= bit(t - step); });
  }
  void promotions(Bitboard to, int step) {
    promotion_targets |= to;
    each(to, [&](int t) { promoting[file_of(t)] |= bit(t - step); });
  }
  void move(int from, int to) { moves(from, bit(to)); }

  std::size_t write(Action* out) const {
    Action* end = out;
    each(targets, [&](int to) {
      each(origins[to], [&](int from) { *end++ = make_action(from, to); });
    });
    if (promotion_targets) {
      for (int piece = kKnight; piece <= kQueen; ++piece) {
        each(promotion_targets, [&](int to) {
          each(promoting[file_of(to)], [&](int from) { *end++ = make_action(from, to, piece); });
        });
      }
    }
    return static_cast<std::size_t>(end - out);
  }
};

void toggle(Position& p, int colour, int piece, int square) {
  p.pieces[piece] ^= bit(square);
  p.colours[colour] ^= bit(square);
  p.key ^= kKeys.piece[colour][piece][square];
}

}  // namespace

Piece Position::piece_at(int square) const {
  const Bitboard b = bit(square);
  for (int piece = kPawn; piece <= kKing; ++piece) {
    if (pieces[piece] & b) return static_cast<Piece>(piece);
  }
  return kNoPiece;
}

Bitboard Position::checkers(int colour) const {
  return attackers(*this, king(colour), 1 - colour, occupied());
}

bool same(const Position& a, const Position& b) {
  if (a.key != b.key || a.side != b.side || a.castling != b.castling) return false;
  if (a.ep_legal != b.ep_legal || (a.ep_legal && a.ep != b.ep)) return false;
  for (int piece = kPawn; piece <= kKing; ++piece) {
    if (a.pieces[piece] != b.pieces[piece]) return false;
  }
  return a.colours[kWhite] == b.colours[kWhite];
}

std::uint64_t key_of(const Position& p) {
  std::uint64_t key = kKeys.castling[p.castling] ^ (p.side == kBlack ? kKeys.black : 0);
  for (int colour = 0; colour < 2; ++colour) {
    for (int piece = kPawn; piece <= kKing; ++piece) {
      each(p.of(colour, static_cast<Piece>(piece)),
           [&](int s) { key ^= kKeys.piece[colour][piece][s]; });
    }
  }
  return p.ep_legal ? key ^ kKeys.ep_file[file_of(p.ep)] : key;
}

void find_legal_ep(Position& p) {
  p.ep_legal = false;
  if (p.ep == kNoSquare) return;
  each(ep_capturers(p), [&](int s) { p.ep_legal = p.ep_legal || ep_is_legal(p, s); });
}

void apply(Position& p, Action action) {
  const int from = from_square(action), to = to_square(action), us = p.side, them = 1 - us;
  const Piece piece = p.piece_at(from);
  const int up = us == kWhite ? 8 : -8;

  if (p.ep_legal) p.key ^= kKeys.ep_file[file_of(p.ep)];
  ++p.rule50;
  if (p.colours[them] & bit(to)) {
    toggle(p, them, p.piece_at(to), to);
    p.rule50 = 0;
  }
  const int ep = p.ep;
  p.ep = kNoSquare;
  p.ep_legal = false;
  p.repetitions = 0;
  toggle(p, us, piece, from);
  toggle(p, us, promotion(action) ? promotion(action) : piece, to);

  if (piece == kPawn) {
    p.rule50 = 0;
    if (to - from == 2 * up) {
      p.ep = static_cast<std::uint8_t>(from + up);
    } else if (to == ep) {
      toggle(p, them, kPawn, to - up);
    }
  } else if (piece == kKing && (to - from == 2 || from - to == 2)) {
    const int rook_from = to > from ? to + 1 : to - 2, rook_to = (from + to) / 2;
    toggle(p, us, kRook, rook_from);
    toggle(p, us, kRook, rook_to);
  }
  const int lost = p.castling & (kRights[from] | kRights[to]);
  if (lost) {
    p.key ^= kKeys.castling[p.castling];
    p.castling = static_cast<std::uint8_t>(p.castling & ~lost);
    p.key ^= kKeys.castling[p.castling];
  }
  p.side = static_cast<std::uint8_t>(them);
  p.key ^= kKeys.black;
  if (p.ep != kNoSquare) {
    find_legal_ep(p);
    if (p.ep_legal) p.key ^= kKeys.ep_file[file_of(p.ep)];
  }
}

std::size_t generate(const Position& position, Action* out) {
  List list{out};
  generate_into(position, list);
  return static_cast<std::size_t>(list.end - out);
}

std::size_t generate_sorted(const Position& position, Action* out) {
  Sorter sorter;
  generate_into(position, sorter);
  return sorter.write(out);
}

bool is_legal(const Position& position, Action action) {
  Action actions[kMaxActions];
  const std::size_t count = generate(position, actions);
  return std::find(actions, actions + count, action) != actions + count;
}

bool apply_if_legal(Position& p, Action action) {
  const int from = from_square(action), to = to_square(action), us = p.side;
  const Bitboard occupied = p.occupied();
  if (!(p.colours[us] & bit(from)) || (p.colours[us] & bit(to))) return false;
  const Piece piece = p.piece_at(from);
  Bitboard reach = 0;
  if (piece == kPawn) {
    const int up = us == kWhite ? 8 : -8;
    const bool last = (us == kWhite ? 7 : 0) == rank_of(to);
    if (last ? promotion(action) < kKnight || promotion(action) > kQueen : promotion(action) != 0) {
      return false;
    }
    reach = pawn_attacks(us, from) & (p.colours[1 - us] | (p.ep < kNoSquare ? bit(p.ep) : 0));
    if (!(occupied & bit(from + up))) {
      reach |= bit(from + up);
      const bool home = rank_of(from) == (us == kWhite ? 1 : 6);
      if (home && !(occupied & bit(from + 2 * up))) reach |= bit(from + 2 * up);
    }
  } else if (promotion(action) != 0) {
    return false;
  } else if (piece == kKnight) {
    reach = knight_attacks(from);
  } else if (piece == kKing) {
    if (to - from == 2 || from - to == 2) {  // castling, or nothing
      if (!is_legal(p, action)) return false;
      apply(p, action);
      return true;
    }
    reach = king_attacks(from);
  } else {
    if (piece != kRook) reach |= bishop_attacks(from, occupied);
    if (piece != kBishop) reach |= rook_attacks(from, occupied);
  }
  if (!(reach & bit(to))) return false;
  Position next = p;
  apply(next, action);
  if (next.checkers(us)) return false;
  p = next;
  return true;
}

std::size_t count_legal(const Position& position) {
  Counter counter;
  generate_into(position, counter);
  return counter.count;
}

bool insufficient_material(const Position& p) {
  if (p.pieces[kPawn] | p.pieces[kRook] | p.pieces[kQueen]) return false;
  // Only kings, knights and bishops are left.
  for (int colour = 0; colour < 2; ++colour) {
    const Bitboard own = p.colours[colour];
    if (own & p.pieces[kKnight]) {
      // A lone knight mates only with the help of an enemy man.
      if (std::popcount(own) > 2 || (p.colours[1 - colour] & ~p.pieces[kKing])) return false;
    } else if (own & p.pieces[kBishop]) {
      constexpr Bitboard kDark = 0xaa55aa55aa55aa55u;
      const bool one_colour = !(p.pieces[kBishop] & kDark) || !(p.pieces[kBishop] & ~kDark);
      if (!one_colour || p.pieces[kKnight]) return false;
    }
  }
  return true;
}

std::uint64_t perft(const Position& position, int depth) {
  if (depth <= 0) return 1;
  if (depth == 1) return count_legal(position);
  Action actions[kMaxActions];
  const std::size_t count = generate(position, actions);
  std::uint64_t leaves = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Position next = position;
    apply(next, actions[i]);
    leaves += perft(next, depth - 1);
  }
  return leaves;
}

}  // namespace kedge::chess
