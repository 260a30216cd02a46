// A position of Diplomacy, its legal orders, and the next position.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "diplomacy/map.hpp"

namespace kedge::diplomacy {

enum class Phase : std::uint8_t {
  kSpringMoves, kSpringRetreats, kFallMoves, kFallRetreats, kAdjustments
};

enum class Kind : std::uint8_t {
  kNone, kHold, kMove, kMoveVia, kSupportHold, kSupportMove, kConvoy, kRetreat, kDisband, kBuild,
  kWaive
};

// One order. `target` is the unit that it supports or convoys; `destination` is where that unit, or
// the ordered unit itself, goes. A support may leave the coast open.
struct Order {
  Kind kind = Kind::kNone;
  bool fleet = false, target_fleet = false;
  Location unit = 0, target = 0, destination = 0;
  bool operator==(const Order&) const = default;
};

// Packs an order into 27 bits; 0 means no order.
using Packed = std::uint32_t;
constexpr Packed pack(const Order& o) {
  return static_cast<Packed>(o.kind) | Packed{o.unit} << 4 | Packed{o.target} << 11 |
         Packed{o.destination} << 18 | Packed{o.fleet} << 25 | Packed{o.target_fleet} << 26;
}
std::optional<Order> unpack(Packed packed);  // nothing if no order is packed so

struct Unit {
  Power power = kNobody;
  bool fleet = false;
  Location location = 0;
  bool operator==(const Unit&) const = default;
};

struct Dislodged {
  Unit unit;
  Set retreats;  // locations
  bool operator==(const Dislodged&) const = default;
};

// Everything that the rest of the game depends on. There are never more units than centres, so
// that at most half of them are dislodged at once.
struct Position {
  Position() { owners.fill(kNobody); }

  std::array<Unit, kProvinces> units;
  std::array<Power, kProvinces> owners;  // of centres
  std::array<Dislodged, kCentres / 2> dislodged;  // ascending by province, `retreating` of them
  Set occupied;
  std::uint16_t year = 1901;
  Phase phase = Phase::kSpringMoves;
  std::uint8_t retreating = 0;
  bool operator==(const Position&) const = default;

  bool moving() const { return phase == Phase::kSpringMoves || phase == Phase::kFallMoves; }
  bool in_fall() const { return phase == Phase::kFallMoves || phase == Phase::kFallRetreats; }
  bool adjusting() const { return phase == Phase::kAdjustments; }
  bool retreats() const { return !moving() && !adjusting(); }

  void place(const Unit& unit);
  void dislodge(const Unit& unit, const Set& retreats);
  const Dislodged* find_dislodged(Province province) const;

  int centres(Power power) const;
  int count_units(Power power) const;
  Power winner() const;  // the power with 18 centres, or kNobody
  // Builds that the power may make, or −removals that it must.
  int adjustment(Power power) const;
  Set build_sites(Power power) const;  // provinces
  int orders_due(Power power) const;   // units to be ordered, built or removed
  // Sum of Squares: centres squared, as shares of 1; a power with 18 centres gets all.
  std::array<double, kPowers> shares() const;

  // Where a dislodged unit may go when `closed` provinces are not open to it.
  Set retreats_of(const Unit& unit, const Set& closed) const;
  std::uint64_t hash() const;
};

Position initial_position();

// The convoys that fleets at sea allow.
class Convoys {
 public:
  explicit Convoys(const Position& position);
  const Set& fleets() const { return fleets_; }
  // Coastal provinces that an army here can be convoyed to: by these fleets, by all, or by all but
  // one.
  static Set reach(Province from, Set fleets);
  Set reach(Province from) const;
  Set reach_without(Province from, Province fleet) const;

  // For each fleet, the provinces that an army here reaches by routes through it. A route has no
  // superfluous fleet.
  std::array<Set, kProvinces> routes(Province from) const;

 private:
  Set extend(Province fleet, const Set& open, const Set& seen,
             std::array<Set, kProvinces>& through) const;

  Set fleets_;
};

// Returns the order with unambiguous coasts and VIA filled in, or nothing if it is illegal for this
// power. kNobody means the unit's own power.
std::optional<Order> legalise(const Position& position, const Convoys& convoys, Order order,
                              Power power = kNobody);
// Adds the legal orders among `orders` to `out`, as `legalise` returns them.
void legalise(const Position& position, std::span<const Packed> orders, std::vector<Order>& out,
              Power power = kNobody);
// The legal orders of one power, or of all, by province; without waives.
void legal_orders(const Position& position, std::vector<Order>& out, Power power = kNobody);

// Whether a power's supports and convoys of its own units match the orders of those units.
bool coordinated(std::span<const Packed> orders);

// The position after these orders, which come from `legalise`. The first of two orders for a unit
// counts. Adds the provinces of units whose moves or retreats fail to `failed`, if it is given.
Position adjudicate(const Position& position, std::span<const Order> orders,
                    Set* failed = nullptr);

std::optional<Order> parse_order(std::string_view text);
// Writes at most kMaxText characters; returns their number.
inline constexpr std::size_t kMaxText = 32;
std::size_t write_order(const Order& order, char* out);
std::optional<Unit> parse_unit(std::string_view text);  // without a power
std::string format_unit(const Unit& unit);
std::string format_phase(const Position& position);
bool parse_phase(std::string_view text, Position& out);

}  // namespace kedge::diplomacy
