// Records of games: PGN text and UCI moves in, moves and clocks out; and the positions of many
// games at once, as a network takes them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chess/board.hpp"

namespace kedge::chess {

// Makes the move that `text` names, as Board::parse_san reads it; kNoAction and no move otherwise.
Action play_san(Position& position, std::string_view text);
Action play_uci(Position& position, std::string_view text);

// The tags that are read; the rest are passed over.
inline constexpr std::array<std::string_view, 17> kTags = {
    "Event",    "Site",     "Date",        "UTCDate",     "White",   "Black",
    "Result",   "WhiteElo", "BlackElo",    "TimeControl", "Variant", "Termination",
    "FEN",      "WhiteTitle", "BlackTitle", "GameId",     "Source"};
inline constexpr std::size_t kFenTag = 12, kResultTag = 6;

// Where something stands in a text.
struct Span {
  std::int32_t begin = 0, end = 0;
};

enum Outcome : std::uint8_t { kUnfinished, kWhiteWon, kBlackWon, kDrawn, kNoOutcome };

struct Record {
  std::array<Span, kTags.size()> tags{};
  std::int64_t line = 0;          // of the text, where the game starts
  std::size_t plies = 0;          // its moves, next to one another in Records::actions
  Outcome outcome = kNoOutcome;   // at the end of the moves
  bool has_clocks = false;
  bool noise = false;             // broken, with NUL bytes or neither a tag nor a move: no game
  std::string broken;             // why it is no game, if it is none; its moves are left out
};

struct Records {
  std::vector<Record> games;
  std::vector<Action> actions;  // of all games, one after another
  std::vector<float> clocks;    // seconds left after each of them, or NaN
  std::size_t consumed = 0;     // bytes of the text
  std::int64_t lines = 0;       // of what was consumed
};

// Every game of a PGN text. Unless it is the `last` piece of a file, a game that may go on in the
// next piece is left: the caller hands it over again from `consumed` on. At most 2 GiB.
Records read_pgn(std::string_view text, bool last, std::size_t threads);

// Games as UCI moves between spaces, each from its FEN (empty: the start).
Records read_uci(const std::vector<std::string_view>& moves,
                 const std::vector<std::string_view>& fens, std::size_t threads);

// Moves as Lichess writes them, with the clocks where they are known (not NaN; or none at all). The
// result is the caller's. Empty, and the reason in `error`, if an action is not legal.
std::string write_moves(std::string_view fen, const Action* actions, const float* clocks,
                        std::size_t length, std::string* error);

inline constexpr std::size_t kLegalWords = (kPolicySize + 63) / 64;

// Where positions of many games go, one row a position: see planes.hpp for the planes; `played` is
// lc0's index of the move made there, and bit j of `legal` is on if lc0's move j is legal.
struct EncodedRows {
  std::uint64_t* planes;
  std::uint8_t* rule50;
  std::uint16_t* played;
  std::uint64_t* legal;
};

// The positions before actions[plies[i]] of one game, and nothing if an action up to the last of
// those is not legal or a ply is beyond the game: then the reason. Goes on past claimable draws.
std::string encode_game(std::string_view fen, const Action* actions, std::size_t length,
                        const std::int64_t* plies, std::size_t count, Fill fill, EncodedRows out);

}  // namespace kedge::chess
