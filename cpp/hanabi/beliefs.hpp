// The possible hands of a seat, given its observations, if the others follow the conventions.
#pragma once

#include <cstddef>
#include <vector>

#include "hanabi/conventions.hpp"

namespace kedge::hanabi {

// Follows one game. Hands are sampled from the hidden cards, and kept if all other players would
// have made their moves. If that takes too many trials, all hands are listed once; the list then
// follows the game, and new cards are drawn to its hands.
class Belief {
 public:
  Belief(const Rules& rules, const Game& game, int seat);  // from its beginning

  void step(Action action);  // must be legal
  // At most `count` hands, each of `rules.hand` cards, the oldest first; none if no hand fits.
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
  // Possible hands of the oldest `listed_` cards, given all moves except `unchecked_`.
  std::vector<Packed> hands_{0};
  int listed_ = 0;
  std::vector<Moment> unchecked_;
};

}  // namespace kedge::hanabi
