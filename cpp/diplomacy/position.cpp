#include "diplomacy/position.hpp"

#include <algorithm>
#include <cstdlib>

#include "splitmix.hpp"

namespace kedge::diplomacy {

void Position::place(const Unit& unit) {
  const Province province = map().province[unit.location];
  units[province] = unit;
  occupied.add(province);
}

void Position::dislodge(const Unit& unit, const Set& retreats) {
  std::uint8_t i = retreating++;
  for (; i > 0 && dislodged[i - 1].unit.location > unit.location; --i) {
    dislodged[i] = dislodged[i - 1];
  }
  dislodged[i] = {unit, retreats};
}

const Dislodged* Position::find_dislodged(Province province) const {
  const auto end = dislodged.begin() + retreating;
  const auto match = std::find_if(dislodged.begin(), end, [&](const Dislodged& one) {
    return map().province[one.unit.location] == province;
  });
  return match == end ? nullptr : &*match;
}

int Position::centres(Power power) const {
  return static_cast<int>(std::count(owners.begin(), owners.end(), power));
}

int Position::count_units(Power power) const {
  int count = 0;
  for (const Province p : occupied) count += units[p].power == power;
  return count;
}

Power Position::winner() const {
  for (Power power = 0; power < kPowers; ++power) {
    if (centres(power) >= kVictory) return power;
  }
  return kNobody;
}

Set Position::build_sites(Power power) const {
  Set sites;
  for (const Province p : map().homes[power] - occupied) {
    if (owners[p] == power) sites.add(p);
  }
  return sites;
}

int Position::adjustment(Power power) const {
  const int surplus = centres(power) - count_units(power);
  return surplus > 0 ? std::min(surplus, build_sites(power).count()) : surplus;
}

int Position::orders_due(Power power) const {
  if (moving()) return count_units(power);
  if (adjusting()) return std::abs(adjustment(power));
  return static_cast<int>(std::count_if(
      dislodged.begin(), dislodged.begin() + retreating,
      [&](const Dislodged& one) { return one.unit.power == power; }));
}

std::array<double, kPowers> Position::shares() const {
  std::array<double, kPowers> shares{};
  if (const Power power = winner(); power != kNobody) {
    shares[power] = 1.0;
    return shares;
  }
  double sum = 0.0;
  for (Power power = 0; power < kPowers; ++power) {
    const double count = centres(power);
    sum += shares[power] = count * count;
  }
  for (double& share : shares) share /= std::max(1.0, sum);
  return shares;
}

Set Position::retreats_of(const Unit& unit, const Set& closed) const {
  const Map& m = map();
  Set out;
  if (unit.fleet) {
    for (const Location l : m.by_sea[unit.location]) {
      if (!closed.has(m.province[l]) && !occupied.has(m.province[l])) out.add(l);
    }
  } else {
    for (const Province p : m.by_land[m.province[unit.location]] - closed - occupied) {
      out.add(m.whole[p]);
    }
  }
  return out;
}

std::uint64_t Position::hash() const {
  const auto key = [](std::uint64_t what, std::uint64_t where, std::uint64_t value) {
    return splitmix(what << 48 | where << 40 | value);
  };
  const auto code = [](const Unit& unit) {
    return std::uint64_t{unit.power} << 8 | std::uint64_t{unit.fleet} << 7 | unit.location;
  };
  std::uint64_t hash = key(0, static_cast<std::uint64_t>(phase), year);
  for (const Province p : occupied) hash ^= key(1, p, code(units[p]));
  for (const Province p : map().centres) hash ^= key(2, p, owners[p]);
  for (int i = 0; i < retreating; ++i) {
    const auto& [unit, retreats] = dislodged[i];
    hash ^= splitmix(key(3, 0, code(unit)) ^ splitmix(retreats.word(0)) ^
                     splitmix(~retreats.word(1)));
  }
  return hash;
}

Position initial_position() {
  constexpr std::array<std::string_view, kPowers> kUnits{
      "A BUD A VIE F TRI", "F EDI F LON A LVP", "F BRE A MAR A PAR", "F KIE A BER A MUN",
      "F NAP A ROM A VEN", "A WAR A MOS F SEV F STP/SC", "F ANK A CON A SMY"};
  Position position;
  for (Power power = 0; power < kPowers; ++power) {
    for (std::string_view text = kUnits[power]; !text.empty();) {
      const std::size_t end = std::min(text.find(' ', 2), text.size());
      position.place({power, text[0] == 'F', *map().find(text.substr(2, end - 2))});
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    for (const Province p : map().homes[power]) position.owners[p] = power;
  }
  return position;
}

}  // namespace kedge::diplomacy
