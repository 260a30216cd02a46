// A residual tower of convolutions and its heads on the CPU; `kedge.models.board.plain` specifies
// it. Convolutions of 3 x 3 use Winograd's F(4x4, 3x3) of Lavin and Gray 2016. The board is cut
// into tiles of 4 x 4 points, each read with its neighbours as 6 x 6. In another basis, a
// convolution is a product at each point, and the sum over channels is a product of matrices. This
// needs a quarter of the multiplications.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "parallel.hpp"

namespace kedge::tower {

inline constexpr std::size_t kPanel = 16;  // columns of a matrix that are multiplied together
inline constexpr std::size_t kTile = 4, kSeen = kTile + 2, kBasis = kSeen * kSeen;

// Positions that a thread takes at a time, and tiles that are multiplied together: as many as fit
// in its cache.
inline constexpr std::size_t kPositions = 16, kTiles = 12;

inline constexpr std::size_t padded(std::size_t channels) {
  return (channels + kPanel - 1) / kPanel * kPanel;
}

// A convolution of 1 x 1 or a dense layer: one matrix; a convolution of 3 x 3: a matrix for each
// of the kBasis places. Outputs are padded with zeros to whole panels. Copies share the weights, so
// towers that differ in a few layers need little more memory than one.
class Layer {
 public:
  // weights: matrices x inputs x outputs.
  Layer(const float* weights, const float* bias, std::size_t matrices, std::size_t inputs,
        std::size_t outputs);

  bool wide() const { return matrices_ > 1; }
  std::size_t inputs() const { return inputs_; }
  std::size_t outputs() const { return outputs_; }
  const float* panels(std::size_t matrix) const {
    return panels_->data() + matrix * inputs_ * padded(outputs_);
  }
  const float* bias() const { return bias_.data(); }

 private:
  std::size_t matrices_, inputs_, outputs_;
  std::shared_ptr<const std::vector<float>> panels_;  // by matrix, then by kPanel columns
  std::vector<float> bias_;
};

struct Squeeze {
  Layer first, second;  // the outputs of `second` are the scales of all channels, then the shifts
};

struct Block {
  Layer first, second;
  std::optional<Squeeze> squeeze;
};

enum class PolicyKind {
  kClassical,    // a dense layer on all points
  kConvolution,  // points of planes, gathered
  kPoints,       // a plane of points, and the mean of another: the pass
};

struct Parts {
  std::size_t side, planes, plane_words, number_plane, moves;
  Layer input;
  std::vector<Block> blocks;
  PolicyKind policy;
  Layer policy_first, policy_last;
  std::vector<std::uint32_t> gather;  // of kConvolution: point + area * plane
  Layer value_planes;
  bool pools_value;
  Layer value_first, value_last;  // of one output, or of three: win, draw, loss
};

// Positions: planes of floats, or masks of bits and the one number (see `Encoding`).
struct Batch {
  std::size_t count;
  const float* planes;
  const std::uint64_t* masks;
  const float* numbers;
};

struct Answers {
  float* policy;  // count x moves
  float* value;   // count
  float* wdl;     // count x 3; nullptr where the network does not know
};

// Buffers for up to kPositions positions. Planes are stored as the points of a board with an empty
// margin, row by row, with the channels of a point side by side.
struct Scratch {
  Scratch(const Parts& parts, std::size_t members);
  static std::size_t tiles_of(const Parts& parts) { return (parts.side + kTile - 1) / kTile; }

  std::size_t tiles, width;  // along an edge of the board, and points along an edge with its margin
  std::vector<float> input, x, hidden, policy;  // by layer; the margin stays zero
  std::vector<float> out;                       // output of any layer; no convolution reads it
  struct Own {
    std::vector<float> seen, product;  // some tiles in the other basis
    std::vector<float> flat;
  };
  std::vector<Own> of_member;
};

struct Columns {
  std::size_t first, end;
};

// Threads that compute the same positions: each makes its share of every layer's outputs.
struct Team {
  std::size_t member, size;
  Barrier& barrier;
};

using Forward = void(const Parts&, Scratch&, const Team&, const Batch&, const Answers&);

struct Instructions {
  const char* name;
  Forward* forward;
};

// The instruction sets of this machine, the widest last.
std::vector<Instructions> instructions();

class Tower {
 public:
  Tower(Parts parts, Instructions instructions, std::size_t threads);

  const Parts& parts() const { return parts_; }
  bool knows_draws() const { return parts_.value_last.outputs() == 3; }

  // The result of a position does not depend on the others in its batch.
  void evaluate(const Batch& batch, const Answers& answers);

 private:
  Parts parts_;
  Forward* forward_;
  std::mutex working_;  // held while a batch is computed
  Workers workers_;
  std::vector<Scratch> scratch_;  // one per thread; teams use the first
};

}  // namespace kedge::tower
