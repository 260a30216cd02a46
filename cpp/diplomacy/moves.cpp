// Movement: L. B. Kruijswijk, "The Math of Adjudication". The outcome of an order is an equation
// over the outcomes of others. A recursion solves the equations and guesses outcomes in cycles.
// The strengths below are those of DATC, chapter 5.
#include "diplomacy/moves.hpp"

namespace kedge::diplomacy {
namespace {

class Moves {
 public:
  Moves(const Position& position, std::span<const Order> orders) : position_(position) {
    const Map& m = map();
    for (const Province p : position.occupied) {
      orders_[p] = {Kind::kHold, position.units[p].fleet, false, position.units[p].location, 0, 0};
    }
    Set ordered;
    for (const Order& order : orders) {
      const Province p = m.province[order.unit];
      if (ordered.has(p)) continue;
      ordered.add(p);
      orders_[p] = order;
    }
    for (const Province p : ordered) {
      const Order& order = orders_[p];
      to_[p] = m.province[order.destination];
      if (moves(p)) attackers_[to_[p]].add(p);
      const Province whom = m.province[order.target];
      if (order.kind == Kind::kConvoy && moves_to(whom, order.destination)) convoys_[whom].add(p);
      if (order.kind == Kind::kSupportMove && moves_to(whom, order.destination)) {
        supporters_[whom].add(p);
      }
      if (order.kind == Kind::kSupportHold) {
        to_[p] = whom;
        if (!moves(whom)) supporters_[whom].add(p);
      }
    }
    for (const Province p : ordered) {
      if (orders_[p].fleet || !moves(p)) continue;
      const bool adjacent = m.by_land[p].has(to_[p]);
      convoyed_[p] = !adjacent || (wants_convoy(p) && route(p, convoys_[p]));
    }
  }

  Position result(Set* failed) {
    for (const Province p : position_.occupied) {
      if (moves(p)) resolve(p);
    }
    Position next = position_;
    next.occupied = {};
    next.units = {};
    Set closed;  // provinces left empty by a standoff
    for (const Province p : position_.occupied) {
      Unit unit = position_.units[p];
      if (moves(p) && resolve(p)) {
        unit.location = orders_[p].destination;
        next.place(unit);
      } else if (moves(p)) {
        if (failed != nullptr) failed->add(p);
        if (prevent(p) > 0) closed.add(to_[p]);
      }
    }
    for (const Province p : position_.occupied) {
      if (!(moves(p) && resolve(p)) && !next.occupied.has(p)) next.place(position_.units[p]);
    }
    for (const Province p : position_.occupied) {
      if (moves(p) && resolve(p)) continue;
      for (const Province attacker : attackers_[p]) {
        if (!resolve(attacker)) continue;
        Set barred = closed;
        if (!convoyed_[attacker]) barred.add(attacker);
        const Set retreats = next.retreats_of(position_.units[p], barred);
        if (!retreats.empty()) next.dislodge(position_.units[p], retreats);
      }
    }
    return next;
  }

 private:
  enum class State : std::uint8_t { kUnresolved, kGuessing, kResolved };

  bool moves(Province p) const {
    return orders_[p].kind == Kind::kMove || orders_[p].kind == Kind::kMoveVia;
  }
  // Whether the unit in `p` is ordered to `destination`, on any coast if that names none.
  bool moves_to(Province p, Location destination) const {
    const Map& m = map();
    if (!moves(p) || m.province[orders_[p].destination] != m.province[destination]) return false;
    return destination == m.whole[m.province[destination]] ||
           destination == orders_[p].destination;
  }
  // An army walks to a neighbour unless its order says VIA or a fleet of its own power convoys it.
  bool wants_convoy(Province p) const {
    if (orders_[p].kind == Kind::kMoveVia) return true;
    for (const Province fleet : convoys_[p]) {
      if (position_.units[fleet].power == position_.units[p].power) return true;
    }
    return false;
  }
  bool route(Province p, const Set& fleets) const { return Convoys::reach(p, fleets).has(to_[p]); }

  bool resolve(Province p) {
    if (state_[p] == State::kResolved) return outcome_[p];
    if (state_[p] == State::kGuessing) {
      add_dependency(p);
      return outcome_[p];
    }
    const int before = dependencies_;
    outcome_[p] = false;
    state_[p] = State::kGuessing;
    const bool first = adjudicate(p);
    if (dependencies_ == before) {
      // A backup rule may have settled it meanwhile.
      if (state_[p] != State::kResolved) settle(p, first);
      return outcome_[p];
    }
    if (dependent_[before] != p) {
      add_dependency(p);
      outcome_[p] = first;
      return first;
    }
    forget(before);
    outcome_[p] = true;
    state_[p] = State::kGuessing;
    const bool second = adjudicate(p);
    if (first == second) {
      forget(before);
      settle(p, first);
      return first;
    }
    break_cycle(before);
    return resolve(p);
  }
  void settle(Province p, bool outcome) {
    outcome_[p] = outcome;
    state_[p] = State::kResolved;
  }
  void add_dependency(Province p) {
    for (int i = 0; i < dependencies_; ++i) {
      if (dependent_[i] == p) return;
    }
    dependent_[dependencies_++] = p;
  }
  void forget(int before) {
    while (dependencies_ > before) state_[dependent_[--dependencies_]] = State::kUnresolved;
  }
  // Both guesses are consistent, or neither is. In a convoy paradox the convoys fail (Szykman's
  // rule); units that follow each other in a circle move.
  void break_cycle(int before) {
    const auto is_convoy = [&](int i) { return orders_[dependent_[i]].kind == Kind::kConvoy; };
    bool paradox = false;
    for (int i = before; i < dependencies_; ++i) paradox |= is_convoy(i);
    while (dependencies_ > before) {
      const Province p = dependent_[--dependencies_];
      state_[p] = State::kUnresolved;
      if (paradox ? is_convoy(dependencies_) : moves(p)) settle(p, !paradox);
    }
  }

  bool adjudicate(Province p) {
    switch (orders_[p].kind) {
      case Kind::kMove:
      case Kind::kMoveVia: return advances(p);
      case Kind::kSupportHold:
      case Kind::kSupportMove: return supports(p);
      default: return !dislodged(p);  // a convoy
    }
  }

  bool advances(Province p) {
    if (!has_path(p)) return false;
    const Province to = to_[p];
    int attack, resistance = 0;
    if (!position_.occupied.has(to) || (moves(to) && !head_to_head(p) && resolve(to))) {
      attack = strength(p);
    } else {
      const Power defender = position_.units[to].power;
      if (defender == position_.units[p].power) return false;
      attack = strength(p, defender);
      resistance = moves(to) && !head_to_head(p) ? 1 : strength(to);
    }
    if (attack <= resistance) return false;
    for (const Province other : attackers_[to]) {
      // Skip strengths that even all supports together could not reach.
      if (other == p || supporters_[other].count() + 1 < attack) continue;
      if (prevent(other) >= attack) return false;
    }
    return true;
  }
  bool supports(Province p) {
    const Power power = position_.units[p].power;
    for (const Province attacker : attackers_[p]) {
      if (position_.units[attacker].power == power) continue;
      // An attack from the province that the support is aimed at cuts only by dislodging.
      if (attacker == to_[p] ? resolve(attacker) : has_path(attacker)) return false;
    }
    return true;
  }
  bool dislodged(Province p) {
    for (const Province attacker : attackers_[p]) {
      if (resolve(attacker)) return true;
    }
    return false;
  }

  bool has_path(Province p) {
    if (!convoyed_[p]) return true;
    if (!route(p, convoys_[p])) return false;
    Set intact;
    for (const Province fleet : convoys_[p]) {
      if (resolve(fleet)) intact.add(fleet);
    }
    return route(p, intact);
  }
  bool head_to_head(Province p) const {
    const Province to = to_[p];
    return moves(to) && to_[to] == p && !convoyed_[p] && !convoyed_[to];
  }
  // One plus the number of uncut supports, without those of this power.
  int strength(Province p, Power without = kNobody) {
    int sum = 1;
    for (const Province supporter : supporters_[p]) {
      if (position_.units[supporter].power != without && resolve(supporter)) ++sum;
    }
    return sum;
  }
  int prevent(Province p) {
    if (!has_path(p) || (head_to_head(p) && resolve(to_[p]))) return 0;
    return strength(p);
  }

  const Position& position_;
  std::array<Order, kProvinces> orders_{};
  std::array<Province, kProvinces> to_{};  // the target of a move or support
  std::array<Set, kProvinces> attackers_, supporters_, convoys_;
  std::array<bool, kProvinces> convoyed_{}, outcome_{};
  std::array<State, kProvinces> state_{};
  std::array<Province, kProvinces> dependent_{};
  int dependencies_ = 0;
};

}  // namespace

Position move_units(const Position& position, std::span<const Order> orders, Set* failed) {
  return Moves(position, orders).result(failed);
}

}  // namespace kedge::diplomacy
