#include "bindings.hpp"

#include <nanobind/stl/vector.h>

#include "diplomacy/network/batch.hpp"
#include "diplomacy/network/encoding.hpp"
#include "diplomacy/network/values.hpp"
#include "parallel.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using namespace kedge::diplomacy;

template <typename Number>
using Numbers = nb::ndarray<const Number, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Facts = nb::ndarray<nb::numpy, std::uint16_t>;
using Positions = std::vector<const Position*>;

template <typename Work>
void for_each(std::size_t count, unsigned threads, const Work& work) {
  constexpr std::size_t kChunk = 128;
  kedge::parallel_for((count + kChunk - 1) / kChunk, kedge::threads_or_all(threads),
                      [&](std::size_t chunk) {
    for (std::size_t i = chunk * kChunk; i < std::min(count, (chunk + 1) * kChunk); ++i) work(i);
  });
}

Facts own_facts(std::vector<std::uint16_t> values, std::initializer_list<std::size_t> shape) {
  const auto [data, owner] = kedge::keep(std::move(values));
  return {data, shape, owner};
}

Facts facts_of_boards(const Positions& positions, const std::vector<Numbers<Packed>>& previous,
                      unsigned threads) {
  const std::size_t count = positions.size();
  if (previous.size() != count) throw nb::value_error("previous: expected orders for each board");
  std::vector<std::uint16_t> facts(count * kTokens * kFacts);
  {
    nb::gil_scoped_release release;
    for_each(count, threads, [&](std::size_t i) {
      write_facts(*positions[i], {previous[i].data(), previous[i].shape(0)},
                  facts.data() + i * kTokens * kFacts);
    });
  }
  return own_facts(std::move(facts), {count, kTokens, kFacts});
}

Facts facts_of_batch(const Batch& batch, unsigned threads) {
  const std::size_t count = batch.positions.size();
  std::vector<std::uint16_t> facts(count * kTokens * kFacts);
  {
    nb::gil_scoped_release release;
    for_each(count, threads, [&](std::size_t i) {
      write_facts(batch.positions[i], {}, facts.data() + i * kTokens * kFacts);
    });
  }
  return own_facts(std::move(facts), {count, kTokens, kFacts});
}

Facts facts_of_orders(const Numbers<Packed>& orders, unsigned threads) {
  const std::size_t count = orders.shape(0);
  std::vector<std::uint16_t> facts(count * kOrderFacts);
  {
    nb::gil_scoped_release release;
    for_each(count, threads, [&](std::size_t i) {
      if (const auto order = unpack(orders.data()[i])) {
        write_order_facts(*order, facts.data() + i * kOrderFacts);
      }
    });
  }
  return own_facts(std::move(facts), {count, kOrderFacts});
}

nb::tuple list_choices(const Positions& positions, const Numbers<std::uint8_t>& powers,
                       unsigned threads) {
  const std::size_t count = positions.size();
  if (powers.shape(0) != count) throw nb::value_error("powers: expected one per board");
  std::vector<std::uint8_t> places;
  std::vector<std::int64_t> offsets{0}, boards, whose, first, counts;
  std::vector<Packed> orders;
  {
    nb::gil_scoped_release release;
    std::vector<std::vector<Choice>> choices(count);
    for_each(count, threads,
             [&](std::size_t i) { choices[i] = choices_of(*positions[i], powers.data()[i]); });
    for (std::size_t i = 0; i < count; ++i) {
      Power last = kNobody;
      for (const Choice& choice : choices[i]) {
        if (choice.power != last) {
          boards.push_back(static_cast<std::int64_t>(i));
          whose.push_back(choice.power);
          first.push_back(static_cast<std::int64_t>(places.size()));
          counts.push_back(0);
          last = choice.power;
        }
        ++counts.back();
        places.push_back(choice.place);
        orders.insert(orders.end(), choice.orders.begin(), choice.orders.end());
        offsets.push_back(static_cast<std::int64_t>(orders.size()));
      }
    }
  }
  return nb::make_tuple(kedge::own(std::move(places)), kedge::own(std::move(offsets)),
                        kedge::own(std::move(orders)), kedge::own(std::move(boards)),
                        kedge::own(std::move(whose)), kedge::own(std::move(first)),
                        kedge::own(std::move(counts)));
}

Facts see_all(const Batch& batch, unsigned threads) {
  const std::size_t count = batch.positions.size();
  std::vector<std::uint16_t> rows(count * kPowers * kSeen);
  {
    nb::gil_scoped_release release;
    for_each(count, threads, [&](std::size_t i) {
      for (Power power = 0; power < kPowers; ++power) {
        see(batch.positions[i], power, rows.data() + (i * kPowers + power) * kSeen);
      }
    });
  }
  return own_facts(std::move(rows), {count, kPowers, kSeen});
}

using Matrix = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::vector<float> copy(const Numbers<float>& numbers) {
  return {numbers.data(), numbers.data() + numbers.size()};
}

ValueNetwork make_network(const Matrix& rows, const Numbers<float>& bias, const Matrix& layer,
                          const Numbers<float>& layer_bias, const Numbers<float>& out) {
  const std::size_t width = rows.shape(1), hidden = layer.shape(1);
  if (rows.shape(0) != kSeenRows || bias.size() != width || layer.shape(0) != width ||
      layer_bias.size() != hidden || out.size() != hidden) {
    throw nb::value_error("shapes do not make a value network");
  }
  return {width, hidden, {rows.data(), rows.data() + rows.size()}, copy(bias),
          {layer.data(), layer.data() + layer.size()}, copy(layer_bias), copy(out)};
}

nb::ndarray<nb::numpy, double, nb::ndim<2>> value_all(const ValueNetwork& network,
                                                      const Batch& batch, unsigned threads) {
  const std::size_t count = batch.positions.size();
  std::vector<double> shares(count * kPowers);
  {
    nb::gil_scoped_release release;
    for_each(count, threads, [&](std::size_t i) {
      network.shares(batch.positions[i], shares.data() + i * kPowers);
    });
  }
  return kedge::own(std::move(shares), kPowers);
}

}  // namespace

namespace kedge {

void bind_diplomacy_encoding(nb::module_& m) {
  // Facts (n, 88, 10) of boards with their last movement orders, or of a batch without orders.
  m.def("diplomacy_facts", &facts_of_boards, "boards"_a, "previous"_a, "threads"_a = 0);
  m.def("diplomacy_batch_facts", &facts_of_batch, "batch"_a, "threads"_a = 0);
  m.def("diplomacy_order_facts", &facts_of_orders, "orders"_a.noconvert(), "threads"_a = 0);
  // The choices of one power (7: of all) on each board: of each the place and the offset of its
  // orders; then the orders; and of every power with choices, board by board, the board, the power,
  // its first choice and their number.
  m.def("diplomacy_choices", &list_choices, "boards"_a, "powers"_a, "threads"_a = 0);
  // The rows that each power sees of each board (n, 7, 176), and the powers' values (n, 7).
  m.def("diplomacy_seen", &see_all, "batch"_a, "threads"_a = 0);
  nb::class_<ValueNetwork>(m, "DiplomacyValues")
      .def(nb::new_(&make_network), "rows"_a, "bias"_a, "layer"_a, "layer_bias"_a, "out"_a)
      .def("shares", &value_all, "batch"_a, "threads"_a = 0);
  m.attr("DIPLOMACY_SEEN") = kSeen;
  m.attr("DIPLOMACY_SEEN_ROWS") = kSeenRows;
  m.attr("DIPLOMACY_FACT_ROWS") = kFactRows;
  m.attr("DIPLOMACY_ORDER_ROWS") = order_rows();
  m.attr("DIPLOMACY_ROWS_BY_POWER") =
      std::vector<int>(kRowsByPower.begin(), kRowsByPower.end());
}

}  // namespace kedge
