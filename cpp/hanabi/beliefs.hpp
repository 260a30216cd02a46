// What a seat may hold, by all that it has seen, when the others play by the conventions.
#pragma once

#include <cstddef>
#include <vector>

#include "hanabi/conventions.hpp"

namespace kedge::hanabi {

// Follows one game. Hands are drawn as cards are hidden, and kept if all others would have done
// what they did. Only where that takes too many trials are the hands listed, once for all: then the
// list goes on with the game, and is what further cards are drawn to.
class Belief {
 public:
  Belief(const Rules& rules, const Game& game, int seat);  // from its beginning

  void step(Action action);  // must be legal
  // At most `count` hands, each of `rules.hand` cards, the oldest first; none if no hand would do.
  std::vector<std::uint8_t> draw(std::size_t count, std::uint64_t seed, unsigned threads);

  const Rules& rules() const { return rules_; }
  const Game& game() const { return game_; }

 private:
  using Packed = std::uint64_t;  // byte i is the card in slot i
  // Another's move, and where the cards that the seat held then are now: -1, once they are seen.
  struct Moment {
    Game game;
    Table table;
    Marks marks;
    Action action;
    std::array<std::int8_t, kMaxHand> slots;
  };
  struct Prior;

  void give_up(int slot);
  bool explains(Moment& moment, Packed hand) const;
  bool explains_all(std::vector<Moment>& moments, Packed hand) const;
  void list_all(const Prior& prior, unsigned threads);
  std::vector<Packed> try_hands(const Prior& prior, std::size_t count, std::size_t most,
                                std::uint64_t seed, unsigned threads) const;

  Rules rules_;
  Game game_;
  Marks marks_{};
  int seat_;
  // What the oldest `listed_` cards may be by all moves but `unchecked_`.
  std::vector<Packed> hands_{0};
  int listed_ = 0;
  std::vector<Moment> unchecked_;
};

}  // namespace kedge::hanabi
