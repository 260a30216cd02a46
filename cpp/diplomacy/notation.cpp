// Orders, units and phases as players write them: "F MAO S A PAR - BUR", "*A PAR", "S1901M".
#include <algorithm>
#include <charconv>

#include "diplomacy/position.hpp"

namespace kedge::diplomacy {
namespace {

// The words of an order; none if there are too many for an order.
struct Words {
  explicit Words(std::string_view text) {
    while (true) {
      text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
      if (text.empty()) return;
      if (count == words.size()) {
        count = 0;
        return;
      }
      words[count] = text.substr(0, text.find(' '));
      text.remove_prefix(words[count++].size());
    }
  }
  std::array<std::string_view, 8> words;
  std::size_t count = 0;
};

bool read_unit(std::string_view type, std::string_view place, bool& fleet, Location& out) {
  const std::optional<Location> location = map().find(place);
  if ((type != "A" && type != "F") || !location) return false;
  fleet = type == "F";
  out = *location;
  return true;
}

bool read_place(std::string_view place, Location& out) {
  const std::optional<Location> location = map().find(place);
  out = location.value_or(0);
  return location.has_value();
}

constexpr std::string_view kLetters = "SFW", kEnds = "MRMRA";

}  // namespace

std::optional<Order> unpack(Packed packed) {
  const auto bits = [&](int shift, int count) {
    return static_cast<std::uint8_t>(packed >> shift & ((1u << count) - 1));
  };
  const Order order{static_cast<Kind>(bits(0, 4)), bits(25, 1) != 0, bits(26, 1) != 0,
                    bits(4, 7), bits(11, 7), bits(18, 7)};
  if (order.kind == Kind::kNone || order.kind > Kind::kWaive || order.unit >= kLocations ||
      order.target >= kLocations || order.destination >= kLocations) {
    return std::nullopt;
  }
  return order;
}

std::optional<Order> parse_order(std::string_view text) {
  const Words parsed(text);
  const auto& word = parsed.words;
  const std::size_t count = parsed.count;
  Order order;
  if (count == 1 && word[0] == "WAIVE") {
    order.kind = Kind::kWaive;
    return order;
  }
  if (count < 3 || !read_unit(word[0], word[1], order.fleet, order.unit)) return std::nullopt;
  const std::string_view verb = word[2];
  if (count == 3) {
    order.kind = verb == "H"   ? Kind::kHold
                 : verb == "D" ? Kind::kDisband
                 : verb == "B" ? Kind::kBuild
                               : Kind::kNone;
    if (order.kind == Kind::kNone) return std::nullopt;
    return order;
  }
  if (verb == "-" || verb == "R") {
    const bool via = verb == "-" && count == 5 && word[4] == "VIA";
    if ((count != 4 && !via) || !read_place(word[3], order.destination)) return std::nullopt;
    order.kind = verb == "R" ? Kind::kRetreat : via ? Kind::kMoveVia : Kind::kMove;
    return order;
  }
  if ((verb != "S" && verb != "C") || count < 5 ||
      !read_unit(word[3], word[4], order.target_fleet, order.target)) {
    return std::nullopt;
  }
  if (count == 5 && verb == "S") {
    order.kind = Kind::kSupportHold;
    return order;
  }
  // Some programs write VIA in the support of a convoyed army.
  if ((count != 7 && !(count == 8 && word[7] == "VIA")) || word[5] != "-" ||
      !read_place(word[6], order.destination)) {
    return std::nullopt;
  }
  order.kind = verb == "S" ? Kind::kSupportMove : Kind::kConvoy;
  return order;
}

std::size_t write_order(const Order& order, char* out) {
  char* end = out;
  const auto put = [&](std::string_view text) { end = std::copy(text.begin(), text.end(), end); };
  const auto unit = [&](bool fleet, Location l) {
    put(fleet ? "F " : "A ");
    put(map().names[l]);
  };
  const auto place = [&](std::string_view dash) {
    put(dash);
    put(map().names[order.destination]);
  };
  if (order.kind == Kind::kWaive) {
    put("WAIVE");
    return static_cast<std::size_t>(end - out);
  }
  unit(order.fleet, order.unit);
  switch (order.kind) {
    case Kind::kHold: put(" H"); break;
    case Kind::kDisband: put(" D"); break;
    case Kind::kBuild: put(" B"); break;
    case Kind::kRetreat: place(" R "); break;
    case Kind::kMove: place(" - "); break;
    case Kind::kMoveVia:
      place(" - ");
      put(" VIA");
      break;
    default:
      put(order.kind == Kind::kConvoy ? " C " : " S ");
      unit(order.target_fleet, order.target);
      if (order.kind != Kind::kSupportHold) place(" - ");
  }
  return static_cast<std::size_t>(end - out);
}

std::optional<Unit> parse_unit(std::string_view text) {
  const Words parsed(text);
  Unit unit;
  if (parsed.count != 2) return std::nullopt;
  if (!read_unit(parsed.words[0], parsed.words[1], unit.fleet, unit.location)) return std::nullopt;
  // An army has no coast; a fleet is at sea or on one coast.
  const Map& m = map();
  const Province p = m.province[unit.location];
  const bool fits = unit.fleet ? !m.by_sea[unit.location].empty()
                               : unit.location == m.whole[p] && !m.sea.has(p);
  if (!fits) return std::nullopt;
  return unit;
}

std::string format_unit(const Unit& unit) {
  return (unit.fleet ? "F " : "A ") + std::string(map().names[unit.location]);
}

std::string format_phase(const Position& position) {
  const auto phase = static_cast<std::size_t>(position.phase);
  return kLetters[phase / 2] + std::to_string(position.year) + kEnds[phase];
}

bool parse_phase(std::string_view text, Position& out) {
  if (text.size() != 6) return false;
  std::uint16_t year = 0;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + 5, year);
  if (error != std::errc() || end != text.data() + 5) return false;
  if (year < 1000) return false;  // it would be written in fewer digits
  for (std::size_t phase = 0; phase < kEnds.size(); ++phase) {
    if (text[0] != kLetters[phase / 2] || text[5] != kEnds[phase]) continue;
    out.year = year;
    out.phase = static_cast<Phase>(phase);
    return true;
  }
  return false;
}

}  // namespace kedge::diplomacy
