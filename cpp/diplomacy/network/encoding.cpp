#include "diplomacy/network/encoding.hpp"

#include <algorithm>
#include <cstdlib>

namespace kedge::diplomacy {
namespace {

enum Fact {
  kWhich, kPhase, kUnit, kDislodgedUnit, kCentre, kHome, kAdjustable, kKind, kTarget, kDestination
};

std::uint16_t row(int first, int which) { return static_cast<std::uint16_t>(first + which); }

Power owner(const Position& position, const Order& order) {
  const Province p = map().province[order.unit];
  if (order.kind == Kind::kBuild) return position.owners[p];
  if (position.retreats()) return position.find_dislodged(p)->unit.power;
  return position.units[p].power;
}

// The kind of an order; builds of armies and of fleets differ.
constexpr int kKinds = 12;
int kind_of(const Order& order) {
  const bool builds_fleet = order.kind == Kind::kBuild && order.fleet;
  return builds_fleet ? 0 : static_cast<int>(order.kind);
}

bool adjusts(Kind kind) { return kind == Kind::kBuild || kind == Kind::kDisband; }
bool supports_move(Kind kind) { return kind == Kind::kSupportMove || kind == Kind::kConvoy; }
bool goes(Kind kind) {
  return kind == Kind::kMove || kind == Kind::kMoveVia || kind == Kind::kRetreat;
}

// Numbers the pairs of neighbouring provinces, from 1.
struct Steps {
  Steps() {
    const Map& m = map();
    for (int from = 0; from < kProvinces; ++from) {
      for (int to = 0; to < kProvinces; ++to) {
        bool borders = m.by_land[from].has(static_cast<Province>(to));
        for (int l = 0; l < kLocations; ++l) {
          borders |= m.province[l] == from && m.sailing[l].has(static_cast<Province>(to));
        }
        numbers[from][to] = borders ? ++count : std::uint16_t{0};
      }
    }
  }
  std::array<std::array<std::uint16_t, kProvinces>, kProvinces> numbers;
  std::uint16_t count = 0;
};

const Steps& steps() {
  static const Steps all;
  return all;
}

constexpr int kTargetOrderRow = 1 + kKinds * kLocations;
constexpr int kStepRow = kTargetOrderRow + 3 * kLocations;

}  // namespace

void write_facts(const Position& position, std::span<const Packed> previous, std::uint16_t* out) {
  const Map& m = map();
  std::fill_n(out, kTokens * kFacts, std::uint16_t{0});
  const auto fact = [&](int token, Fact which) -> std::uint16_t& {
    return out[token * kFacts + which];
  };
  const auto write_unit = [&](const Unit& unit, Fact which, int first) {
    for (const Location l : {unit.location, m.whole[m.province[unit.location]]}) {
      fact(l, which) = row(first, (unit.fleet ? kPowers : 0) + unit.power);
    }
  };
  for (int i = 0; i < kTokens; ++i) {
    fact(i, kWhich) = row(kPlaceRow, i);
    fact(i, kPhase) = row(kPhaseRow, static_cast<int>(position.phase));
  }
  for (const Province p : position.occupied) write_unit(position.units[p], kUnit, kUnitRow);
  for (int i = 0; i < position.retreating; ++i) {
    write_unit(position.dislodged[i].unit, kDislodgedUnit, kDislodgedRow);
  }
  std::array<int, kPowers + 1> centres{}, units{};
  for (const Province p : m.centres) {
    fact(m.whole[p], kCentre) = row(kCentreRow, position.owners[p]);
    ++centres[position.owners[p]];
  }
  for (const Province p : position.occupied) ++units[position.units[p].power];
  for (Power power = 0; power < kPowers; ++power) {
    for (const Province p : m.homes[power]) fact(m.whole[p], kHome) = row(kHomeRow, power);
    const int adjustment = position.adjusting() ? position.adjustment(power) : 0;
    if (adjustment > 0) {
      for (const Province p : position.build_sites(power)) {
        fact(m.whole[p], kAdjustable) = kAdjustableRow;
      }
    } else if (adjustment < 0) {
      for (const Province p : position.occupied) {
        if (position.units[p].power == power) fact(m.whole[p], kAdjustable) = kAdjustableRow + 1;
      }
    }
    const int token = kLocations + power;
    constexpr int kMost = kCentres / 2;
    fact(token, kUnit) = row(kCentresRow, centres[power]);
    fact(token, kDislodgedUnit) = row(kUnitsRow, units[power]);
    fact(token, kCentre) = row(kAdjustmentRow, kMost + std::clamp(adjustment, -kMost, kMost));
  }
  for (const Packed packed : previous) {
    const std::optional<Order> order = unpack(packed);
    if (!order) continue;
    fact(order->unit, kKind) = row(kKindRow, static_cast<int>(order->kind));
    fact(order->unit, kTarget) = row(kTargetRow, order->target);
    fact(order->unit, kDestination) = row(kDestinationRow, order->destination);
  }
}

void write_order_facts(const Order& order, std::uint16_t* out) {
  const Map& m = map();
  const Kind kind = order.kind;
  const bool helps = supports_move(kind) || kind == Kind::kSupportHold;
  const Location place = adjusts(kind) ? order.unit : order.destination;
  out[0] = row(1, kind_of(order) * kLocations + place);
  std::fill_n(out + 1, kOrderFacts - 1, std::uint16_t{0});
  if (helps) {
    const int how = static_cast<int>(kind) - static_cast<int>(Kind::kSupportHold);
    out[1] = row(kTargetOrderRow, how * kLocations + order.target);
  }
  if (supports_move(kind)) {
    const int step = steps().numbers[m.province[order.target]][m.province[order.destination]];
    if (step > 0) out[2] = row(kStepRow, step - 1);
  }
  const auto look = [](int purpose, Location at) { return row(1, purpose * kLocations + at); };
  if (goes(kind)) out[3] = look(0, order.destination);
  if (supports_move(kind)) out[3] = look(1, order.destination);
  if (helps) out[4] = look(2, order.target);
  if (adjusts(kind)) out[4] = look(3, order.unit);
}

std::uint16_t order_rows() { return row(kStepRow, steps().count); }

std::vector<Choice> choices_of(const Position& position, Power power) {
  const Map& m = map();
  std::vector<Order> orders;
  legal_orders(position, orders, power);
  std::array<std::vector<Choice>, kPowers> by_power;
  for (const Order& order : orders) {
    const Power whose = owner(position, order);
    std::vector<Choice>& own = by_power[whose];
    const bool adjusting = position.adjusting();
    if (own.empty() ||
        (!adjusting && m.province[own.back().place] != m.province[order.unit])) {
      own.push_back({whose, adjusting ? Location{kLocations} : order.unit, {}});
    }
    own.back().orders.push_back(pack(order));
  }
  std::vector<Choice> out;
  for (std::vector<Choice>& own : by_power) {
    if (position.adjusting() && !own.empty()) {
      const int adjustment = position.adjustment(own.front().power);
      if (adjustment > 0) own.front().orders.push_back(pack({.kind = Kind::kWaive}));
      own.resize(static_cast<std::size_t>(std::abs(adjustment)), Choice(own.front()));
    }
    std::move(own.begin(), own.end(), std::back_inserter(out));
  }
  return out;
}

}  // namespace kedge::diplomacy
