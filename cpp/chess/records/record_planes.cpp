// Encodes positions of records for networks.
#include <algorithm>
#include <optional>

#include "chess/records/records.hpp"

namespace kedge::chess {

std::string encode_game(std::string_view fen, const Action* actions, std::size_t length,
                        const std::int64_t* plies, std::size_t count, Fill fill, EncodedRows out) {
  if (count == 0) return "";
  const auto [least, most] = std::minmax_element(plies, plies + count);
  if (*least < 0 || *most >= static_cast<std::int64_t>(length)) {
    return "has no half-move " + std::to_string(*least < 0 ? *least : *most);
  }
  Board board;
  if (!fen.empty()) {
    std::string error;
    std::optional<Board> first = Board::from_fen(fen, &error);
    if (!first) return "FEN: " + error;
    board = *std::move(first);
  }
  const std::size_t end = static_cast<std::size_t>(*most);
  for (std::size_t ply = 0; ply <= end; ++ply) {
    Position next = board.position();
    if (!apply_if_legal(next, actions[ply])) {
      return "half-move " + std::to_string(ply + 1) + " is not a legal move";
    }
    if (ply < end) board.push(actions[ply]);
  }
  const Position* line = &board.position(board.length() - 1);
  Action legal[kMaxActions];
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t ply = static_cast<std::size_t>(plies[i]);
    encode_planes(line, ply + 1, out.planes + kPlanes * i, out.rule50 + i, fill);
    out.played[i] = policy_index(line[ply], actions[ply]);
    std::uint64_t* words = out.legal + kLegalWords * i;
    std::fill(words, words + kLegalWords, 0);
    const std::size_t moves = generate(line[ply], legal);
    for (std::size_t m = 0; m < moves; ++m) {
      const std::uint16_t index = policy_index(line[ply], legal[m]);
      words[index / 64] |= std::uint64_t{1} << (index % 64);
    }
  }
  return "";
}

}  // namespace kedge::chess
