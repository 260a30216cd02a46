#include "hanabi/conventions.hpp"

#include <algorithm>

namespace kedge::hanabi {
namespace {

using Row = Marks::value_type;  // the marks of a hand

constexpr int kPlay = 20, kSave = 100;  // values of a hint, beside 1 for each touched card

constexpr Cards one(int card) { return Cards{1} << card; }
constexpr bool is_in(int card, Cards cards) { return cards >> card & 1; }

int seat_after(const Rules& rules, const Game& game, int on) {
  const int seat = game.player + on;
  return seat < rules.players ? seat : seat - rules.players;
}

bool is_hint(Move move) { return move.kind == Kind::kColour || move.kind == Kind::kRank; }

// The cards that a hint names.
Cards named(const Rules& rules, Move hint) {
  if (hint.kind == Kind::kColour) return rules.lowest[1 << hint.value] * ((1 << rules.ranks) - 1);
  return rules.lowest[(1 << rules.colours) - 1] << hint.value;
}

// The `cards` that a mark allows or, if there are none, those that the hints allow.
Cards kept(Cards mark, Cards hinted, Cards cards) {
  const Cards may = mark & cards;
  return (mark & kClued) | (may ? may : hinted & cards);
}

// The chop: the oldest card without a hint, which is discarded first; -1 if there is none.
int chop(const Row& row, int size) {
  for (int slot = 0; slot < size; ++slot) {
    if (!(row[slot] & kClued)) return slot;
  }
  return -1;
}

// A hint means: play the newest touched card, preferably one without earlier hints. But a rank hint
// that touches a chop which may be the last of its kind means: keep this card.
void read_hint(const Rules& rules, const Table& table, Move hint, unsigned touched,
               const Hand& hand, Row& row) {
  const int size = hand.size(), oldest = chop(row, size);
  const Cards cards = named(rules, hint);
  int newest = -1, newest_fresh = -1;
  for (int slot = 0; slot < size; ++slot) {
    const bool is_touched = touched >> slot & 1;
    Cards& mark = row[slot];
    mark = kept(mark, told(rules, hand, slot), table.there & (is_touched ? cards : ~cards));
    if (!is_touched) continue;
    newest = slot;
    if (!(mark & kClued)) newest_fresh = slot;
    mark |= kClued;
  }
  const bool is_save = hint.kind == Kind::kRank && oldest >= 0 && touched >> oldest & 1 &&
                       row[oldest] & table.critical & ~table.playable;
  Cards& meant = row[newest_fresh >= 0 ? newest_fresh : newest];
  if (!is_save && meant & table.playable) meant &= table.playable | kClued;
}

// The decision of one player, by what it sees.
class Turn {
 public:
  Turn(const Rules& rules, const Game& game, const Table& table, const Marks& marks)
      : rules_(rules), game_(game), table_(table), marks_(marks),
        size_(game.hands[game.player].size()), next_(seat_after(rules, game, 1)) {
    const Hand& hand = game.hands[game.player];
    const Cards cards = unseen_cards();
    for (int slot = 0; slot < size_; ++slot) {
      own_[slot] = kept(marks[game.player][slot], told(rules, hand, slot), cards);
    }
  }

  Action choose() const {
    const std::uint64_t legal = legal_actions(rules_, game_), hints = legal >> (2 * rules_.hand);
    const bool may_discard = legal & 1;
    const bool is_danger = hints && loses_critical(marks_[next_]);
    const int play = certain_play();
    const Hint hint = hints && (is_danger || play < 0) ? best_hint(hints, is_danger) : Hint{};
    if (hint.saves) return hint.action;
    if (play >= 0) return play_of(play);
    if (hint.plays > 0) return hint.action;
    // Late in a game there are too few cards to discard for tokens.
    const bool is_late = rules_.deck - game_.drawn <= rules_.players;
    if (hint.value >= 0 && (is_late || !may_discard)) return hint.action;
    if (may_discard) return static_cast<Action>(discard());
    return hints ? hint_of(std::countr_zero(hints)) : play_of(0);
  }

 private:
  struct Hint {
    Action action = kNoAction;
    int value = -1, plays = 0;
    bool saves = false;
  };

  Action play_of(int slot) const { return static_cast<Action>(rules_.hand + slot); }
  Action hint_of(int number) const { return static_cast<Action>(2 * rules_.hand + number); }

  // The possible values of its own cards, given all cards that it sees.
  Cards unseen_cards() const {
    Counts seen{};
    Cards cards = table_.there;
    for (int on = 1; on < rules_.players; ++on) {
      const Hand& hand = game_.hands[seat_after(rules_, game_, on)];
      for (int slot = 0; slot < hand.size(); ++slot) {
        const int card = card_at(rules_, hand, slot);
        const int left = unseen(rules_, game_, card / rules_.ranks, card % rules_.ranks);
        if (++seen[card] == left) cards &= ~one(card);
      }
    }
    return cards;
  }

  int certain_play() const {
    for (int slot = 0; slot < size_; ++slot) {
      if (table_.is_certain(own_[slot])) return slot;
    }
    return -1;
  }

  // Whether the next player, with these marks, would discard the last card of a kind.
  bool loses_critical(const Row& row) const {
    const Hand& hand = game_.hands[next_];
    const int size = hand.size();
    for (int slot = 0; slot < size; ++slot) {
      if (table_.is_certain(row[slot]) || table_.is_useless(row[slot])) return false;
    }
    const int slot = chop(row, size);
    return slot >= 0 && is_in(card_at(rules_, hand, slot), table_.critical);
  }

  // The first of the best hints; none if all mislead.
  Hint best_hint(std::uint64_t hints, bool is_danger) const {
    const Cards going = this->going();
    Hint best;
    for (; hints; hints &= hints - 1) {
      const Hint hint = weigh(hint_of(std::countr_zero(hints)), is_danger, going);
      if (hint.value > best.value) best = hint;
    }
    return best;
  }

  // Cards that need no hint: others know that they can play them, or the player knows its own copy.
  Cards going() const {
    Cards cards = 0;
    for (int slot = 0; slot < size_; ++slot) {
      const Cards may = own_[slot] & ~kClued;
      if (std::has_single_bit(may)) cards |= may;
    }
    for (int on = 1; on < rules_.players; ++on) {
      const int seat = seat_after(rules_, game_, on);
      const Hand& hand = game_.hands[seat];
      for (int slot = 0; slot < hand.size(); ++slot) {
        if (table_.is_certain(marks_[seat][slot])) cards |= one(card_at(rules_, hand, slot));
      }
    }
    return cards;
  }

  Hint weigh(Action action, bool is_danger, Cards going) const {
    const Move move = rules_.moves[action];
    const int seat = seat_after(rules_, game_, move.at);
    const Hand& hand = game_.hands[seat];
    const auto touched =
        slots_of(move.kind == Kind::kColour ? hand.colours : hand.ranks, move.value);
    const Row& before = marks_[seat];
    Row after = before;
    read_hint(rules_, table_, move, touched, hand, after);
    Hint hint{action, 0};
    for (int slot = 0; slot < hand.size(); ++slot) {
      const int card = card_at(rules_, hand, slot);
      if (!is_in(card, after[slot])) return {};  // it misleads
      if (table_.is_certain(after[slot]) && !table_.is_certain(before[slot])) {
        if (is_in(card, going)) return {};  // so would a second copy
        going |= one(card);
        ++hint.plays;
      }
      hint.value += before[slot] != after[slot] && is_in(card, table_.needed);
    }
    hint.saves = is_danger && !loses_critical(seat == next_ ? after : marks_[next_]);
    hint.value += kPlay * hint.plays + kSave * hint.saves;
    return hint;
  }

  // The oldest useless card, else the chop, else the card that is least likely critical.
  int discard() const {
    for (int slot = 0; slot < size_; ++slot) {
      if (table_.is_useless(own_[slot])) return slot;
    }
    if (const int oldest = chop(own_, size_); oldest >= 0) return oldest;
    int best = 0, best_critical = 1, best_all = 0;
    for (int slot = 0; slot < size_; ++slot) {
      const Cards may = own_[slot] & ~kClued;
      const int critical = std::popcount(may & table_.critical), all = std::popcount(may);
      if (critical * best_all < best_critical * all) {
        best = slot, best_critical = critical, best_all = all;
      }
    }
    return best;
  }

  const Rules& rules_;
  const Game& game_;
  const Table& table_;
  const Marks& marks_;
  Row own_{};
  int size_, next_;
};

}  // namespace

Table::Table(const Rules& rules, const Game& game) {
  for (int colour = 0, card = 0; colour < rules.colours; ++colour) {
    const int stack = game.fireworks[colour];
    bool is_lost = false;  // and with it all that come after
    for (int rank = 0; rank < rules.ranks; ++rank, ++card) {
      const auto is_discarded = [&](int copies) {  // as many of this card, or more
        return copies == 0 || game.discards >> (rules.places[card] + copies - 1) & 1;
      };
      const bool is_played = rank < stack;
      const bool is_there = !is_discarded(rules.copies[rank] - is_played);
      there |= Cards{is_there} << card;
      is_lost |= !is_there && !is_played;
      if (is_played || is_lost) continue;
      needed |= one(card);
      critical |= Cards{is_discarded(rules.copies[rank] - 1)} << card;
      playable |= Cards{rank == stack} << card;
    }
  }
}

void observe(const Rules& rules, const Game& game, const Table& table, Marks& marks) {
  const Outcome& last = game.last;
  if (last.action == kNoAction) {
    marks = {};
  } else if (const Move move = rules.moves[last.action]; is_hint(move)) {
    const int seat = (game.player + rules.players - 1 + move.at) % rules.players;
    read_hint(rules, table, move, last.touched, game.hands[seat], marks[seat]);
  } else {
    Row& row = marks[seat_after(rules, game, rules.players - 1)];
    std::copy(row.begin() + move.at + 1, row.end(), row.begin() + move.at);
    row.back() = 0;
  }
  for (int seat = 0; seat < rules.players; ++seat) {
    const Hand& hand = game.hands[seat];
    for (int slot = 0; slot < hand.size(); ++slot) {
      marks[seat][slot] = kept(marks[seat][slot], told(rules, hand, slot), table.there);
    }
  }
}

Action choose(const Rules& rules, const Game& game, const Table& table, const Marks& marks) {
  return Turn(rules, game, table, marks).choose();
}

int play_out(const Rules& rules, Game& game, Marks& marks) {
  while (!is_over(rules, game)) {
    const Table table(rules, game);
    observe(rules, game, table, marks);
    apply(rules, game, choose(rules, game, table, marks));
  }
  return score(rules, game);
}

}  // namespace kedge::hanabi
