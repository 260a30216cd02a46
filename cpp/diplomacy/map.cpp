#include "diplomacy/map.hpp"

#include <algorithm>

namespace kedge::diplomacy {
namespace {

constexpr std::string_view kNames =
    "ADR AEG ALB ANK APU ARM BAL BAR BEL BER BLA BOH BOT BRE BUD BUL BUL/EC BUL/SC BUR CLY CON "
    "DEN EAS EDI ENG FIN GAL GAS GRE HEL HOL ION IRI KIE LON LVN LVP LYO MAO MAR MOS MUN NAF "
    "NAO NAP NTH NWG NWY PAR PIC PIE POR PRU ROM RUH RUM SER SEV SIL SKA SMY SPA SPA/NC SPA/SC "
    "STP STP/NC STP/SC SWE SYR TRI TUN TUS TYR TYS UKR VEN VIE WAL WAR WES YOR";
constexpr std::string_view kSeas =
    "ADR AEG BAL BAR BLA BOT EAS ENG HEL ION IRI LYO MAO NAO NTH NWG SKA TYS WES";
constexpr std::string_view kNeutral = "BEL BUL DEN GRE HOL NWY POR RUM SER SPA SWE TUN";
constexpr std::array<std::string_view, kPowers> kHomes{
    "BUD TRI VIE", "EDI LON LVP", "BRE MAR PAR", "BER KIE MUN",
    "NAP ROM VEN", "MOS SEV STP WAR", "ANK CON SMY"};

// A place and its neighbours that come later by name, so that each border is listed once.
constexpr std::string_view kByLand =
    "ALB GRE SER TRI; ANK ARM CON SMY; APU NAP ROM VEN; ARM SEV SMY SYR; BEL BUR HOL PIC RUH; "
    "BER KIE MUN PRU SIL; BOH GAL MUN SIL TYR VIE; BRE GAS PAR PIC; BUD GAL RUM SER TRI VIE; "
    "BUL CON GRE RUM SER; BUR GAS MAR MUN PAR PIC RUH; CLY EDI LVP; CON SMY; DEN KIE SWE; "
    "EDI LVP YOR; FIN NWY STP SWE; GAL RUM SIL UKR VIE WAR; GAS MAR PAR SPA; GRE SER; "
    "HOL KIE RUH; KIE MUN RUH; LON WAL YOR; LVN MOS PRU STP WAR; LVP WAL YOR; MAR PIE SPA; "
    "MOS SEV STP UKR WAR; MUN RUH SIL TYR; NAF TUN; NAP ROM; NWY STP SWE; PAR PIC; "
    "PIE TUS TYR VEN; POR SPA; PRU SIL WAR; ROM TUS VEN; RUM SER SEV UKR; SER TRI; SEV UKR; "
    "SIL WAR; SMY SYR; TRI TYR VEN VIE; TUS VEN; TYR VEN VIE; UKR WAR; WAL YOR;";
constexpr std::string_view kBySea =
    "ADR ALB APU ION TRI VEN; AEG BUL/SC CON EAS GRE ION SMY; ALB GRE ION TRI; "
    "ANK ARM BLA CON; APU ION NAP VEN; ARM BLA SEV; BAL BER BOT DEN KIE LVN PRU SWE; "
    "BAR NWG NWY STP/NC; BEL ENG HOL NTH PIC; BER KIE PRU; BLA BUL/EC CON RUM SEV; "
    "BOT FIN LVN STP/SC SWE; BRE ENG GAS MAO PIC; BUL/EC CON RUM; BUL/SC CON GRE; "
    "CLY EDI LVP NAO NWG; CON SMY; DEN HEL KIE NTH SKA SWE; EAS ION SMY SYR; EDI NTH NWG YOR; "
    "ENG IRI LON MAO NTH PIC WAL; FIN STP/SC SWE; GAS MAO SPA/NC; GRE ION; HEL HOL KIE NTH; "
    "HOL KIE NTH; ION NAP TUN TYS; IRI LVP MAO NAO WAL; LON NTH WAL YOR; LVN PRU STP/SC; "
    "LVP NAO WAL; LYO MAR PIE SPA/SC TUS TYS WES; MAO NAF NAO POR SPA/NC SPA/SC WES; "
    "MAR PIE SPA/SC; NAF TUN WES; NAO NWG; NAP ROM TYS; NTH NWG NWY SKA YOR; NWG NWY; "
    "NWY SKA STP/NC SWE; PIE TUS; POR SPA/NC SPA/SC; ROM TUS TYS; RUM SEV; SKA SWE; SMY SYR; "
    "SPA/SC WES; TRI VEN; TUN TYS WES; TUS TYS; TYS WES;";

// Calls visit with each piece of the text between separators.
template <typename Visit>
void for_words(std::string_view text, char end, const Visit& visit) {
  while (!text.empty()) {
    const std::size_t length = std::min(text.find(end), text.size());
    if (length > 0) visit(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
}

template <typename Visit>
void for_borders(const Map& map, std::string_view table, const Visit& visit) {
  for_words(table, ';', [&](std::string_view row) {
    std::optional<Location> from;
    for_words(row, ' ', [&](std::string_view word) {
      const Location place = *map.find(word);
      if (from) {
        visit(*from, place);
        visit(place, *from);
      } else {
        from = place;
      }
    });
  });
}

}  // namespace

std::optional<Location> Map::find(std::string_view name) const {
  const auto place = std::lower_bound(names.begin(), names.end(), name);
  if (place == names.end() || *place != name) return std::nullopt;
  return static_cast<Location>(place - names.begin());
}

Map::Map() {
  Location place = 0;
  Province here = 0;
  for_words(kNames, ' ', [&](std::string_view name) {
    names[place] = name;
    if (name.size() == 3) {
      here = static_cast<Province>(place == 0 ? 0 : here + 1);
      whole[here] = place;
    } else {
      coasts[here].add(place);
    }
    province[place++] = here;
  });
  const auto add = [&](Set& set, std::string_view words) {
    for_words(words, ' ', [&](std::string_view name) { set.add(province[*find(name)]); });
  };
  add(sea, kSeas);
  add(centres, kNeutral);
  for (Power power = 0; power < kPowers; ++power) {
    add(homes[power], kHomes[power]);
    centres |= homes[power];
  }
  for_borders(*this, kByLand,
              [&](Location a, Location b) { by_land[province[a]].add(province[b]); });
  for_borders(*this, kBySea, [&](Location a, Location b) {
    by_sea[a].add(b);
    sailing[a].add(province[b]);
    const Province from = province[a], to = province[b];
    if (sea.has(to)) seas[from].add(to);
    if (sea.has(from) && !sea.has(to)) {
      shores[from].add(to);
      coast.add(to);
    }
  });

  for (Power power = 0; power < kPowers; ++power) {
    for (const bool fleet : {false, true}) {
      auto& steps = distance[power][fleet];
      Set reached, edge;
      for (Location l = 0; l < kLocations; ++l) {
        if (homes[power].has(province[l])) edge.add(l);
      }
      steps.fill(255);
      for (std::uint8_t d = 0; !edge.empty(); ++d) {
        Set next;
        for (const Location l : edge) {
          steps[l] = d;
          next |= by_sea[l];
          if (fleet) continue;
          for (Location other = 0; other < kLocations; ++other) {
            const bool same = province[l] == province[other];
            if (same || by_land[province[l]].has(province[other])) next.add(other);
          }
        }
        reached |= edge;
        edge = next - reached;
      }
    }
  }
}

const Map& map() {
  static const Map standard;
  return standard;
}

}  // namespace kedge::diplomacy
