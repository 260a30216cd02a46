#include "diplomacy/network/values.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "vectors.hpp"

namespace kedge::diplomacy {
namespace {

enum { kTheirs, kMine, kNobodys };

std::uint16_t row(int first, int which) { return static_cast<std::uint16_t>(first + which); }

// Calls tell(power, theirs, mine) for each unit and centre: the row that other powers see, and the
// row that the power itself sees.
template <typename Tell>
void each_piece(const Position& position, const Tell& tell) {
  const Map& m = map();
  const auto tell_unit = [&](const Unit& unit, int first) {
    const Location whole = m.whole[m.province[unit.location]];
    for (const Location l : {unit.location, whole}) {
      const int at = first + 4 * l + 2 * unit.fleet;
      tell(unit.power, row(at, kTheirs), row(at, kMine));
      if (unit.location == whole) return;
    }
  };
  for (const Province p : position.occupied) tell_unit(position.units[p], kSeenUnit);
  for (int i = 0; i < position.retreating; ++i) {
    tell_unit(position.dislodged[i].unit, kSeenDislodged);
  }
  for (const Province p : m.centres) {
    const Power owner = position.owners[p];
    const int at = kSeenCentre + 3 * m.whole[p];
    tell(owner, row(at, owner == kNobody ? kNobodys : kTheirs), row(at, kMine));
  }
}

struct Counts {
  explicit Counts(const Position& position) {
    for (const Province p : map().centres) ++centres[position.owners[p]];
    for (const Province p : position.occupied) ++units[position.units[p].power];
    for (int i = 0; i < position.retreating; ++i) ++dislodged[position.dislodged[i].unit.power];
  }
  std::array<std::uint16_t, 2> seen_by_others(Power power) const {
    return {row(kSeenOther, centres[power]), row(kSeenOther, kCentres + 1 + units[power])};
  }
  bool gone(Power power) const {
    return centres[power] + units[power] + dislodged[power] == 0;
  }
  std::array<int, kPowers + 1> centres{}, units{}, dislodged{};
};

// The number of units with which each power can move into each province.
struct Strengths {
  explicit Strengths(const Position& position) {
    const Map& m = map();
    there.fill(kNobody);
    for (const Province p : position.occupied) {
      const Unit& unit = position.units[p];
      there[p] = unit.power;
      for (const Province to : unit.fleet ? m.sailing[unit.location] : m.by_land[p]) {
        const int count = ++counts[to][unit.power];
        if (unit.power == strongest[to]) {
          best[to] = count;
        } else if (count > best[to]) {
          second[to] = std::exchange(best[to], count);
          strongest[to] = unit.power;
        } else {
          second[to] = std::max(second[to], count);
        }
      }
    }
  }
  // The row of a province as a power sees it; kNobody has no units near it.
  std::uint16_t seen_by(Power power, Province province) const {
    enum { kEmpty, kOwn, kOthers };
    const int who = there[province] == kNobody ? kEmpty : there[province] == power ? kOwn : kOthers;
    const int mine = std::min<int>(counts[province][power], 3);
    const int other = std::min(power == strongest[province] ? second[province] : best[province], 3);
    return row(kSeenStrength, ((province * 3 + who) * 4 + mine) * 4 + other);
  }
  bool concerns(Power power, Province province) const {
    return counts[province][power] > 0 || there[province] == power;
  }
  std::array<Power, kProvinces> there;
  std::array<std::array<std::uint8_t, kPowers + 1>, kProvinces> counts{};
  std::array<int, kProvinces> best{}, second{};
  std::array<Power, kProvinces> strongest{};
};

// The rows that only the power itself sees, except the phase.
std::array<std::uint16_t, 4> seen_of_self(const Position& position, const Counts& counts,
                                          Power power) {
  constexpr int kMost = kCentres / 2;
  const int adjustment = position.adjusting() ? position.adjustment(power) : 0;
  const auto own = [](int what, int count) { return row(kSeenOwn, what * (kCentres + 1) + count); };
  return {row(kSeenSelf, power), own(0, counts.centres[power]), own(1, counts.units[power]),
          own(2, kMost + std::clamp(adjustment, -kMost, kMost))};
}

struct Rows {
  const float* const* first;
  std::size_t count;
};

#if defined(__GNUC__)
// Eight numbers; the compiler uses one, two or four registers.
typedef float Eight __attribute__((vector_size(32), aligned(4), may_alias));
#endif

// Subtracts some rows from the start and adds others. Sums of some columns stay in registers over
// all rows.
KEDGE_CLONES void exchange_rows(const float* start, Rows taken, Rows put, std::size_t width,
                                float* out) {
  std::size_t at = 0;
#if defined(__GNUC__)
  constexpr std::size_t kBlock = 32;
  for (; at + kBlock <= width; at += kBlock) {
    const auto load = [&](const float* row, int i) {
      return *reinterpret_cast<const Eight*>(row + at + 8 * i);
    };
    Eight a = load(start, 0), b = load(start, 1), c = load(start, 2), d = load(start, 3);
    for (std::size_t i = 0; i < taken.count; ++i) {
      const float* row = taken.first[i];
      a -= load(row, 0), b -= load(row, 1), c -= load(row, 2), d -= load(row, 3);
    }
    for (std::size_t i = 0; i < put.count; ++i) {
      const float* row = put.first[i];
      a += load(row, 0), b += load(row, 1), c += load(row, 2), d += load(row, 3);
    }
    Eight* sums = reinterpret_cast<Eight*>(out + at);
    sums[0] = a, sums[1] = b, sums[2] = c, sums[3] = d;
  }
#endif
  for (; at < width; ++at) {
    float sum = start[at];
    for (std::size_t i = 0; i < taken.count; ++i) sum -= taken.first[i][at];
    for (std::size_t i = 0; i < put.count; ++i) sum += put.first[i][at];
    out[at] = sum;
  }
}

// Applies ReLU and the layer to `sum`.
KEDGE_CLONES void multiply(const float* sum, std::size_t width, const float* layer,
                           std::size_t hidden, float* out) {
  for (std::size_t i = 0; i < width; ++i) {
    const float x = sum[i];
    if (x <= 0.0f) continue;
    const float* weights = layer + i * hidden;
#pragma omp simd
    for (std::size_t j = 0; j < hidden; ++j) out[j] += x * weights[j];
  }
}

}  // namespace

void see(const Position& position, Power power, std::uint16_t* out) {
  const Counts counts(position);
  std::uint16_t* const first = out;
  each_piece(position, [&](Power whose, std::uint16_t theirs, std::uint16_t mine) {
    *out++ = whose == power ? mine : theirs;
  });
  const Strengths strengths(position);
  for (Province p = 0; p < kProvinces; ++p) *out++ = strengths.seen_by(power, p);
  *out++ = row(kSeenPhase, static_cast<int>(position.phase));
  for (const std::uint16_t seen : seen_of_self(position, counts, power)) *out++ = seen;
  for (Power other = 0; other < kPowers; ++other) {
    if (other == power) continue;
    for (const std::uint16_t seen : counts.seen_by_others(other)) *out++ = seen;
  }
  std::fill(out, first + kSeen, std::uint16_t{0});
}

void ValueNetwork::shares(const Position& position, double* shares) const {
  // Sums the rows that others see once; each power then replaces the rows that it sees differently.
  std::array<const float*, kSeen + kPowers> all;
  std::array<std::array<const float*, kSeen>, kPowers> put, taken;
  std::array<std::size_t, kPowers> count{};
  std::size_t summed = 0;
  const auto at = [&](std::uint16_t seen) { return rows.data() + seen * width; };
  const auto exchange = [&](Power power, std::uint16_t theirs, std::uint16_t mine) {
    all[summed++] = at(theirs);
    if (power == kNobody) return;
    taken[power][count[power]] = at(theirs);
    put[power][count[power]++] = at(mine);
  };
  each_piece(position, exchange);
  const Strengths strengths(position);
  for (Province p = 0; p < kProvinces; ++p) {
    const std::uint16_t common = strengths.seen_by(kNobody, p);
    all[summed++] = at(common);
    for (Power power = 0; power < kPowers; ++power) {
      if (!strengths.concerns(power, p)) continue;
      taken[power][count[power]] = at(common);
      put[power][count[power]++] = at(strengths.seen_by(power, p));
    }
  }
  all[summed++] = at(row(kSeenPhase, static_cast<int>(position.phase)));
  const Counts counts(position);
  for (Power power = 0; power < kPowers; ++power) {
    for (const std::uint16_t seen : counts.seen_by_others(power)) exchange(power, seen, 0);
  }
  thread_local std::vector<float> base, sum, inner;
  base.resize(width);
  sum.resize(width);
  exchange_rows(bias.data(), {}, {all.data(), summed}, width, base.data());
  double most = -INFINITY;
  for (Power power = 0; power < kPowers; ++power) {
    shares[power] = -INFINITY;
    if (counts.gone(power)) continue;
    const std::size_t exchanged = count[power];
    for (const std::uint16_t seen : seen_of_self(position, counts, power)) {
      put[power][count[power]++] = at(seen);
    }
    exchange_rows(base.data(), {taken[power].data(), exchanged}, {put[power].data(), count[power]},
                  width, sum.data());
    inner = layer_bias;
    multiply(sum.data(), width, layer.data(), hidden, inner.data());
    double value = 0.0;
    for (std::size_t j = 0; j < hidden; ++j) value += out[j] * std::max(inner[j], 0.0f);
    shares[power] = value;
    most = std::max(most, value);
  }
  double total = 0.0;
  for (Power power = 0; power < kPowers; ++power) {
    shares[power] = std::exp(shares[power] - most);
    total += shares[power];
  }
  for (Power power = 0; power < kPowers; ++power) shares[power] /= total;
}

}  // namespace kedge::diplomacy
