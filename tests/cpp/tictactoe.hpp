// Noughts and crosses: a game so small that a search of it can be checked by hand.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace test_games {

class TicTacToe {
 public:
  using Action = std::uint16_t;
  static constexpr std::size_t kMaxActions = 9;
  static constexpr bool kEndsByAgreement = false;

  void push(Action cell) {
    marks_[player()] |= 1u << cell;
    moves_.push_back(cell);
  }
  void pop() {
    const Action cell = moves_.back();
    moves_.pop_back();
    marks_[player()] &= ~(1u << cell);
  }
  std::size_t legal_actions(Action* out) const {
    std::size_t count = 0;
    for (Action cell = 0; cell < 9 && !has_line(); ++cell) {
      if (((marks_[0] | marks_[1]) >> cell & 1u) == 0) out[count++] = cell;
    }
    return count;
  }
  bool is_draw_by_rule() const { return false; }
  // Only the player who moved last can have a line.
  double terminal_value() const { return has_line() ? -1.0 : 0.0; }
  int player() const { return static_cast<int>(moves_.size() % 2); }
  const std::vector<Action>& moves() const { return moves_; }

 private:
  bool has_line() const {
    constexpr std::array<unsigned, 8> kLines{0007, 0070, 0700, 0111, 0222, 0444, 0421, 0124};
    const unsigned last = marks_[1 - player()];
    for (const unsigned line : kLines) {
      if ((last & line) == line) return true;
    }
    return false;
  }
  std::array<unsigned, 2> marks_{};
  std::vector<Action> moves_;
};

}  // namespace test_games
