#include "bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <type_traits>

#include "hanabi/batch.hpp"
#include "hanabi/encoding.hpp"
#include "splitmix.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using namespace kedge::hanabi;

using Decks = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename Number>
using Rows = nb::ndarray<Number, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr int kTerminal = -4;  // as in OpenSpiel
constexpr std::array<const char*, 4> kKinds{"discard", "play", "color", "rank"};
constexpr std::array<const char*, 3> kViews{"full", "private", "public"};

View view_of(std::string_view name) {
  const auto place = std::find(kViews.begin(), kViews.end(), name);
  if (place == kViews.end()) refuse("views are full, private and public");
  return static_cast<View>(place - kViews.begin());
}

Rules make_rules(std::int64_t players, std::int64_t colours, std::int64_t ranks, std::int64_t hand,
                 std::int64_t information, std::int64_t lives, bool bomb_is_zero) {
  const auto within = [](std::int64_t value, int least, int most, const char* what) {
    if (value >= least && value <= most) return;
    refuse(std::string(what) + ": " + std::to_string(least) + " to " + std::to_string(most) +
           ", not " + std::to_string(value));
  };
  within(players, kMinPlayers, kMaxPlayers, "players");
  within(colours, 1, kMaxColours, "colors");
  within(ranks, 1, kMaxRanks, "ranks");
  within(hand, 1, kMaxHand, "hand_size");
  within(information, 0, kMaxTokens, "information_tokens");
  within(lives, 1, kMaxTokens, "life_tokens");
  const Rules rules(players, colours, ranks, hand, information, lives, bomb_is_zero);
  if (players * hand > rules.deck) {
    refuse("hand_size: " + std::to_string(rules.deck) + " cards are too few for " +
           std::to_string(players) + " hands of " + std::to_string(hand));
  }
  return rules;
}

void check_size(const Rules& rules, std::size_t cards) {
  if (cards == static_cast<std::size_t>(rules.deck)) return;
  refuse("a deck has " + std::to_string(rules.deck) + " cards, not " + std::to_string(cards));
}

void check_deck(const Rules& rules, const std::uint8_t* deck, std::size_t number) {
  const auto wrong = [number](int card, const std::string& why) {
    refuse("deck " + std::to_string(number) + ": card " + std::to_string(card) + why);
  };
  std::array<std::uint8_t, kMaxColours * kMaxRanks> counts{};
  for (int i = 0; i < rules.deck; ++i) {
    if (deck[i] >= rules.cards()) wrong(deck[i], " does not exist");
    ++counts[deck[i]];
  }
  for (int card = 0; card < rules.cards(); ++card) {
    const int count = counts[card], copies = rules.copies[card % rules.ranks];
    if (count == copies) continue;
    wrong(card, " comes " + std::to_string(count) + " times, not " + std::to_string(copies));
  }
}

bool is_legal(const Rules& rules, const Game& game, std::int64_t action) {
  return action >= 0 && action < 64 && (legal_actions(rules, game) >> action & 1);
}

Games deal_all(const Rules& rules, const Decks& decks) {
  check_size(rules, decks.shape(1));
  Games out{rules, {}};
  out.games.reserve(decks.shape(0));
  for (std::size_t i = 0; i < decks.shape(0); ++i) {
    const std::uint8_t* deck = decks.data() + i * rules.deck;
    check_deck(rules, deck, i);
    out.games.push_back(deal(rules, deck));
  }
  return out;
}

// One game before each move and at the end. It ends before the first action that is not legal.
Games replay(const Rules& rules, const Flat<std::uint8_t>& deck,
             const Flat<std::int64_t>& actions) {
  check_size(rules, deck.size());
  check_deck(rules, deck.data(), 0);
  Games out{rules, {}};
  out.games.reserve(actions.size() + 1);
  out.games.push_back(deal(rules, deck.data()));
  for (std::size_t i = 0; i < actions.size(); ++i) {
    if (!is_legal(rules, out.games.back(), actions.data()[i])) break;
    out.games.push_back(out.games.back());
    apply(rules, out.games.back(), static_cast<Action>(actions.data()[i]));
  }
  return out;
}

// Pickles hold the bytes of rules and games: a copy for another process of the same program.
using Packed = std::tuple<nb::bytes, nb::bytes>;
static_assert(std::is_trivially_copyable_v<Rules> && std::is_trivially_copyable_v<Game>);

Packed pack(const Games& games) {
  return {nb::bytes(&games.rules, sizeof(Rules)),
          nb::bytes(games.games.data(), games.games.size() * sizeof(Game))};
}

void unpack(Games& games, const Packed& packed) {
  const auto& [rules, bytes] = packed;
  if (rules.size() != sizeof(Rules) || bytes.size() % sizeof(Game) != 0) {
    refuse("the games were pickled by another version");
  }
  new (&games) Games{*static_cast<const Rules*>(rules.data()),
                     std::vector<Game>(bytes.size() / sizeof(Game))};
  std::copy_n(static_cast<const char*>(bytes.data()), bytes.size(),
              reinterpret_cast<char*>(games.games.data()));
}

Games take(const Games& games, const Flat<std::int64_t>& which) {
  Games out{games.rules, {}};
  out.games.reserve(which.size());
  for (std::size_t i = 0; i < which.size(); ++i) {
    const auto at = static_cast<std::size_t>(which.data()[i]);
    if (at >= games.games.size()) throw nb::index_error("no such game");
    out.games.push_back(games.games[at]);
  }
  return out;
}

// All games of the parts, or game `number` of each.
Games join(const std::vector<const Games*>& parts, std::optional<std::size_t> number) {
  if (parts.empty()) refuse("no games to join");
  Games out{parts.front()->rules, {}};
  for (const Games* part : parts) {
    if (!(part->rules == out.rules)) refuse("games have different rules");
    if (number && *number >= part->games.size()) throw nb::index_error("no such game");
    const auto first = part->games.begin() + (number ? *number : 0);
    out.games.insert(out.games.end(), first, number ? first + 1 : part->games.end());
  }
  return out;
}

// Games `which`, each with a seat and its supposed cards.
struct Supposed {
  Supposed(const Games& games, const Flat<std::int64_t>& which, const Flat<std::int64_t>& seats,
           const Decks& hands)
      : games(games), which(which.data()), seats(seats.data()), hands(hands.data()),
        count(which.size()) {
    if (seats.size() != count || hands.shape(0) != count ||
        hands.shape(1) != static_cast<std::size_t>(games.rules.hand)) {
      refuse("one seat and one hand of " + std::to_string(games.rules.hand) + " slots a game");
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (static_cast<std::size_t>(this->which[i]) >= games.games.size()) {
        throw nb::index_error("no such game");
      }
      if (this->seats[i] < 0 || this->seats[i] >= games.rules.players) {
        refuse("seats are 0 to " + std::to_string(games.rules.players - 1));
      }
    }
  }

  const Game& game(std::size_t i) const { return games.games[which[i]]; }
  const std::uint8_t* hand(std::size_t i) const { return hands + i * games.rules.hand; }
  bool is_possible(std::size_t i) const {
    return kedge::hanabi::is_possible(games.rules, game(i), static_cast<int>(seats[i]), hand(i));
  }

  const Games& games;
  const std::int64_t *which, *seats;
  const std::uint8_t* hands;
  std::size_t count;
};

// Games that a thread takes at a time: starting a thread costs as much as a thousand moves.
constexpr std::size_t kMoved = 8192, kEncoded = 1024;

// -1 leaves a game unchanged. If one action is illegal, none is made.
void step(Games& games, const Flat<std::int64_t>& actions, unsigned threads) {
  const std::size_t count = games.games.size();
  if (actions.size() != count) refuse("actions: expected one per game");
  nb::gil_scoped_release release;
  const std::int64_t* given = actions.data();
  for_each<kMoved>(count, threads, [&](std::size_t i) {
    if (given[i] == -1 || is_legal(games.rules, games.games[i], given[i])) return;
    refuse("game " + std::to_string(i) +
           (is_over(games.rules, games.games[i])
                ? " is over"
                : ": action " + std::to_string(given[i]) + " is not legal"));
  });
  for_each<kMoved>(count, threads, [&](std::size_t i) {
    if (given[i] != -1) apply(games.rules, games.games[i], static_cast<Action>(given[i]));
  });
}

std::int64_t random_action(std::uint64_t legal, std::uint64_t random) {
  if (legal == 0) return -1;
  for (auto skip = (random >> 32) * std::popcount(legal) >> 32; skip > 0; --skip) {
    legal &= legal - 1;
  }
  return std::countr_zero(legal);
}

auto possible(const Games& games, const Flat<std::int64_t>& which,
                                      const Flat<std::int64_t>& seats, const Decks& hands,
                                      unsigned threads) {
  const Supposed supposed(games, which, seats, hands);
  std::vector<std::uint8_t> out(supposed.count);
  {
    nb::gil_scoped_release release;
    for_each<kMoved>(supposed.count, threads,
                     [&](std::size_t i) { out[i] = supposed.is_possible(i); });
  }
  return kedge::own(std::move(out));
}

Games redeal(const Games& games, const Flat<std::int64_t>& which,
             const Flat<std::int64_t>& seats, const Decks& hands,
             const Flat<std::uint64_t>& seeds, unsigned threads) {
  const Supposed supposed(games, which, seats, hands);
  if (seeds.size() != supposed.count) refuse("seeds: expected one per game");
  Games out{games.rules, std::vector<Game>(supposed.count)};
  nb::gil_scoped_release release;
  for_each<kMoved>(supposed.count, threads, [&](std::size_t i) {
    if (!supposed.is_possible(i)) refuse("hand " + std::to_string(i) + " cannot be");
    out.games[i] = redealt(games.rules, supposed.game(i), static_cast<int>(supposed.seats[i]),
                           supposed.hand(i), seeds.data()[i]);
  });
  return out;
}

template <typename Number>
void encode_all(const Games& games, const Rows<Number>& out, std::string_view name,
                const std::optional<Flat<std::int64_t>>& seats, bool beliefs, unsigned threads) {
  const Rules& rules = games.rules;
  const View view = view_of(name);
  const std::size_t count = games.games.size(), width = features(rules, view);
  if (out.shape(0) != count || out.shape(1) != width) {
    refuse("a buffer of " + std::to_string(count) + "×" + std::to_string(width) + " is needed");
  }
  const std::int64_t* given = seats ? seats->data() : nullptr;
  if (given && (seats->size() != count || !std::all_of(given, given + count, [&](auto seat) {
        return seat >= 0 && seat < rules.players;
      }))) {
    refuse("one seat a game, from 0 to " + std::to_string(rules.players - 1));
  }
  if (beliefs && !std::is_same_v<Number, float>) refuse("beliefs need a buffer of float32");
  nb::gil_scoped_release release;
  for_each<kEncoded>(count, threads, [&](std::size_t i) {
    const Game& game = games.games[i];
    const int seat = given ? static_cast<int>(given[i]) : game.player;
    Number* row = out.data() + i * width;
    encode(rules, game, seat, view, row);
    if constexpr (std::is_same_v<Number, float>) {
      if (beliefs) weigh(rules, game, seat, view, row);
    }
  });
}

// An array that `fill` writes game by game.
template <typename Number, typename Fill>
nb::ndarray<nb::numpy, Number> tabulate(const Games& games, std::vector<std::size_t> shape,
                                        const Fill& fill) {
  std::size_t width = 1;
  for (const std::size_t side : shape) width *= side;
  std::vector<Number> values(games.games.size() * width);
  for (std::size_t i = 0; i < games.games.size(); ++i) {
    fill(games.games[i], values.data() + i * width);
  }
  shape.insert(shape.begin(), games.games.size());
  const auto [data, owner] = kedge::keep(std::move(values));
  return {data, shape.size(), shape.data(), owner};
}

// One number per game.
template <typename Number, typename Get>
auto column(const Get& get) {
  return [get](const Games& games) {
    return tabulate<Number>(games, {}, [&](const Game& game, Number* out) {
      *out = static_cast<Number>(get(games.rules, game));
    });
  };
}

template <typename Number, typename Get>
nb::ndarray<nb::numpy, Number> by_slot(const Games& games, const Get& get) {
  const std::size_t players = games.rules.players, slots = games.rules.hand;
  return tabulate<Number>(games, {players, slots}, [&](const Game& game, Number* out) {
    for (std::size_t player = 0; player < players; ++player) {
      for (std::size_t slot = 0; slot < slots; ++slot) {
        *out++ = get(game.hands[player], static_cast<int>(slot));
      }
    }
  });
}

nb::ndarray<nb::numpy, std::int8_t> hands(const Games& games) {
  return by_slot<std::int8_t>(games, [&](const Hand& hand, int slot) -> std::int8_t {
    if (slot >= hand.size()) return -1;
    return static_cast<std::int8_t>(card_at(games.rules, hand, slot));
  });
}

nb::ndarray<nb::numpy, std::uint8_t> discards(const Games& games) {
  const Rules& rules = games.rules;
  const std::size_t cards = rules.cards();
  return tabulate<std::uint8_t>(games, {cards}, [&](const Game& game, std::uint8_t* out) {
    for (std::size_t card = 0; card < cards; ++card) {
      const unsigned copies = rules.copies[card % rules.ranks];
      out[card] = static_cast<std::uint8_t>(
          std::popcount(game.discards >> rules.places[card] & ((1u << copies) - 1)));
    }
  });
}

nb::ndarray<nb::numpy, std::uint8_t> decks(const Games& games) {
  const std::size_t cards = games.rules.deck;
  return tabulate<std::uint8_t>(games, {cards}, [&](const Game& game, std::uint8_t* out) {
    std::copy_n(game.deck.begin(), cards, out);
  });
}

nb::ndarray<nb::numpy, std::uint8_t> fireworks(const Games& games) {
  const std::size_t colours = games.rules.colours;
  return tabulate<std::uint8_t>(games, {colours}, [&](const Game& game, std::uint8_t* out) {
    std::copy_n(game.fireworks.begin(), colours, out);
  });
}

nb::ndarray<nb::numpy, std::int16_t> last_moves(const Games& games) {
  return tabulate<std::int16_t>(games, {5}, [](const Game& game, std::int16_t* out) {
    const Outcome& last = game.last;
    out[0] = last.action == kNoAction ? -1 : last.action;
    out[1] = last.card;
    out[2] = last.touched;
    out[3] = last.scored;
    out[4] = last.gained;
  });
}

// For every action its kind, its slot or the distance to the hinted seat, and the hint or -1.
std::vector<std::tuple<std::string, int, int>> list_moves(const Rules& rules) {
  std::vector<std::tuple<std::string, int, int>> out;
  for (int action = 0; action < rules.actions; ++action) {
    const Move move = rules.moves[action];
    const bool is_hint = move.kind == Kind::kColour || move.kind == Kind::kRank;
    out.emplace_back(kKinds[static_cast<int>(move.kind)], move.at, is_hint ? move.value : -1);
  }
  return out;
}

}  // namespace

namespace kedge {

void bind_hanabi(nb::module_& m) {
  nb::class_<Rules>(m, "HanabiRules")
      .def(nb::new_(&make_rules), "players"_a, "colors"_a, "ranks"_a, "hand_size"_a,
           "information_tokens"_a, "life_tokens"_a, "bomb_is_zero"_a)
      .def("moves", &list_moves)
      // The number of features in a view.
      .def("features",
           [](const Rules& rules, std::string_view view) { return features(rules, view_of(view)); },
           "view"_a = "private")
      // All cards in order, with their copies: colour · ranks + rank.
      .def("deck", [](const Rules& rules) {
        std::vector<std::uint8_t> cards;
        for (int card = 0; card < rules.cards(); ++card) {
          cards.insert(cards.end(), rules.copies[card % rules.ranks],
                       static_cast<std::uint8_t>(card));
        }
        return kedge::own(std::move(cards));
      });

  nb::class_<Games>(m, "HanabiGames")
      // Decks (n, cards), each in deal order.
      .def("__init__",
           [](Games* self, const Rules& rules, const Decks& decks) {
             new (self) Games(deal_all(rules, decks));
           },
           "rules"_a, "decks"_a.noconvert())
      .def("__getstate__", &pack)
      .def("__setstate__", &unpack)
      // One game, from its deck: before each of the actions and at the end, or before
      // the first illegal action.
      .def_static("replay", &replay, "rules"_a, "deck"_a.noconvert(), "actions"_a.noconvert())
      .def("__len__", [](const Games& games) { return games.games.size(); })
      .def_prop_ro("bomb_is_zero", [](const Games& games) { return games.rules.bomb_is_zero; })
      .def("take", &take, "which"_a.noconvert())
      // All games of the parts, or game `number` of each.
      .def_static("join", &join, "parts"_a, "number"_a = nb::none())
      // Whether the cards of `seats` in games `which` can be `hands` (m, slots), by what the seats
      // see. Slots without a card are ignored.
      .def("possible", &possible, "which"_a.noconvert(), "seats"_a.noconvert(),
           "hands"_a.noconvert(), "threads"_a = 0)
      // Copies of games `which` with these hands and shuffled draw piles.
      .def("redealt", &redeal, "which"_a.noconvert(), "seats"_a.noconvert(),
           "hands"_a.noconvert(), "seeds"_a.noconvert(), "threads"_a = 0)
      .def("step", &step, "actions"_a.noconvert(), "threads"_a = 0)
      // Bit a is action a; none when the game is over.
      .def("legal_actions", column<std::uint64_t>(&legal_actions))
      // A random legal action for each game, or -1.
      .def("random_actions",
           [](const Games& games, std::uint64_t seed, unsigned threads) {
             std::vector<std::int64_t> actions(games.games.size());
             {
               nb::gil_scoped_release release;
               for_each<kMoved>(actions.size(), threads, [&](std::size_t i) {
                 actions[i] = random_action(legal_actions(games.rules, games.games[i]),
                                            splitmix(splitmix(seed) + i));
               });
             }
             return kedge::own(std::move(actions));
           },
           "seed"_a, "threads"_a = 0)
      // The player to move; -4 when the game is over.
      .def("current_players", column<std::int8_t>([](const Rules& rules, const Game& game) {
             return is_over(rules, game) ? kTerminal : game.player;
           }))
      // The player to move, also after the end of the game.
      .def("next_players",
           column<std::uint8_t>([](const Rules&, const Game& g) { return g.player; }))
      // Turns left once the deck is empty.
      .def("turns_left", column<std::uint8_t>([](const Rules&, const Game& g) { return g.turns; }))
      .def("scores", column<std::int16_t>(&score))
      .def("lives", column<std::uint8_t>([](const Rules&, const Game& g) { return g.lives; }))
      .def("information",
           column<std::uint8_t>([](const Rules&, const Game& g) { return g.information; }))
      .def("deck_sizes", column<std::uint8_t>([](const Rules& rules, const Game& game) {
             return rules.deck - game.drawn;
           }))
      // (n, cards), in deal order. Drawn cards are as dealt, even if hands were supposed since.
      .def("decks", &decks)
      .def("fireworks", &fireworks)
      .def("discards", &discards)
      // (n, players, slots): cards, or -1; and the knowledge of their holders: bits of the possible
      // colours and ranks, plus 128 where a hint named the value.
      .def("hands", &hands)
      .def("known_colours",
           [](const Games& games) {
             return by_slot<std::uint8_t>(
                 games, [](const Hand& hand, int slot) { return at(hand.known_colours, slot); });
           })
      .def("known_ranks",
           [](const Games& games) {
             return by_slot<std::uint8_t>(
                 games, [](const Hand& hand, int slot) { return at(hand.known_ranks, slot); });
           })
      // (n, 5): the action or -1, the card, bits of the hinted slots, points and tokens gained.
      .def("last_moves", &last_moves)
      // Writes features into the caller's rows, for each game's player to move or for `seats`.
      .def("encode", &encode_all<float>, "out"_a.noconvert(), "view"_a = "private",
           "seats"_a.noconvert() = nb::none(), "beliefs"_a = false, "threads"_a = 0)
      .def("encode", &encode_all<std::uint8_t>, "out"_a.noconvert(), "view"_a = "private",
           "seats"_a.noconvert() = nb::none(), "beliefs"_a = false, "threads"_a = 0);
}

}  // namespace kedge
