#include "bindings.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <limits>

#include "chess/records/pgn_comments.hpp"
#include "chess/records/records.hpp"
#include "parallel.hpp"

namespace nb = nanobind;
using namespace nb::literals;

using kedge::own;
using kedge::threads_or_all;

namespace {

using namespace kedge::chess;

using Actions = nb::ndarray<const Action, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Offsets = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A numpy array of `rows` rows that owns its numbers, not yet set.
template <typename Number, std::size_t Columns>
struct Rows {
  explicit Rows(std::size_t rows) : data(new Number[rows * Columns]), rows(rows) {}
  nb::object array() {
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<Number*>(p); });
    if constexpr (Columns == 1) {
      return nb::cast(nb::ndarray<nb::numpy, Number, nb::ndim<1>>(data, {rows}, owner));
    } else {
      return nb::cast(nb::ndarray<nb::numpy, Number, nb::ndim<2>>(data, {rows, Columns}, owner));
    }
  }
  Number* data;
  std::size_t rows;
};

// The records as columns for Python.
nb::dict columns(Records&& records) {
  const std::size_t count = records.games.size();
  std::vector<std::int64_t> offsets{0}, lines;
  std::vector<std::uint8_t> outcomes, clocked, evaluated, noise;
  Rows<std::int32_t, 2 * kTags.size()> tags(count);
  nb::dict broken;
  for (std::size_t i = 0; i < count; ++i) {
    const Record& record = records.games[i];
    offsets.push_back(offsets.back() + static_cast<std::int64_t>(record.plies));
    lines.push_back(record.line);
    outcomes.push_back(record.outcome);
    clocked.push_back(record.has_clocks);
    evaluated.push_back(record.has_evals);
    noise.push_back(record.noise);
    for (std::size_t t = 0; t < kTags.size(); ++t) {
      tags.data[2 * (kTags.size() * i + t)] = record.tags[t].begin;
      tags.data[2 * (kTags.size() * i + t) + 1] = record.tags[t].end;
    }
    if (!record.broken.empty()) {
      broken[nb::int_(i)] = nb::str(record.broken.data(), record.broken.size());
    }
  }
  nb::dict out;
  out["actions"] = own(std::move(records.actions));
  out["clocks"] = own(std::move(records.clocks));
  out["evals"] = own(std::move(records.evals));
  out["offsets"] = own(std::move(offsets));
  out["lines"] = own(std::move(lines));
  out["outcomes"] = own(std::move(outcomes));
  out["clocked"] = own(std::move(clocked));
  out["evaluated"] = own(std::move(evaluated));
  out["noise"] = own(std::move(noise));
  out["tags"] = tags.array();
  out["broken"] = broken;
  out["consumed"] = records.consumed;
  out["line_count"] = records.lines;
  return out;
}

nb::dict pgn(nb::bytes text, bool last, unsigned threads) {
  if (text.size() > std::numeric_limits<std::int32_t>::max()) {
    throw nb::value_error("more than 2 GiB at once");
  }
  const std::string_view view(text.c_str(), text.size());
  Records records;
  {
    nb::gil_scoped_release release;
    records = read_pgn(view, last, threads_or_all(threads));
  }
  return columns(std::move(records));
}

nb::dict uci(const std::vector<std::string>& moves, const std::vector<std::string>& fens,
             unsigned threads) {
  if (moves.size() != fens.size()) throw nb::value_error("fens: expected one per game");
  Records records;
  {
    nb::gil_scoped_release release;
    const std::vector<std::string_view> games(moves.begin(), moves.end());
    const std::vector<std::string_view> starts(fens.begin(), fens.end());
    records = read_uci(games, starts, threads_or_all(threads));
  }
  return columns(std::move(records));
}

bool partition(const Offsets& offsets, std::size_t total) {
  const std::size_t count = offsets.shape(0);
  if (count == 0 || offsets(0) != 0) return false;
  for (std::size_t i = 1; i < count; ++i) {
    if (offsets(i) < offsets(i - 1)) return false;
  }
  return offsets(count - 1) == static_cast<std::int64_t>(total);
}

nb::tuple encode_games(const Actions& actions, const Offsets& offsets, const Offsets& plies,
                       const Offsets& ply_offsets, const std::vector<std::string>& fens, bool fill,
                       unsigned threads) {
  if (!partition(offsets, actions.shape(0)) || !partition(ply_offsets, plies.shape(0)) ||
      offsets.shape(0) != ply_offsets.shape(0)) {
    throw nb::value_error("offsets: do not match actions and plies");
  }
  const std::size_t games = offsets.shape(0) - 1;
  if (!fens.empty() && fens.size() != games) throw nb::value_error("fens: expected one per game");
  Rows<std::uint64_t, kPlanes> planes(plies.shape(0));
  Rows<std::uint64_t, kLegalWords> legal(plies.shape(0));
  Rows<std::uint8_t, 1> rule50(plies.shape(0));
  Rows<std::uint16_t, 1> played(plies.shape(0));
  // Owned from the start, so that an exception frees them.
  nb::tuple out =
      nb::make_tuple(planes.array(), rule50.array(), played.array(), legal.array());
  std::string failure;
  std::atomic<std::size_t> failed{games};
  {
    nb::gil_scoped_release release;
    std::mutex failing;
    kedge::parallel_for(games, threads_or_all(threads), [&](std::size_t g) {
      const std::size_t row = static_cast<std::size_t>(ply_offsets(g));
      const std::string reason = encode_game(
          fens.empty() ? std::string_view() : fens[g], actions.data() + offsets(g),
          static_cast<std::size_t>(offsets(g + 1) - offsets(g)), plies.data() + row,
          static_cast<std::size_t>(ply_offsets(g + 1)) - row, fill ? Fill::kFenOnly : Fill::kNone,
          {planes.data + kPlanes * row, rule50.data + row, played.data + row,
           legal.data + kLegalWords * row});
      if (reason.empty()) return;
      const std::lock_guard lock(failing);
      if (g < failed) {
        failed = g;
        failure = reason;
      }
    });
  }
  if (failed < games) {
    throw nb::value_error(("game " + std::to_string(failed) + ": " + failure).c_str());
  }
  return out;
}

std::vector<std::string> moves(const Actions& actions, const Numbers& clocks, const Numbers& evals,
                               const Offsets& offsets, const std::vector<std::string>& fens,
                               unsigned threads) {
  if (!partition(offsets, actions.shape(0)) || clocks.shape(0) != actions.shape(0) ||
      evals.shape(0) != actions.shape(0)) {
    throw nb::value_error("offsets: do not match actions, clocks and evals");
  }
  const std::size_t games = offsets.shape(0) - 1;
  if (fens.size() != games) throw nb::value_error("fens: expected one per game");
  std::vector<std::string> out(games), errors(games);
  {
    nb::gil_scoped_release release;
    kedge::parallel_for(games, threads_or_all(threads), [&](std::size_t g) {
      out[g] = write_moves(fens[g], actions.data() + offsets(g), clocks.data() + offsets(g),
                           evals.data() + offsets(g),
                           static_cast<std::size_t>(offsets(g + 1) - offsets(g)), &errors[g]);
    });
  }
  for (std::size_t g = 0; g < games; ++g) {
    if (!errors[g].empty()) {
      throw nb::value_error(("game " + std::to_string(g) + ": " + errors[g]).c_str());
    }
  }
  return out;
}

}  // namespace

namespace kedge {

void bind_chess_records(nb::module_& m) {
  m.def("chess_read_pgn", &pgn, "text"_a, "last"_a, "threads"_a = 0);
  m.def("chess_read_uci", &uci, "moves"_a, "fens"_a, "threads"_a = 0);
  m.def("chess_encode_games", &encode_games, "actions"_a.noconvert(), "offsets"_a.noconvert(),
        "plies"_a.noconvert(), "ply_offsets"_a.noconvert(),
        "fens"_a = std::vector<std::string>(), "fill"_a = true, "threads"_a = 0);
  m.def("chess_write_moves", &moves, "actions"_a.noconvert(), "clocks"_a.noconvert(),
        "evals"_a.noconvert(), "offsets"_a.noconvert(), "fens"_a, "threads"_a = 0);
  m.attr("CHESS_MATE") = kMate;
  m.attr("CHESS_FARTHEST_MATE") = kFarthestMate;
  m.attr("CHESS_MOST_CENTIPAWNS") = kMostCentipawns;
  m.def("chess_pgn_tags", [] {
    return std::vector<std::string>(kTags.begin(), kTags.end());
  });
}

}  // namespace kedge
