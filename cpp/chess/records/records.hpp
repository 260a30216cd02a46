// Records of games: PGN text and UCI moves in, moves, clocks and evaluations out; and the positions of many
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

// Makes the move that `text` names (see Board::parse_san) and returns it, or returns kNoAction.
Action play_san(Position& position, std::string_view text);
Action play_uci(Position& position, std::string_view text);

// The tags that are read; others are skipped.
inline constexpr std::array<std::string_view, 18> kTags = {
    "Event",    "Site",     "Date",        "UTCDate",     "White",   "Black",
    "Result",   "WhiteElo", "BlackElo",    "TimeControl", "Variant", "Termination",
    "FEN",      "WhiteTitle", "BlackTitle", "GameId",     "Source",
    "Round"};
inline constexpr std::size_t kFenTag = 12, kResultTag = 6;

// A part of a text.
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
  bool has_evals = false;
  bool noise = false;             // not a game at all: NUL bytes, or neither a tag nor a move
  std::string broken;             // why the game is invalid, or empty; an invalid game has no moves
};

struct Records {
  std::vector<Record> games;
  std::vector<Action> actions;  // of all games, one after another
  std::vector<float> clocks;    // seconds left after each of them, or NaN
  std::vector<float> evals;     // of the position after each of them, or NaN: see pgn_comments.hpp
  std::size_t consumed = 0;     // bytes of the text
  std::int64_t lines = 0;       // of what was consumed

  // Cuts the moves of all games; the clocks and evaluations of new ones are unknown.
  void resize(std::size_t plies);
  void reserve(std::size_t plies);
};

// Reads all games of a PGN text of at most 2 GiB. Unless it is the `last` piece of a file, a game
// that may continue in the next piece is left out: the caller passes the text after `consumed`
// again.
Records read_pgn(std::string_view text, bool last, std::size_t threads);

// Reads games of UCI moves separated by spaces, each from its FEN (empty: the start).
Records read_uci(const std::vector<std::string_view>& moves,
                 const std::vector<std::string_view>& fens, std::size_t threads);

// Writes moves as Lichess does, with known evaluations and clocks (not NaN) and without the result.
// If an action is illegal, returns an empty text and sets `error`.
std::string write_moves(std::string_view fen, const Action* actions, const float* clocks,
                        const float* evals, std::size_t length, std::string* error);

inline constexpr std::size_t kLegalWords = (kPolicySize + 63) / 64;

// Rows for encoded positions. planes.hpp describes the planes; `played` is lc0's index of the move
// that was made, and bit j of `legal` is on if lc0's move j is legal.
struct EncodedRows {
  std::uint64_t* planes;
  std::uint8_t* rule50;
  std::uint16_t* played;
  std::uint64_t* legal;
};

// Encodes the positions before actions[plies[i]] of one game; claimable draws do not end it. Writes
// no row and returns the reason if an action is illegal or a ply is beyond the game.
std::string encode_game(std::string_view fen, const Action* actions, std::size_t length,
                        const std::int64_t* plies, std::size_t count, Fill fill, EncodedRows out);

}  // namespace kedge::chess
