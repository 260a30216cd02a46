#include "bindings.hpp"

#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "diplomacy/network/joint.hpp"
#include "parallel.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using namespace kedge::diplomacy;

using Orders = nb::ndarray<const Packed, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Joint = nb::ndarray<const Packed, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Indices = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Mask = nb::ndarray<const bool, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Placed = std::vector<std::tuple<Power, std::string>>;
using Places = std::vector<std::string>;
using Retreating = std::vector<std::tuple<Power, std::string, std::optional<Places>>>;

[[noreturn]] void refuse(const std::string& why) { throw nb::value_error(why.c_str()); }

Location find_place(const std::string& name) {
  const std::optional<Location> place = map().find(name);
  if (!place) refuse(name.substr(0, 40) + " is not a place of the map");
  return *place;
}

Unit find_unit(Power power, const std::string& text) {
  const std::optional<Unit> unit = parse_unit(text);
  if (!unit || power >= kPowers) {
    refuse(text.substr(0, 40) + " is not a unit such as A PAR or F STP/SC");
  }
  return {power, unit->fleet, unit->location};
}

Position make_position(std::string_view phase, const Placed& units, const Placed& centres,
                       const Retreating& dislodged) {
  const Map& m = map();
  Position position;
  if (!parse_phase(phase, position)) {
    refuse(std::string(phase.substr(0, 40)) + " is not a phase such as S1901M, F1901R or W1901A");
  }
  if (units.size() + dislodged.size() > kCentres) refuse("more than 34 units");
  for (const auto& [power, text] : units) {
    const Unit unit = find_unit(power, text);
    if (position.occupied.has(m.province[unit.location])) refuse(text + ": another unit is there");
    position.place(unit);
  }
  for (const auto& [power, name] : centres) {
    const Province province = m.province[find_place(name)];
    if (!m.centres.has(province) || power >= kPowers) refuse(name + " is not a supply centre");
    if (position.owners[province] != kNobody) refuse(name + " has two owners");
    position.owners[province] = power;
  }
  if (dislodged.size() > position.dislodged.size()) refuse("more than 17 units were dislodged");
  if (!dislodged.empty() && !position.retreats()) refuse("units can retreat in R phases only");
  for (const auto& [power, text, retreats] : dislodged) {
    const Unit unit = find_unit(power, text);
    const Province province = m.province[unit.location];
    if (position.find_dislodged(province) != nullptr) refuse(text + ": dislodged twice");
    Set open = position.retreats_of(unit, Set());
    if (retreats) {
      Set named;
      for (const std::string& name : *retreats) named.add(find_place(name));
      open &= named;
    }
    position.dislodge(unit, open);
  }
  return position;
}

// One list per power.
template <typename List>
nb::list by_power(const List& list_of) {
  nb::list out;
  for (Power power = 0; power < kPowers; ++power) out.append(list_of(power));
  return out;
}

nb::list units_of(const Position& position, Power power) {
  nb::list out;
  for (const bool fleet : {false, true}) {
    for (const Province p : position.occupied) {
      const Unit& unit = position.units[p];
      if (unit.power == power && unit.fleet == fleet) out.append(format_unit(unit));
    }
  }
  return out;
}

nb::list centres_of(const Position& position, Power power) {
  nb::list out;
  for (const Province p : map().centres) {
    if (position.owners[p] == power) out.append(map().names[map().whole[p]]);
  }
  return out;
}

nb::dict dislodged_of(const Position& position, Power power) {
  nb::dict out;
  for (int i = 0; i < position.retreating; ++i) {
    const auto& [unit, retreats] = position.dislodged[i];
    if (unit.power != power) continue;
    nb::list places;
    for (const Location l : retreats) places.append(map().names[l]);
    out[nb::cast(format_unit(unit))] = places;
  }
  return out;
}

nb::str text_of(const Order& order) {
  char text[kMaxText];
  return nb::str(text, write_order(order, text));
}

// Legal orders of one power or of all, by province; without waives.
std::vector<Packed> packed_orders(const Position& position, Power power) {
  std::vector<Order> orders;
  legal_orders(position, orders, power);
  std::vector<Packed> out;
  for (const Order& order : orders) out.push_back(pack(order));
  return out;
}

// The position after the orders of some powers, and those that are legal, with coasts and VIA filled
// in. A power cannot order another's units.
nb::tuple adjudicate_given(const Position& position, const std::vector<Orders>& orders,
                           const std::vector<Power>& powers) {
  if (orders.size() != powers.size()) refuse("orders: expected one array per power");
  std::vector<Order> legal;
  for (std::size_t i = 0; i < powers.size(); ++i) {
    if (powers[i] >= kPowers) throw nb::index_error("not a power");
    legalise(position, {orders[i].data(), orders[i].shape(0)}, legal, powers[i]);
  }
  std::vector<Packed> packed;
  for (const Order& order : legal) packed.push_back(pack(order));
  return nb::make_tuple(adjudicate(position, legal), kedge::own(std::move(packed)));
}

// The position after these orders, and the moves and retreats among them that fail.
nb::tuple resolve(const Position& position, const Orders& orders) {
  std::vector<Order> legal;
  legalise(position, {orders.data(), orders.shape(0)}, legal);
  Set failed;
  const Position next = adjudicate(position, legal, &failed);
  std::vector<Packed> packed;
  for (const Order& order : legal) {
    const Province p = map().province[order.unit];
    if (failed.has(p)) packed.push_back(pack(order));
    failed.remove(p);  // a later order for this unit had no effect
  }
  return nb::make_tuple(next, kedge::own(std::move(packed)));
}

// The letter of an order's verb, as `write_order` writes it.
const char* verb_of(Kind kind) {
  switch (kind) {
    case Kind::kHold: return "H";
    case Kind::kDisband: return "D";
    case Kind::kBuild: return "B";
    case Kind::kRetreat: return "R";
    case Kind::kConvoy: return "C";
    case Kind::kSupportHold:
    case Kind::kSupportMove: return "S";
    default: return "-";
  }
}

// What the words of an order say, by name; `other` is the place of the unit that it helps.
nb::dict parts_of(const Order& order) {
  const auto& names = map().names;
  nb::dict parts;
  parts["verb"] = order.kind == Kind::kWaive ? "WAIVE" : verb_of(order.kind);
  if (order.kind == Kind::kWaive) return parts;
  parts["kind"] = order.fleet ? "F" : "A";
  parts["at"] = names[order.unit];
  const bool helps = order.kind == Kind::kSupportHold || order.kind == Kind::kSupportMove ||
                     order.kind == Kind::kConvoy;
  if (helps) parts["other"] = names[order.target];
  const bool stays = order.kind == Kind::kHold || order.kind == Kind::kDisband ||
                     order.kind == Kind::kBuild || order.kind == Kind::kSupportHold;
  if (!stays) parts["to"] = names[order.destination];
  return parts;
}

// Legal orders of one power or of all, by the place that players name first. `add` adds an order to
// the `List` of its place.
template <typename List, typename Add>
nb::dict orders_by_place(const Position& position, Power power, const Add& add) {
  const Map& m = map();
  std::vector<Order> orders;
  legal_orders(position, orders, power);
  nb::dict out;
  for (std::size_t i = 0; i < orders.size();) {
    const Order& first = orders[i];
    const bool builds = first.kind == Kind::kBuild;
    List list;
    for (; i < orders.size() && m.province[orders[i].unit] == m.province[first.unit]; ++i) {
      add(list, orders[i]);
    }
    if (builds) add(list, Order{Kind::kWaive});
    out[nb::cast(m.names[builds ? m.whole[m.province[first.unit]] : first.unit])] = list;
  }
  return out;
}

nb::dict orders_of(const Position& position, Power power) {
  return orders_by_place<nb::list>(position, power, [](nb::list& list, const Order& order) {
    list.append(text_of(order));
  });
}

// The same with the parts of each order, by its text.
nb::dict order_parts_of(const Position& position, Power power) {
  return orders_by_place<nb::dict>(position, power, [](nb::dict& list, const Order& order) {
    list[text_of(order)] = parts_of(order);
  });
}

Packed legal_order(const Position& position, std::string_view text, Power power) {
  const std::optional<Order> order = parse_order(text);
  if (!order) return 0;
  const std::optional<Order> legal = legalise(position, Convoys(position), *order, power);
  return legal ? pack(*legal) : 0;
}

Batch adjudicate_many(const Position& position, const Joint& orders, unsigned threads) {
  constexpr std::size_t kChunk = 256;  // some 500 µs of work: threads are started for more
  const std::size_t rows = orders.shape(0), slots = orders.shape(1);
  Batch batch;
  nb::gil_scoped_release release;
  batch.positions.resize(rows);
  kedge::parallel_for((rows + kChunk - 1) / kChunk, kedge::threads_or_all(threads),
                      [&](std::size_t chunk) {
    std::vector<Order> legal;
    for (std::size_t i = chunk * kChunk; i < std::min(rows, (chunk + 1) * kChunk); ++i) {
      legal.clear();
      legalise(position, {orders.data() + i * slots, slots}, legal);
      batch.positions[i] = adjudicate(position, legal);
    }
  });
  return batch;
}

void check_indices(const Batch& batch, const Indices& which) {
  for (std::size_t i = 0; i < which.shape(0); ++i) {
    if (static_cast<std::size_t>(which.data()[i]) >= batch.positions.size()) {
      throw nb::index_error("no such board");
    }
  }
}

std::vector<std::span<const Packed>> spans_of(const std::vector<Orders>& joint) {
  std::vector<std::span<const Packed>> spans;
  for (const Orders& orders : joint) spans.emplace_back(orders.data(), orders.shape(0));
  return spans;
}

// Constructs `self`.
void make_actions(JointActions* self, const Batch& roots, const std::vector<Orders>& candidates,
                  const Rows& counts, const Mask& valued, unsigned threads) {
  const std::size_t boards = roots.positions.size();
  if (counts.shape(0) != boards || counts.shape(1) != kPowers || valued.shape(0) != boards ||
      valued.shape(1) != kPowers) {
    refuse("counts, valued: expected shape (boards, powers)");
  }
  std::size_t total = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts.data()[i] < 1 || counts.data()[i] > 64) refuse("1 to 64 candidates per power");
    total += static_cast<std::size_t>(counts.data()[i]);
  }
  if (candidates.size() != total) refuse("candidates: expected one array of orders for each");
  new (self) JointActions(roots.positions, spans_of(candidates), {counts.data(), counts.size()},
                          {valued.data(), valued.size()}, kedge::threads_or_all(threads));
}

nb::tuple reach(JointActions& actions, const Indices& sampled) {
  if (sampled.size() != actions.roots() * kPowers) {
    refuse("sampled: expected a candidate for each power of each board");
  }
  for (std::size_t i = 0; i < sampled.size(); ++i) {
    if (!actions.has(i / kPowers, i % kPowers, sampled.data()[i])) {
      throw nb::index_error("no such candidate");
    }
  }
  Batch reached;
  std::vector<std::int64_t> where, roots, played;
  {
    nb::gil_scoped_release release;
    actions.reach({sampled.data(), sampled.size()}, where, reached.positions, roots, played);
  }
  return nb::make_tuple(kedge::own(std::move(where)), std::move(reached),
                        kedge::own(std::move(roots)), kedge::own(std::move(played), kPowers));
}

Batch take(const Batch& batch, const Indices& which) {
  check_indices(batch, which);
  Batch out;
  for (std::size_t i = 0; i < which.shape(0); ++i) {
    out.positions.push_back(batch.positions[static_cast<std::size_t>(which.data()[i])]);
  }
  return out;
}

// The arguments of `make_position`.
nb::tuple plain_form(const Position& position) {
  nb::list units, centres, dislodged;
  for (const Province p : position.occupied) {
    const Unit& unit = position.units[p];
    units.append(nb::make_tuple(unit.power, format_unit(unit)));
  }
  for (const Province p : map().centres) {
    if (position.owners[p] == kNobody) continue;
    centres.append(nb::make_tuple(position.owners[p], map().names[map().whole[p]]));
  }
  for (int i = 0; i < position.retreating; ++i) {
    const auto& [unit, retreats] = position.dislodged[i];
    nb::list places;
    for (const Location l : retreats) places.append(map().names[l]);
    dislodged.append(nb::make_tuple(unit.power, format_unit(unit), places));
  }
  return nb::make_tuple(format_phase(position), units, centres, dislodged);
}

}  // namespace

namespace kedge {

void bind_diplomacy(nb::module_& m) {
  nb::class_<Position>(m, "DiplomacyBoard")
      .def("__init__", [](Position* self) { new (self) Position(initial_position()); })
      .def_static("set_up", &make_position, "phase"_a, "units"_a, "centres"_a, "dislodged"_a)
      .def("copy", [](const Position& position) { return Position(position); })
      .def("adjudicate",
           [](const Position& position, const Orders& orders) {
             std::vector<Order> legal;
             legalise(position, {orders.data(), orders.shape(0)}, legal);
             return adjudicate(position, legal);
           },
           "orders"_a)
      .def("adjudicate_given", &adjudicate_given, "orders"_a, "powers"_a)
      .def("resolve", &resolve, "orders"_a)
      .def("legal_orders",
           [](const Position& position, Power power) {
             return kedge::own(packed_orders(position, power));
           },
           "power"_a = kNobody)
      .def("orders", &orders_of, "power"_a = kNobody)
      .def("order_parts", &order_parts_of, "power"_a = kNobody)
      // The packed order with coasts and VIA filled in, or 0 if it is illegal for this power.
      .def("legal_order", &legal_order, "text"_a, "power"_a = kNobody)
      .def("units",
           [](const Position& p) { return by_power([&](Power i) { return units_of(p, i); }); })
      .def("centres",
           [](const Position& p) { return by_power([&](Power i) { return centres_of(p, i); }); })
      .def("dislodged",
           [](const Position& p) { return by_power([&](Power i) { return dislodged_of(p, i); }); })
      .def("adjustment",
           [](const Position& position, Power power) {
             if (power >= kPowers) throw nb::index_error("not a power");
             return position.adjustment(power);
           },
           "power"_a)
      .def("orders_due",
           [](const Position& position, Power power) {
             if (power >= kPowers) throw nb::index_error("not a power");
             return position.orders_due(power);
           },
           "power"_a)
      .def("shares",
           [](const Position& position) {
             const auto shares = position.shares();
             return std::vector<double>(shares.begin(), shares.end());
           })
      .def("__getstate__", &plain_form)
      .def("__setstate__",
           [](Position& self,
              const std::tuple<std::string, Placed, Placed, Retreating>& form) {
             const auto& [phase, units, centres, dislodged] = form;
             new (&self) Position(make_position(phase, units, centres, dislodged));
           })
      .def_prop_ro("winner",
                   [](const Position& position) -> nb::object {
                     const Power power = position.winner();
                     return power == kNobody ? nb::none() : nb::cast(power);
                   })
      .def_prop_ro("phase", &format_phase)
      .def_prop_ro("moving", &Position::moving)
      .def_prop_ro("in_fall", &Position::in_fall)
      .def("same_owners",  // of centres
           [](const Position& a, const Position& b) { return a.owners == b.owners; }, "other"_a)
      .def_prop_ro("year", [](const Position& position) { return position.year; })
      .def_prop_ro("key", &Position::hash)
      .def("__eq__", [](const Position& a, const Position& b) { return a == b; },
           nb::is_operator())
      .def("__hash__", [](const Position& position) { return position.hash() >> 1; });

  nb::class_<Batch>(m, "DiplomacyBatch")
      .def(nb::init<std::vector<Position>>(), "boards"_a)
      .def("__len__", [](const Batch& batch) { return batch.positions.size(); })
      .def("__getitem__",
           [](const Batch& batch, std::size_t i) {
             if (i >= batch.positions.size()) throw nb::index_error("no such board");
             return batch.positions[i];
           })
      .def("keys", [](const Batch& batch) {
        std::vector<std::uint64_t> keys;
        for (const Position& position : batch.positions) keys.push_back(position.hash());
        return kedge::own(std::move(keys));
      })
      .def("take", &take, "which"_a)
      // The power with 18 centres, or -1.
      .def("winners", [](const Batch& batch) {
        std::vector<std::int8_t> winners;
        for (const Position& position : batch.positions) {
          const Power power = position.winner();
          winners.push_back(power == kNobody ? std::int8_t{-1} : static_cast<std::int8_t>(power));
        }
        return kedge::own(std::move(winners));
      })
      .def("shares", [](const Batch& batch) {
        std::vector<double> shares;
        for (const Position& position : batch.positions) {
          const auto row = position.shares();
          shares.insert(shares.end(), row.begin(), row.end());
        }
        return kedge::own(std::move(shares), kPowers);
      });

  nb::class_<JointActions>(m, "DiplomacyJointActions")
      .def("__init__", &make_actions, "roots"_a, "candidates"_a, "counts"_a, "valued"_a,
           "threads"_a = 0)
      .def("reach", &reach, "sampled"_a);

  m.def("diplomacy_adjudicate_many", &adjudicate_many, "board"_a, "orders"_a.noconvert(),
        "threads"_a = 0);
  m.def("diplomacy_coordinated", [](const std::vector<Orders>& joint) {
    std::vector<std::uint8_t> out;
    for (const auto orders : spans_of(joint)) out.push_back(coordinated(orders));
    return kedge::own(std::move(out));
  }, "joint"_a);
  m.def("diplomacy_format_order", [](Packed packed) {
    const std::optional<Order> order = unpack(packed);
    if (!order) throw nb::value_error("not an order");
    return text_of(*order);
  }, "order"_a);
  m.def("diplomacy_order_parts", [](Packed packed) {
    const std::optional<Order> order = unpack(packed);
    if (!order) throw nb::value_error("not an order");
    return parts_of(*order);
  }, "order"_a);
  m.def("diplomacy_parse_order", [](std::string_view text) {
    const std::optional<Order> order = parse_order(text);
    if (!order) throw nb::value_error("not an order such as A PAR - BUR");
    return pack(*order);
  }, "text"_a);
  m.def("diplomacy_locations", [] {
    return std::vector<std::string>(map().names.begin(), map().names.end());
  });
  // Pairs of neighbouring locations, in both directions.
  m.def("diplomacy_borders", [](bool fleet) {
    const Map& standard = map();
    std::vector<std::tuple<int, int>> pairs;
    for (int a = 0; a < kLocations; ++a) {
      const Province from = standard.province[a];
      if (fleet) {
        for (const Location b : standard.by_sea[a]) pairs.emplace_back(a, b);
      } else if (standard.whole[from] == a) {
        for (const Province p : standard.by_land[from]) pairs.emplace_back(a, standard.whole[p]);
      }
    }
    return pairs;
  }, "fleet"_a);
}

}  // namespace kedge
