// A game of rewards before the end: players take 1 or 2 from a pile in turn and gain that much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace test_games {

class Countdown {
 public:
  using Action = std::uint16_t;
  static constexpr std::size_t kMaxActions = 2;
  static constexpr bool kEndsByAgreement = false;

  explicit Countdown(int pile) : pile_(pile) {}

  void push(Action take) {
    pile_ -= take;
    taken_.push_back(take);
  }
  void pop() {
    pile_ += taken_.back();
    taken_.pop_back();
  }
  std::size_t legal_actions(Action* out) const {
    std::size_t count = 0;
    for (Action take = 1; take <= 2 && take <= pile_; ++take) out[count++] = take;
    return count;
  }
  bool is_draw_by_rule() const { return false; }
  double terminal_value() const { return 0.0; }  // the rewards are all there is to win
  double reward() const { return taken_.empty() ? 0.0 : taken_.back(); }
  int player() const { return static_cast<int>(taken_.size() % 2); }

 private:
  int pile_;
  std::vector<Action> taken_;
};

}  // namespace test_games
