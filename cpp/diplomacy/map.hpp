// The standard map: borders, home centres, distances from home.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "diplomacy/sets.hpp"

namespace kedge::diplomacy {

inline constexpr int kPowers = 7, kProvinces = 75, kLocations = 81, kCentres = 34, kVictory = 18;
using Power = std::uint8_t;
using Province = std::uint8_t;
using Location = std::uint8_t;  // a province, or one coast of those that have two; sorted by name
inline constexpr Power kNobody = kPowers;
inline constexpr std::array<std::string_view, kPowers> kPowerNames{
    "AUSTRIA", "ENGLAND", "FRANCE", "GERMANY", "ITALY", "RUSSIA", "TURKEY"};

struct Map {
  Map();

  std::array<std::string_view, kLocations> names;
  std::array<Province, kLocations> province;
  std::array<Location, kProvinces> whole;    // the location that is no single coast
  std::array<Set, kProvinces> coasts;        // of the provinces with two
  std::array<Set, kProvinces> by_land;       // provinces an army may step to
  std::array<Set, kLocations> by_sea;        // locations a fleet may sail to
  std::array<Set, kLocations> sailing;       // the provinces of those
  std::array<Set, kProvinces> shores;        // of a sea: the coastal provinces around it
  std::array<Set, kProvinces> seas;          // around a sea or a coastal province
  std::array<Set, kPowers> homes;
  Set sea, coast, centres;                   // provinces
  // Steps to the nearest home centre: of an army, which may cross seas, and of a fleet.
  std::array<std::array<std::array<std::uint8_t, kLocations>, 2>, kPowers> distance;

  std::optional<Location> find(std::string_view name) const;
};

const Map& map();

}  // namespace kedge::diplomacy
