#include "go/playouts.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "parallel.hpp"
#include "splitmix.hpp"

namespace kedge::go {
namespace {

constexpr std::size_t kBatch = 16;  // playouts that a thread makes at a time

// The same stones without history, under simple ko.
Board fresh(const Board& board) {
  Board out(board.size(), {Ko::kSimple, false, 0.0f});
  for (Action p = 0; p < board.pass(); ++p) {
    const Colour colour = board.colour(p);
    if (colour != kEmpty) out.place(p, colour);
  }
  return out;
}

// Whether the last move captured nothing and left a chain in atari. Such moves would break seki.
bool gives_away(const Board& board) {
  return board.position().prisoners == board.position(1).prisoners &&
         board.is_chain_in_atari(board.position().move);
}

void make_random_move(Board& board, std::uint64_t& random) {
  const auto player = static_cast<Colour>(board.player());
  Action empty[kMaxPoints];
  std::uint64_t count = 0;
  for (Action p = 0; p < board.pass(); ++p) {
    if (board.colour(p) == kEmpty) empty[count++] = p;
  }
  while (count > 0) {
    random = splitmix(random);
    Action& drawn = empty[(random >> 32) * count >> 32];
    if (board.is_legal(drawn) && !board.is_eye(drawn, player)) {
      board.push(drawn);
      if (!gives_away(board)) return;
      board.pop();
    }
    drawn = empty[--count];
  }
  board.push(board.pass());
}

}  // namespace

std::vector<double> ownership(const Board& board, std::size_t playouts, std::uint64_t seed,
                              std::size_t threads) {
  const Board start = fresh(board);
  const std::size_t longest = 3 * std::size_t{board.pass()};  // triple ko has no end
  std::array<std::atomic<std::int64_t>, kMaxPoints> sums{};
  parallel_for((playouts + kBatch - 1) / kBatch, threads, [&](std::size_t batch) {
    std::array<std::int64_t, kMaxPoints> own{};
    const std::size_t end = std::min(playouts, kBatch * (batch + 1));
    for (std::size_t i = kBatch * batch; i < end; ++i) {
      Board game = start;
      game.set_player(i % 2 == 0 ? kBlack : kWhite);
      std::uint64_t random = splitmix(seed + i);
      for (std::size_t ply = 0; ply < longest && !game.is_over(); ++ply) {
        make_random_move(game, random);
      }
      for (Action p = 0; p < game.pass(); ++p) {
        for (const Colour colour : {kBlack, kWhite}) {
          if (game.colour(p) == colour || game.is_surrounded(p, colour)) {
            own[p] += colour == kBlack ? 1 : -1;
          }
        }
      }
    }
    for (Action p = 0; p < board.pass(); ++p) sums[p] += own[p];
  });
  std::vector<double> out(board.pass());
  for (Action p = 0; p < board.pass(); ++p) {
    out[p] = static_cast<double>(sums[p]) / static_cast<double>(playouts);
  }
  return out;
}

}  // namespace kedge::go
