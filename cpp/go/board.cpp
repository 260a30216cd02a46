#include "go/board.hpp"

#include <algorithm>
#include <bit>

#include "go/reader.hpp"
#include "splitmix.hpp"

namespace kedge::go {
namespace {

struct Zobrist {
  std::uint64_t stones[2][kCells];
  std::uint64_t white_to_move;
};
constexpr Zobrist make_zobrist() {
  Zobrist keys{};
  for (std::uint64_t colour = 0; colour < 2; ++colour) {
    for (std::uint64_t cell = 0; cell < kCells; ++cell) {
      keys.stones[colour][cell] = splitmix(2 * cell + colour);
    }
  }
  keys.white_to_move = splitmix(2 * kCells);
  return keys;
}
constexpr Zobrist kZobrist = make_zobrist();

constexpr std::uint64_t bit(Action point) { return std::uint64_t{1} << (point % 64); }

// The points of a board and their cells, for every size.
struct Geometry {
  Points all{};
  std::array<Cell, kMaxPoints> cells{};
  std::array<Action, kCells> points{};
};
constexpr std::array<Geometry, kMaxSize + 1> make_geometries() {
  std::array<Geometry, kMaxSize + 1> out{};
  for (int size = kMinSize; size <= kMaxSize; ++size) {
    for (int p = 0; p < size * size; ++p) {
      const Cell cell = Chains::cell_at(p % size, p / size);
      out[size].all[p / 64] |= bit(static_cast<Action>(p));
      out[size].cells[p] = cell;
      out[size].points[cell] = static_cast<Action>(p);
    }
  }
  return out;
}
constexpr std::array<Geometry, kMaxSize + 1> kGeometries = make_geometries();


template <typename Visit>
void each(const Points& points, const Visit& visit) {
  for (std::size_t w = 0; w < kWords; ++w) {
    for (std::uint64_t word = points[w]; word != 0; word &= word - 1) {
      visit(static_cast<Action>(64 * w + static_cast<std::size_t>(std::countr_zero(word))));
    }
  }
}

}  // namespace

Board::Board(int size, Rules rules) : size_(size), rules_(rules), chains_(size) {
  line_.emplace_back();
  keys_.push_back(repetition_key(0, kBlack));
}

Cell Board::cell(Action point) const { return kGeometries[size_].cells[point]; }
Action Board::point(Cell cell) const { return kGeometries[size_].points[cell]; }
Colour Board::colour(Action point) const { return chains_.colour(cell(point)); }

std::uint64_t Board::repetition_key(std::uint64_t key, std::uint8_t player) const {
  return rules_.ko == Ko::kPositional || player == kBlack ? key : key ^ kZobrist.white_to_move;
}

Verdict Board::place(Action point, Colour colour) {
  if (point >= pass()) return Verdict::kOffBoard;
  const Cell stone = cell(point);
  if (chains_.colour(stone) != kEmpty) return Verdict::kOccupied;
  Chains::Undo undo;
  chains_.play(stone, colour, undo);
  if (undo.captures > 0) {
    chains_.undo(stone, colour, undo);
    return Verdict::kSuicide;
  }
  Position& first = line_.front();
  first.stones[colour][point / 64] |= bit(point);
  first.key ^= kZobrist.stones[colour][stone];
  keys_[0] = repetition_key(first.key, first.player);
  return Verdict::kLegal;
}

void Board::set_player(Colour player) {
  Position& now = line_.back();
  if (now.player == player) return;
  now.player = player;
  now.ko = kNoAction;
  keys_.back() = repetition_key(now.key, player);
}

bool Board::has_occurred(std::uint64_t key) const {
  if ((seen_[key % 8192 / 64] >> (key % 64) & 1u) == 0) return false;
  return std::find(keys_.begin(), keys_.end(), key) != keys_.end();
}

Verdict Board::verdict(Action action) const {
  if (action >= pass()) return action == pass() ? Verdict::kLegal : Verdict::kOffBoard;
  const Cell stone = cell(action);
  if (chains_.colour(stone) != kEmpty) return Verdict::kOccupied;
  const Position& now = position();
  if (action == now.ko) return Verdict::kKo;
  // If the point was never emptied and the stone stays, the board is new.
  const bool is_new = rules_.ko == Ko::kSimple || !chains_.was_emptied(stone);
  bool breathes = chains_.touches_empty(stone), joins = false, captures = false;
  if (breathes && is_new) return Verdict::kLegal;

  const auto player = static_cast<Colour>(now.player);
  const Colour opponent = other(player);
  const auto around = Chains::neighbours(stone);
  for (const Cell n : around) {
    const Colour colour = chains_.colour(n);
    if (colour == player) {
      joins = true;
      breathes |= !chains_.in_atari(chains_.head(n));
    } else if (colour == opponent) {
      captures |= chains_.in_atari(chains_.head(n));
    }
  }
  const bool suicide = !breathes && !captures;
  if (suicide && !(rules_.suicide && joins)) return Verdict::kSuicide;
  if (is_new && (!suicide || rules_.ko == Ko::kSimple)) return Verdict::kLegal;

  std::uint64_t key = now.key ^ kZobrist.stones[player][stone];
  if (captures || suicide) {
    const Colour loser = captures ? opponent : player;
    Cell taken[4];
    int count = 0;
    for (const Cell n : around) {
      if (chains_.colour(n) != loser || !chains_.in_atari(chains_.head(n))) continue;
      if (std::find(taken, taken + count, chains_.head(n)) != taken + count) continue;
      taken[count++] = chains_.head(n);
      chains_.each(chains_.head(n), [&](Cell s) { key ^= kZobrist.stones[loser][s]; });
    }
    if (suicide) key ^= kZobrist.stones[player][stone];
  }
  return has_occurred(repetition_key(key, opponent)) ? Verdict::kSuperko : Verdict::kLegal;
}

void Board::push(Action action) {
  Position next = line_.back();
  const auto player = static_cast<Colour>(next.player);
  const Colour opponent = other(player);
  next.player = opponent;
  next.move = action;
  next.ko = kNoAction;
  Made& made = made_.emplace_back();
  if (action == pass()) {
    next.passes = next.passes < 2 ? next.passes + 1 : 2;
  } else {
    const Cell stone = cell(action);
    Chains::Undo& undo = made.undo;
    chains_.play(stone, player, undo);
    next.passes = 0;
    next.stones[player][action / 64] |= bit(action);
    next.key ^= kZobrist.stones[player][stone];
    const Colour loser = undo.suicide ? player : opponent;
    int lost = 0;
    for (int i = 0; i < undo.captures; ++i) {
      chains_.each(undo.captured[i], [&](Cell s) {
        next.stones[loser][point(s) / 64] &= ~bit(point(s));
        next.key ^= kZobrist.stones[loser][s];
        ++lost;
      });
    }
    next.prisoners[loser] = static_cast<std::uint16_t>(next.prisoners[loser] + lost);
    if (lost == 1 && !undo.suicide && undo.merges == 0 && chains_.in_atari(stone)) {
      next.ko = point(undo.captured[0]);
    }
  }
  const std::uint64_t left = keys_.back();  // from now on this board counts as earlier
  std::uint64_t& word = seen_[left % 8192 / 64];
  made.marked = (word >> (left % 64) & 1u) == 0;
  word |= std::uint64_t{1} << (left % 64);
  line_.push_back(next);
  keys_.push_back(repetition_key(next.key, opponent));
}

void Board::pop() {
  const Action action = line_.back().move;
  line_.pop_back();
  keys_.pop_back();
  const Made& made = made_.back();
  if (made.marked) seen_[keys_.back() % 8192 / 64] &= ~(std::uint64_t{1} << (keys_.back() % 64));
  if (action != pass()) {
    chains_.undo(cell(action), static_cast<Colour>(line_.back().player), made.undo);
  }
  made_.pop_back();
}

Points Board::legal_points() const {
  Points empty = kGeometries[size_].all, legal{};
  const auto& [black, white] = position().stones;
  for (std::size_t w = 0; w < kWords; ++w) empty[w] &= ~(black[w] | white[w]);
  // Most points have a liberty of their own and need no further check: see verdict().
  const bool simple = rules_.ko == Ko::kSimple;
  each(empty, [&](Action p) {
    const Cell c = cell(p);
    const bool plain = chains_.touches_empty(c) & (simple | !chains_.was_emptied(c));
    legal[p / 64] |= std::uint64_t{(plain && p != position().ko) || is_legal(p)} << (p % 64);
  });
  legal[pass() / 64] |= bit(pass());
  return legal;
}

std::size_t Board::legal_actions(Action* out) const {
  if (is_over()) return 0;
  std::size_t count = 0;
  each(legal_points(), [&](Action action) { out[count++] = action; });
  return count;
}

bool Board::is_draw_by_rule() const {
  if (rules_.ko != Ko::kSimple || position().move == pass()) return false;
  return std::find(keys_.begin(), keys_.end() - 1, keys_.back()) != keys_.end() - 1;
}

Count Board::count(const Points& dead) const {
  std::array<std::uint8_t, kCells> colours;
  Count out;
  for (int c = 0; c < kCells; ++c) colours[c] = chains_.colour(static_cast<Cell>(c));
  each(dead, [&](Action p) { colours[cell(p)] = kEmpty; });
  std::vector<Cell> region;
  for (Action p = 0; p < pass(); ++p) {
    const Cell start = cell(p);
    if (colours[start] < kEmpty) ++out.stones[colours[start]];
    if (colours[start] != kEmpty) continue;
    bool touches[kEdge + 1] = {};  // by colour; the margin is one
    colours[start] = kEdge;  // counted
    region.assign(1, start);
    for (std::size_t i = 0; i < region.size(); ++i) {
      for (const Cell n : Chains::neighbours(region[i])) {
        if (colours[n] == kEmpty) {
          colours[n] = kEdge;
          region.push_back(n);
        }
        touches[colours[n]] = true;
      }
    }
    if (touches[kBlack] != touches[kWhite]) {
      out.territory[touches[kWhite] ? kWhite : kBlack] += static_cast<int>(region.size());
    }
  }
  return out;
}

double Board::terminal_value() const {
  if (!is_over()) return 0.0;
  const Count c = count();
  const double black = c.stones[kBlack] + c.territory[kBlack] - c.stones[kWhite] -
                       c.territory[kWhite] - static_cast<double>(rules_.komi);
  const double value = black > 0.0 ? 1.0 : black < 0.0 ? -1.0 : 0.0;
  return player() == kBlack ? value : 0.0 - value;
}

std::uint64_t Board::key_from_scratch() const {
  std::uint64_t key = 0;
  for (int colour = kBlack; colour <= kWhite; ++colour) {
    each(position().stones[colour], [&](Action p) { key ^= kZobrist.stones[colour][cell(p)]; });
  }
  return key;
}

void Board::encode(Points* stones, float* komi, std::size_t steps) const {
  const std::size_t mover = position().player;
  const std::size_t known = std::min(steps, line_.size());
  for (std::size_t k = 0; k < known; ++k) {
    *stones++ = position(k).stones[mover];
    *stones++ = position(k).stones[1 - mover];
  }
  std::fill_n(stones, 2 * (steps - known), Points{});
  const float share = static_cast<float>(kMaxPoints) / static_cast<float>(size_ * size_);
  *komi = (mover == kWhite ? rules_.komi : -rules_.komi) / 10.0f * share;
}

void Board::tactics(Points* out) const {
  std::fill_n(out, kTactics, Points{});
  const auto mark = [&](std::size_t tactic, Action p) { out[tactic][p / 64] |= bit(p); };
  const Position& now = position();
  const Cell ko = now.ko == kNoAction ? kNoCell : cell(now.ko);
  if (now.ko != kNoAction) mark(kKo, now.ko);
  Reader reader(chains_);
  struct Short {
    Cell head, liberties[5];
    int count;
  };
  std::array<Short, kMaxPoints> chains;  // with three liberties or fewer
  std::size_t found = 0;
  for (const Points& stones : now.stones) {
    each(stones, [&](Action p) {
      Short& chain = chains[found];
      chain.head = cell(p);
      if (chains_.head(chain.head) != chain.head) return;  // once a chain
      chain.count = reader.count(chain.head, chain.liberties);
      found += chain.count <= 3;
    });
  }
  for (std::size_t i = 0; i < found; ++i) {
    const auto& [head, liberties, count] = chains[i];
    const bool to_move = chains_.colour(head) == now.player;
    bool caught = false;
    if (count == 1) {
      caught = reader.catches(head, to_move ? ko : kNoCell);
    } else if (count == 2) {
      for (const std::size_t k : {0, 1}) {
        const Cell attack = liberties[k], defence = liberties[1 - k];
        if (!reader.catches_by(attack, defence, head, to_move ? kNoCell : ko)) continue;
        caught = true;
        if (!to_move) mark(kCatching, point(attack));
      }
    }
    chains_.each(head, [&](Cell stone) {
      mark(kOneLiberty + static_cast<std::size_t>(count) - 1, point(stone));
      if (caught) mark(kCaught, point(stone));
    });
  }
  Points empty = kGeometries[size_].all;
  for (std::size_t w = 0; w < kWords; ++w) empty[w] &= ~(now.stones[0][w] | now.stones[1][w]);
  each(empty, [&](Action p) {
    const int count = reader.liberties_after(cell(p), static_cast<Colour>(now.player), ko);
    if (count == 1) mark(kToOne, p);
    if (count == 2) mark(kToTwo, p);
  });
}

bool Board::is_surrounded(Action action, Colour colour) const {
  if (this->colour(action) != kEmpty) return false;
  for (const Cell n : Chains::neighbours(cell(action))) {
    if (chains_.colour(n) != colour && chains_.colour(n) != kEdge) return false;
  }
  return true;
}

bool Board::is_eye(Action action, Colour colour) const {
  if (!is_surrounded(action, colour)) return false;
  int cuts = 0;
  bool at_edge = false;
  for (const int step : {-kStride - 1, -kStride + 1, kStride - 1, kStride + 1}) {
    const Colour corner = chains_.colour(static_cast<Cell>(cell(action) + step));
    cuts += corner == other(colour);
    at_edge |= corner == kEdge;
  }
  return cuts < (at_edge ? 1 : 2);
}

bool Board::is_chain_in_atari(Action stone) const {
  const Cell head = chains_.head(cell(stone));
  return chains_.size(head) > 1 && chains_.in_atari(head);
}

std::size_t Board::play_random(std::size_t plies, std::uint64_t seed) {
  // A few tries find a legal point on most boards; otherwise list them all.
  const int tries = 4 * size_ * size_;
  const auto below = [&](std::uint64_t n) { return ((seed = splitmix(seed)) >> 32) * n >> 32; };
  for (std::size_t ply = 0; ply < plies; ++ply) {
    if (is_over()) return ply;
    Action chosen = kNoAction;
    for (int i = 0; i < tries && chosen == kNoAction; ++i) {
      const auto p = static_cast<Action>(below(pass()));
      if (is_legal(p)) chosen = p;
    }
    if (chosen == kNoAction) {
      Action legal[kMaxActions];
      const std::size_t points = legal_actions(legal) - 1;
      chosen = points > 0 ? legal[below(points)] : pass();
    }
    push(chosen);
  }
  return plies;
}

}  // namespace kedge::go
