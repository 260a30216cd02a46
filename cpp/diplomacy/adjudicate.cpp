// Computes the next phase from orders.
#include <algorithm>
#include <tuple>

#include "diplomacy/moves.hpp"

namespace kedge::diplomacy {
namespace {

Position retreat_units(const Position& position, std::span<const Order> orders, Set* failed) {
  const Map& m = map();
  Position next = position;
  next.retreating = 0;
  next.dislodged = {};
  Set ordered, going, taken, contested;
  std::array<Unit, kProvinces> arrived;
  std::array<Province, kProvinces> goals;
  for (const Order& order : orders) {
    const Province p = m.province[order.unit];
    if (ordered.has(p)) continue;
    ordered.add(p);
    if (order.kind != Kind::kRetreat) continue;
    const Province to = m.province[order.destination];
    going.add(p);
    goals[p] = to;
    (taken.has(to) ? contested : taken).add(to);
    arrived[to] = position.find_dislodged(p)->unit;
    arrived[to].location = order.destination;
  }
  for (const Province p : taken - contested) next.place(arrived[p]);
  for (const Province p : going) {
    if (failed != nullptr && contested.has(goals[p])) failed->add(p);
  }
  return next;
}

void remove(Position& position, Province p) {
  position.units[p] = {};
  position.occupied.remove(p);
}

// Civil disorder: the unit farthest from home goes first, fleets before armies, then by name.
void remove_farthest(Position& position, Power power) {
  const auto key = [&](Province p) {
    const Unit& unit = position.units[p];
    return std::tuple(-map().distance[power][unit.fleet][unit.location], !unit.fleet, p);
  };
  std::optional<Province> farthest;
  for (const Province p : position.occupied) {
    if (position.units[p].power == power && (!farthest || key(p) < key(*farthest))) farthest = p;
  }
  remove(position, *farthest);
}

Position adjust_units(const Position& position, std::span<const Order> orders) {
  const Map& m = map();
  Position next = position;
  std::array<int, kPowers> left;
  for (Power power = 0; power < kPowers; ++power) left[power] = position.adjustment(power);
  for (const Order& order : orders) {
    if (order.kind == Kind::kWaive) continue;
    const Province p = m.province[order.unit];
    const bool builds = order.kind == Kind::kBuild;
    const Power power = builds ? position.owners[p] : position.units[p].power;
    if (left[power] == 0 || next.occupied.has(p) == builds) continue;
    left[power] += builds ? -1 : 1;
    if (builds) {
      next.place({power, order.fleet, order.unit});
    } else {
      remove(next, p);
    }
  }
  for (Power power = 0; power < kPowers; ++power) {
    for (; left[power] < 0; ++left[power]) remove_farthest(next, power);
  }
  return next;
}

void end_year(Position& position) {
  position.phase = Phase::kSpringMoves;
  ++position.year;
}

// Centres change hands once Fall's retreats are over.
void end_fall(Position& position) {
  for (const Province p : position.occupied & map().centres) {
    position.owners[p] = position.units[p].power;
  }
  position.phase = Phase::kAdjustments;
  bool anyone = position.winner() != kNobody;
  for (Power power = 0; power < kPowers; ++power) anyone |= position.adjustment(power) != 0;
  if (!anyone) end_year(position);
}

}  // namespace

Position adjudicate(const Position& position, std::span<const Order> orders, Set* failed) {
  if (position.adjusting()) {
    Position next = adjust_units(position, orders);
    end_year(next);
    return next;
  }
  Position next = position.moving() ? move_units(position, orders, failed)
                                    : retreat_units(position, orders, failed);
  const bool spring = position.phase <= Phase::kSpringRetreats;
  if (next.retreating > 0) {
    next.phase = spring ? Phase::kSpringRetreats : Phase::kFallRetreats;
  } else if (spring) {
    next.phase = Phase::kFallMoves;
  } else {
    end_fall(next);
  }
  return next;
}

}  // namespace kedge::diplomacy
