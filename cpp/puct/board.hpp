// What a PUCT search needs from a game.
//
// A board is one line of play: a first position and the moves made since. A tree owns one board; it
// pushes moves on the way to a leaf and pops them on the way back. Boards of different trees are
// used by different threads at the same time, so they must share nothing that changes.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kedge::puct {

// The rules of a game for two players, 0 and 1, who need not alternate. It is zero-sum: what one
// player gains the other loses. A concept checks names and types; the comments say the rest.
template <class B>
concept Board =
    std::copyable<B> && std::integral<typename B::Action> &&
    requires(B board, const B& position, typename B::Action action, typename B::Action* out) {
      // The largest number of legal actions in any position. Buffers have this size.
      requires B::kMaxActions > 0;
      // True if people stop before the result can be read from the board. A line of play without
      // legal actions then ends with the network's value, otherwise with terminal_value().
      typename std::bool_constant<B::kEndsByAgreement>;

      board.push(action);  // plays a legal action
      board.pop();         // takes back the last one

      // Writes the legal actions to `out` in ascending order and returns their number: 0 if the
      // game is over.
      { position.legal_actions(out) } -> std::same_as<std::size_t>;
      // True if the game is drawn although there are legal actions. A search asks this below its
      // root only: people play on in drawn positions.
      { position.is_draw_by_rule() } -> std::same_as<bool>;
      // The result of a finished or drawn game, for player().
      { position.terminal_value() } -> std::same_as<double>;
      // The player to move.
      { position.player() } -> std::same_as<int>;
    };

// A board of a game with rewards before the end.
template <class B>
concept RewardBoard = Board<B> && requires(const B& position) {
  // The reward of the last move, for the player who made it. Not part of terminal_value().
  { position.reward() } -> std::same_as<double>;
};

// A board that a network evaluates.
template <class B>
concept EncodedBoard =
    Board<B> && std::default_initializable<typename B::Features> &&
    requires(const B& position, typename B::Action action, typename B::Features& out) {
      // Writes the network's input. It is kept with a leaf until the leaf's batch is full.
      position.features(out);
      // The place of a legal action in the network's policy, at most 65,535.
      { position.policy_index(action) } -> std::convertible_to<std::uint16_t>;
    };

}  // namespace kedge::puct
