// Legal orders. They depend on the position alone, never on the orders of other powers.
#include <algorithm>

#include "diplomacy/position.hpp"

namespace kedge::diplomacy {
namespace {

// Provinces that the unit can reach without a convoy and may support into.
const Set& steps(const Unit& unit) {
  const Map& m = map();
  return unit.fleet ? m.sailing[unit.location] : m.by_land[m.province[unit.location]];
}

// The only place that `destination` can mean for this fleet.
std::optional<Location> coast_for(const Unit& fleet, Location destination) {
  const Map& m = map();
  const Set& open = m.by_sea[fleet.location];
  if (open.has(destination)) return destination;
  if (destination != m.whole[m.province[destination]]) return std::nullopt;
  const Set coasts = m.coasts[m.province[destination]] & open;
  if (coasts.count() != 1) return std::nullopt;
  return *coasts.begin();
}

std::optional<Order> legal_move(const Unit& unit, const Convoys& convoys, Order order) {
  const Map& m = map();
  if (unit.fleet) {
    const std::optional<Location> to = coast_for(unit, order.destination);
    if (!to) return std::nullopt;
    order.kind = Kind::kMove;
    order.destination = *to;
    return order;
  }
  const Province from = m.province[unit.location], to = m.province[order.destination];
  order.destination = m.whole[to];
  const bool adjacent = m.by_land[from].has(to);
  if (adjacent && order.kind == Kind::kMove) return order;
  if (convoys.reach(from).has(to)) {
    order.kind = Kind::kMoveVia;
  } else if (adjacent) {
    order.kind = Kind::kMove;
  } else {
    return std::nullopt;
  }
  return order;
}

std::optional<Order> legal_support(const Position& position, const Unit& unit,
                                   const Convoys& convoys, Order order) {
  const Map& m = map();
  const Province here = m.province[unit.location], whom = m.province[order.target];
  const Unit& target = position.units[whom];
  if (whom == here || target.power == kNobody || target.fleet != order.target_fleet) {
    return std::nullopt;
  }
  order.target = target.location;
  if (order.kind == Kind::kSupportHold) {
    if (!steps(unit).has(whom)) return std::nullopt;
    return order;
  }
  const Province to = m.province[order.destination];
  if (to == whom || !steps(unit).has(to)) return std::nullopt;
  if (target.fleet) {
    const bool open = order.destination == m.whole[to];
    if (!(open ? m.sailing : m.by_sea)[target.location].has(open ? to : order.destination)) {
      return std::nullopt;
    }
    return order;
  }
  order.destination = m.whole[to];
  if (!m.by_land[whom].has(to) && !convoys.reach_without(whom, here).has(to)) return std::nullopt;
  return order;
}

std::optional<Order> legal_convoy(const Position& position, const Unit& unit,
                                  const Convoys& convoys, Order order) {
  const Map& m = map();
  const Province here = m.province[unit.location], whom = m.province[order.target];
  const Unit& army = position.units[whom];
  if (army.power == kNobody || army.fleet || order.target_fleet || !convoys.fleets().has(here)) {
    return std::nullopt;
  }
  const Province to = m.province[order.destination];
  order.target = army.location;
  order.destination = m.whole[to];
  if (!convoys.routes(whom)[here].has(to)) return std::nullopt;
  return order;
}

std::optional<Order> legal_retreat(const Position& position, Order order, Power power) {
  const Map& m = map();
  const Dislodged* one = position.find_dislodged(m.province[order.unit]);
  if (one == nullptr || one->unit.fleet != order.fleet) return std::nullopt;
  if (power != kNobody && one->unit.power != power) return std::nullopt;
  order.unit = one->unit.location;
  if (order.kind == Kind::kDisband) return order;
  if (order.kind != Kind::kRetreat) return std::nullopt;
  if (!one->unit.fleet) {
    order.destination = m.whole[m.province[order.destination]];
  } else if (const auto to = coast_for(one->unit, order.destination)) {
    order.destination = *to;
  }
  if (!one->retreats.has(order.destination)) return std::nullopt;
  return order;
}

std::optional<Order> legal_adjustment(const Position& position, Order order, Power power) {
  const Map& m = map();
  if (order.kind == Kind::kWaive) return order;
  const Province here = m.province[order.unit];
  if (order.kind == Kind::kDisband) {
    const Unit& unit = position.units[here];
    if (unit.power == kNobody || unit.fleet != order.fleet) return std::nullopt;
    if (power != kNobody && unit.power != power) return std::nullopt;
    if (position.adjustment(unit.power) >= 0) return std::nullopt;
    order.unit = unit.location;
    return order;
  }
  if (order.kind != Kind::kBuild) return std::nullopt;
  const Power owner = position.owners[here];
  if (owner == kNobody || (power != kNobody && owner != power)) return std::nullopt;
  if (!position.build_sites(owner).has(here) || position.adjustment(owner) <= 0) {
    return std::nullopt;
  }
  if (!order.fleet) {
    order.unit = m.whole[here];
  } else if (m.by_sea[order.unit].empty()) {
    return std::nullopt;  // inland, or the coast is missing
  }
  return order;
}

}  // namespace

Convoys::Convoys(const Position& position) {
  for (const Province p : position.occupied & map().sea) fleets_.add(p);
}

Set Convoys::reach(Province from, Set fleets) {
  const Map& m = map();
  Set out, edge = m.seas[from] & fleets;
  while (!edge.empty()) {
    fleets -= edge;
    Set next;
    for (const Province p : edge) {
      out |= m.shores[p];
      next |= m.seas[p];
    }
    edge = next & fleets;
  }
  out.remove(from);
  return out;
}

Set Convoys::reach(Province from) const {
  return map().coast.has(from) ? reach(from, fleets_) : Set();
}

Set Convoys::reach_without(Province from, Province fleet) const {
  if (!map().coast.has(from)) return {};
  Set others = fleets_;
  others.remove(fleet);
  return reach(from, others);
}

std::array<Set, kProvinces> Convoys::routes(Province from) const {
  std::array<Set, kProvinces> through{};
  if (!map().coast.has(from)) return through;
  Set start;
  start.add(from);
  for (const Province first : map().seas[from] & fleets_) {
    extend(first, fleets_ - map().seas[from], start, through);
  }
  return through;
}

Set Convoys::extend(Province fleet, const Set& open, const Set& seen,
                    std::array<Set, kProvinces>& through) const {
  const Map& m = map();
  // Fleets after the next one must not border this one: the route could skip those between.
  Set ends = m.shores[fleet] - seen;
  for (const Province next : m.seas[fleet] & open) {
    ends |= extend(next, open - m.seas[fleet], seen | m.shores[fleet], through);
  }
  through[fleet] |= ends;
  return ends;
}

std::optional<Order> legalise(const Position& position, const Convoys& convoys, Order order,
                              Power power) {
  if (position.adjusting()) return legal_adjustment(position, order, power);
  if (position.retreats()) return legal_retreat(position, order, power);
  const Unit& unit = position.units[map().province[order.unit]];
  if (unit.power == kNobody || unit.fleet != order.fleet) return std::nullopt;
  if (power != kNobody && unit.power != power) return std::nullopt;
  order.unit = unit.location;
  switch (order.kind) {
    case Kind::kHold: return order;
    case Kind::kMove:
    case Kind::kMoveVia: return legal_move(unit, convoys, order);
    case Kind::kSupportHold:
    case Kind::kSupportMove: return legal_support(position, unit, convoys, order);
    case Kind::kConvoy: return legal_convoy(position, unit, convoys, order);
    default: return std::nullopt;
  }
}

void legalise(const Position& position, std::span<const Packed> orders, std::vector<Order>& out,
              Power power) {
  const Convoys convoys(position);
  for (const Packed packed : orders) {
    std::optional<Order> order = unpack(packed);
    if (order) order = legalise(position, convoys, *order, power);
    if (order) out.push_back(*order);
  }
}

namespace {

// The convoys that fleets at sea offer each army.
struct Passages {
  explicit Passages(const Position& position) : convoys(position) {
    for (const Province p : position.occupied & map().coast) {
      if (position.units[p].fleet) continue;
      reach[p] = convoys.reach(p);
      if (!reach[p].empty()) routes.emplace_back(p, convoys.routes(p));
    }
  }
  Convoys convoys;
  std::array<Set, kProvinces> reach;
  std::vector<std::pair<Province, std::array<Set, kProvinces>>> routes;
};

void moves_of(const Position& position, const Passages& passages, const Unit& unit,
              std::vector<Order>& out) {
  const Map& m = map();
  const Province here = m.province[unit.location];
  const auto add = [&](Kind kind, const Unit* target, Location destination) {
    out.push_back({kind, unit.fleet, target != nullptr && target->fleet, unit.location,
                   target != nullptr ? target->location : Location{0}, destination});
  };
  add(Kind::kHold, nullptr, 0);
  if (unit.fleet) {
    for (const Location l : m.by_sea[unit.location]) add(Kind::kMove, nullptr, l);
  } else {
    for (const Province p : m.by_land[here]) add(Kind::kMove, nullptr, m.whole[p]);
    for (const Province p : passages.reach[here]) add(Kind::kMoveVia, nullptr, m.whole[p]);
  }
  const Set& into = steps(unit);
  const bool convoying = passages.convoys.fleets().has(here);
  for (const Province p : position.occupied) {
    const Unit& other = position.units[p];
    if (p == here) continue;
    if (into.has(p)) add(Kind::kSupportHold, &other, 0);
    if (other.fleet) {
      // The coast may also be left open.
      for (const Province d : m.sailing[other.location] & into) {
        add(Kind::kSupportMove, &other, m.whole[d]);
        for (const Location l : m.coasts[d] & m.by_sea[other.location]) {
          add(Kind::kSupportMove, &other, l);
        }
      }
      continue;
    }
    Set to = m.by_land[p];
    if (const Set& reach = passages.reach[p]; !reach.empty()) {
      to |= convoying ? passages.convoys.reach_without(p, here) : reach;
    }
    for (const Province d : to & into) add(Kind::kSupportMove, &other, m.whole[d]);
  }
  if (!convoying) return;
  for (const auto& [p, through] : passages.routes) {
    for (const Province d : through[here]) add(Kind::kConvoy, &position.units[p], m.whole[d]);
  }
}

void builds_of(const Position& position, Power power, std::vector<Order>& out) {
  const Map& m = map();
  for (const Province p : position.build_sites(power)) {
    const auto add = [&](bool fleet, Location l) {
      out.push_back({Kind::kBuild, fleet, false, l, 0, 0});
    };
    add(false, m.whole[p]);
    if (!m.coast.has(p)) continue;
    if (m.coasts[p].empty()) add(true, m.whole[p]);
    for (const Location l : m.coasts[p]) add(true, l);
  }
}

}  // namespace

void legal_orders(const Position& position, std::vector<Order>& out, Power power) {
  out.clear();
  const auto listed = [&](Power owner) { return power == kNobody || owner == power; };
  if (position.moving()) {
    const Passages passages(position);
    for (const Province p : position.occupied) {
      const Unit& unit = position.units[p];
      if (listed(unit.power)) moves_of(position, passages, unit, out);
    }
  } else if (position.retreats()) {
    for (int i = 0; i < position.retreating; ++i) {
      const auto& [unit, retreats] = position.dislodged[i];
      if (!listed(unit.power)) continue;
      out.push_back({Kind::kDisband, unit.fleet, false, unit.location, 0, 0});
      for (const Location l : retreats) {
        out.push_back({Kind::kRetreat, unit.fleet, false, unit.location, 0, l});
      }
    }
  } else {
    for (Power owner = 0; owner < kPowers; ++owner) {
      if (!listed(owner)) continue;
      const int adjustment = position.adjustment(owner);
      if (adjustment > 0) builds_of(position, owner, out);
      if (adjustment >= 0) continue;
      for (const Province p : position.occupied) {
        const Unit& unit = position.units[p];
        if (unit.power != owner) continue;
        out.push_back({Kind::kDisband, unit.fleet, false, unit.location, 0, 0});
      }
    }
  }
}

bool coordinated(std::span<const Packed> orders) {
  const Map& m = map();
  std::array<Order, kProvinces> by_province{};
  for (const Packed packed : orders) {
    if (const std::optional<Order> order = unpack(packed)) {
      by_province[m.province[order->unit]] = *order;
    }
  }
  return std::all_of(by_province.begin(), by_province.end(), [&](const Order& order) {
    const Order& helped = by_province[m.province[order.target]];
    const bool moves = helped.kind == Kind::kMove || helped.kind == Kind::kMoveVia;
    if (helped.kind == Kind::kNone) return true;  // the unit of another power
    if (order.kind == Kind::kSupportHold) return !moves;
    if (order.kind != Kind::kSupportMove && order.kind != Kind::kConvoy) return true;
    return moves && m.province[helped.destination] == m.province[order.destination];
  });
}

}  // namespace kedge::diplomacy
