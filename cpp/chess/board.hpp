// A line of positions: a root, the history that led to it, and the moves made since. This is what a
// search pushes and pops, and the basis of repetition and of the network's input.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chess/planes.hpp"
#include "chess/position.hpp"

namespace kedge::chess {

// kNoAction unless the text names exactly one legal move.
Action parse_uci(const Position& position, std::string_view text);
Action parse_san(const Position& position, std::string_view text);
std::string san(const Position& position, Action action);  // of a legal move

class Board {
 public:
  using Action = chess::Action;
  static constexpr std::size_t kMaxActions = chess::kMaxActions;
  static constexpr bool kEndsByAgreement = false;
  struct Features {  // lc0's input, packed: see planes.hpp
    std::uint64_t planes[kPlanes];
    std::uint8_t rule50;
  };

  Board();  // the start of a game
  // None if chess cannot be played from the position; then `error` has one line.
  static std::optional<Board> from_fen(std::string_view fen, std::string* error);

  void push(Action action);  // must be legal
  void pop();                // must not be at the first position

  // Legal moves in ascending order. Draws that players may claim do not end the game here.
  std::size_t legal_actions(Action* out) const { return generate_sorted(position(), out); }
  bool is_legal(Action action) const { return chess::is_legal(position(), action); }

  bool is_terminal() const;
  // For the side to move: -1 if checkmated, else 0. Only for terminal positions.
  double terminal_value() const;
  bool is_draw_by_rule() const;  // fifty moves, threefold repetition, insufficient material

  int player() const { return position().side; }
  const Position& position(std::size_t back = 0) const { return line_[line_.size() - 1 - back]; }
  std::size_t length() const { return line_.size(); }
  unsigned first_move() const { return first_move_; }

  // lc0's input, packed: see planes.hpp.
  void encode(std::uint64_t* planes, std::uint8_t* rule50, Fill fill) const {
    encode_planes(line_.data(), line_.size(), planes, rule50, fill);
  }
  void features(Features& out) const {
    encode_planes(line_.data(), line_.size(), out.planes, &out.rule50, Fill::kFenOnly);
  }
  // lc0's index of a legal move, 0…1857.
  std::uint16_t policy_index(Action action) const {
    return chess::policy_index(position(), action);
  }

  std::string fen() const;
  std::string san(Action action) const;  // of a legal move
  static std::string uci(Action action);
  // kNoAction unless the text names exactly one legal move.
  Action parse_uci(std::string_view text) const;
  Action parse_san(std::string_view text) const;

  bool operator==(const Board&) const = default;

 private:
  Board(const Position& first, unsigned first_move) : line_{first}, first_move_(first_move) {}

  std::vector<Position> line_;
  unsigned first_move_ = 1;  // the number of the move at the root
};

}  // namespace kedge::chess
