#include "hanabi/beliefs.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "parallel.hpp"
#include "splitmix.hpp"

namespace kedge::hanabi {
namespace {

constexpr std::size_t kChunk = 1024;       // hands that a thread takes at a time
constexpr double kFew = 20'000;            // hands that are listed at once
constexpr double kMost = double{1 << 25};  // more hands are never listed: each takes 8 bytes
constexpr double kTried = 0.25;            // share of all hands to try before listing them

class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(splitmix(seed)) {}
  std::uint64_t below(std::uint64_t end) {
    seed_ = splitmix(seed_);
    return (seed_ >> 32) * end >> 32;
  }
  double share() {
    seed_ = splitmix(seed_);
    return static_cast<double>(seed_ >> 11) * 0x1p-53;
  }

 private:
  std::uint64_t seed_;
};

int card_in(std::uint64_t hand, int slot) { return at(hand, slot); }

}  // namespace

// The likelihood of hands by hints and hidden cards alone, without the others' moves.
struct Belief::Prior {
  explicit Prior(const Belief& belief)
      : left(hidden(belief.rules_, belief.game_, belief.seat_)), listed(belief.listed_) {
    const Hand& hand = belief.game_.hands[belief.seat_];
    size = hand.size();
    for (int slot = 0; slot < size; ++slot) {
      told[slot] = kedge::hanabi::told(belief.rules_, hand, slot);
      most[slot] = count(left, slot);
    }
  }

  int count(const Counts& left, int slot) const {
    int sum = 0;
    for (Cards cards = told[slot]; cards; cards &= cards - 1) sum += left[std::countr_zero(cards)];
    return sum;
  }

  // The number of ways in which the listed cards can be these.
  double ways(Packed hand) const {
    Counts counts = left;
    double ways = 1;
    for (int slot = 0; slot < listed; ++slot) {
      const int card = card_in(hand, slot);
      if (!(told[slot] >> card & 1)) return 0;
      ways *= counts[card] > 0 ? counts[card]-- : 0;
    }
    return ways;
  }

  // An upper bound on the number of hands.
  double hands(std::size_t known) const {
    double product = static_cast<double>(known);
    for (int slot = listed; slot < size; ++slot) {
      int kinds = 0;
      for (Cards cards = told[slot]; cards; cards &= cards - 1) {
        kinds += left[std::countr_zero(cards)] > 0;
      }
      product *= kinds;
    }
    return product;
  }

  // Adds the cards that are not listed. Skipping cards that hints rule out makes hands that leave
  // few choices for the next card too frequent; rejection corrects that.
  bool complete(Packed& hand, Random& random) const {
    Counts counts = left;
    for (int slot = 0; slot < listed; ++slot) --counts[card_in(hand, slot)];
    double kept = 1;
    for (int slot = listed; slot < size; ++slot) {
      const int sum = count(counts, slot);
      if (sum == 0) return false;
      kept *= static_cast<double>(sum) / most[slot];
      auto skip = static_cast<int>(random.below(sum));
      Cards cards = told[slot];
      while (skip >= counts[std::countr_zero(cards)]) {
        skip -= counts[std::countr_zero(cards)];
        cards &= cards - 1;
      }
      const int card = std::countr_zero(cards);
      --counts[card];
      hand |= Packed(card) << (8 * slot);
    }
    return random.share() < kept;
  }

  Counts left;  // hidden cards of each kind
  int size, listed;
  std::array<Cards, kMaxHand> told{};
  std::array<int, kMaxHand> most{};  // hidden cards that each slot may hold
};

Belief::Belief(const Rules& rules, const Game& game, int seat)
    : rules_(rules), game_(game), seat_(seat) {
  observe(rules_, game_, Table(rules_, game_), marks_);
}

void Belief::step(Action action) {
  const Move move = rules_.moves[action];
  if (game_.player != seat_) {
    Moment moment{game_, Table(rules_, game_), marks_, action, {}};
    std::iota(moment.slots.begin(), moment.slots.end(), 0);
    unchecked_.push_back(moment);
  } else if (move.kind == Kind::kDiscard || move.kind == Kind::kPlay) {
    give_up(move.at);
  }
  apply(rules_, game_, action);
  if (!is_over(rules_, game_)) observe(rules_, game_, Table(rules_, game_), marks_);
}

// The seat sees a card of its own.
void Belief::give_up(int slot) {
  for (Moment& moment : unchecked_) {
    for (std::int8_t& now : moment.slots) now = now == slot ? -1 : now - (now > slot);
  }
  if (slot >= listed_) return;
  const int card = card_at(rules_, game_.hands[seat_], slot);
  std::erase_if(hands_, [&](Packed hand) { return card_in(hand, slot) != card; });
  for (Packed& hand : hands_) remove_byte(hand, slot);
  --listed_;
}

// Whether the player would have made this move if the seat had held these cards.
bool Belief::explains(Moment& moment, Packed cards) const {
  Hand& hand = moment.game.hands[seat_];
  for (int slot = 0, size = hand.size(); slot < size; ++slot) {
    if (moment.slots[slot] < 0) continue;
    put(rules_, hand, slot, card_in(cards, moment.slots[slot]));
  }
  return choose(rules_, moment.game, moment.table, moment.marks) == moment.action;
}

bool Belief::explains_all(std::vector<Moment>& moments, Packed hand) const {
  for (std::size_t i = 0; i < moments.size(); ++i) {
    if (explains(moments[i], hand)) continue;
    if (i > 0) std::swap(moments[i], moments[i - 1]);  // moves that rule out much come first
    return false;
  }
  return true;
}

void Belief::list_all(const Prior& prior, unsigned threads) {
  for (; listed_ < prior.size; ++listed_) {
    std::vector<Packed> longer;
    for (const Packed hand : hands_) {
      Counts counts = prior.left;
      for (int slot = 0; slot < listed_; ++slot) --counts[card_in(hand, slot)];
      for (Cards cards = prior.told[listed_]; cards; cards &= cards - 1) {
        const int card = std::countr_zero(cards);
        if (counts[card] > 0) longer.push_back(hand | Packed(card) << (8 * listed_));
      }
    }
    hands_ = std::move(longer);
  }
  std::vector<std::uint8_t> explained(hands_.size());
  parallel_for((hands_.size() + kChunk - 1) / kChunk, threads, [&](std::size_t chunk) {
    std::vector<Moment> moments = unchecked_;
    const std::size_t end = std::min(hands_.size(), (chunk + 1) * kChunk);
    for (std::size_t i = chunk * kChunk; i < end; ++i) {
      explained[i] = explains_all(moments, hands_[i]);
    }
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < hands_.size(); ++i) {
    if (explained[i]) hands_[kept++] = hands_[i];
  }
  hands_.resize(kept);
  unchecked_.clear();
}

std::vector<Belief::Packed> Belief::try_hands(const Prior& prior, std::size_t count,
                                              std::size_t most, std::uint64_t seed,
                                              unsigned threads) const {
  std::vector<double> sums(hands_.size());
  std::transform_inclusive_scan(hands_.begin(), hands_.end(), sums.begin(), std::plus<>(),
                                [&](Packed hand) { return prior.ways(hand); });
  const auto propose = [&](Random& random, Packed& hand) {
    const auto place = std::upper_bound(sums.begin(), sums.end(), random.share() * sums.back());
    hand = hands_[std::min<std::size_t>(place - sums.begin(), sums.size() - 1)];
    return prior.complete(hand, random);
  };
  const std::size_t chunks = (most + kChunk - 1) / kChunk;
  std::vector<Packed> drawn;
  for (std::size_t chunk = 0; drawn.size() < count && chunk < chunks; chunk += threads) {
    const std::size_t round = std::min<std::size_t>(threads, chunks - chunk);
    std::vector<std::vector<Packed>> parts(round);
    parallel_for(round, threads, [&](std::size_t part) {
      std::vector<Moment> moments = unchecked_;
      for (std::size_t i = 0; i < kChunk && parts[part].size() < count; ++i) {
        Random random(seed + (chunk + part) * kChunk + i);
        Packed hand = 0;
        if (propose(random, hand) && explains_all(moments, hand)) parts[part].push_back(hand);
      }
    });
    for (const auto& part : parts) drawn.insert(drawn.end(), part.begin(), part.end());
  }
  drawn.resize(std::min(drawn.size(), count));
  return drawn;
}

std::vector<std::uint8_t> Belief::draw(std::size_t count, std::uint64_t seed, unsigned threads) {
  const Prior prior(*this);
  std::erase_if(hands_, [&](Packed hand) { return prior.ways(hand) == 0; });
  const double all = prior.hands(hands_.size());
  std::vector<Packed> drawn;
  if (all > kFew) {
    const auto most = static_cast<std::size_t>(kTried * std::min(all, kMost));
    drawn = try_hands(prior, count, most, seed, threads);
  }
  if (drawn.size() < count && all <= kMost) {
    list_all(prior, threads);
    // Every hand on the list fits, so no trials are needed.
    drawn.clear();
    if (!hands_.empty()) drawn = try_hands(Prior(*this), count, count, seed, threads);
  }
  if (drawn.empty() && count > 0) {  // someone does not follow the conventions: ignore their moves
    hands_ = {0};
    listed_ = 0;
    unchecked_.clear();
  }
  std::vector<std::uint8_t> out;
  for (const Packed hand : drawn) {
    for (int slot = 0; slot < rules_.hand; ++slot) out.push_back(at(hand, slot));
  }
  return out;
}

}  // namespace kedge::hanabi
