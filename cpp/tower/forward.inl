// The network for vectors of KEDGE_LANES floats. A product keeps KEDGE_ROWS rows of kPanel numbers
// in registers. Included once per instruction set, which is enabled there.

namespace kedge::tower::KEDGE_ISA {

#if KEDGE_LANES > 1
typedef float Vector __attribute__((vector_size(4 * KEDGE_LANES), aligned(4), may_alias));
#else
using Vector = float;
#endif
constexpr std::size_t kLanes = KEDGE_LANES, kVectors = kPanel / kLanes;

KEDGE_INLINE Vector& at(float* p) { return *reinterpret_cast<Vector*>(p); }
KEDGE_INLINE const Vector& at(const float* p) { return *reinterpret_cast<const Vector*>(p); }
// NaN propagates, and is detected at the end.
KEDGE_INLINE Vector positive(Vector x) { return x < 0.0f ? Vector{} : x; }

// out (rows x kPanel) = a (rows x inputs) . panel (inputs x kPanel). A row is
// summed in the same order for any number of rows.
template <int kRows>
KEDGE_INLINE void multiply_rows(const float* a, std::size_t stride, std::size_t inputs,
                                const float* panel, float* out, std::size_t out_stride) {
  Vector sums[kRows][kVectors] = {};
  for (std::size_t k = 0; k < inputs; ++k) {
    Vector b[kVectors];
    KEDGE_UNROLL
    for (std::size_t v = 0; v < kVectors; ++v) b[v] = at(panel + k * kPanel + v * kLanes);
    KEDGE_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const float x = a[r * stride + k];
      KEDGE_UNROLL
      for (std::size_t v = 0; v < kVectors; ++v) sums[r][v] += b[v] * x;
    }
  }
  KEDGE_UNROLL
  for (int r = 0; r < kRows; ++r) {
    KEDGE_UNROLL
    for (std::size_t v = 0; v < kVectors; ++v) at(out + r * out_stride + v * kLanes) = sums[r][v];
  }
}

template <int kRows>
KEDGE_INLINE void multiply_rest(std::size_t rows, const float* a, std::size_t stride,
                                std::size_t inputs, const float* panel, float* out,
                                std::size_t out_stride) {
  if constexpr (kRows > 0) {
    if (rows == kRows) return multiply_rows<kRows>(a, stride, inputs, panel, out, out_stride);
    multiply_rest<kRows - 1>(rows, a, stride, inputs, panel, out, out_stride);
  }
}

// Columns of out (rows x outputs) = a (rows x inputs) . a matrix of the layer.
void multiply(const float* a, std::size_t stride, std::size_t rows, const Layer& layer,
              std::size_t matrix, Columns columns, float* out, std::size_t out_stride) {
  const std::size_t inputs = layer.inputs();
  const float* panel = layer.panels(matrix) + columns.first * inputs;
  for (std::size_t column = columns.first; column < columns.end; column += kPanel) {
    std::size_t row = 0;
    for (; row + KEDGE_ROWS <= rows; row += KEDGE_ROWS) {
      multiply_rows<KEDGE_ROWS>(a + row * stride, stride, inputs, panel,
                                out + row * out_stride + column, out_stride);
    }
    multiply_rest<KEDGE_ROWS - 1>(rows - row, a + row * stride, stride, inputs, panel,
                                  out + row * out_stride + column, out_stride);
    panel += inputs * kPanel;
  }
}

// B'd: transforms six numbers to the Winograd basis.
KEDGE_INLINE void to_basis(const Vector* d, std::size_t step, Vector* out) {
  const Vector d1 = d[step], d2 = d[2 * step], d3 = d[3 * step], d4 = d[4 * step];
  const Vector even = d4 - 4.0f * d2, odd = d3 - 4.0f * d1;
  const Vector near = d4 - d2, far = 2.0f * (d3 - d1);
  out[0] = 4.0f * d[0] - 5.0f * d2 + d4;
  out[1] = even + odd;
  out[2] = even - odd;
  out[3] = near + far;
  out[4] = near - far;
  out[5] = 4.0f * d1 - 5.0f * d3 + d[5 * step];
}

// A'm: transforms them back to four.
KEDGE_INLINE void from_basis(const Vector* m, std::size_t step, Vector* out) {
  const Vector m1 = m[step], m2 = m[2 * step], m3 = m[3 * step], m4 = m[4 * step];
  const Vector sum = m1 + m2, difference = m1 - m2, far = m3 + m4, between = m3 - m4;
  out[0] = m[0] + sum + far;
  out[1] = difference + 2.0f * between;
  out[2] = sum + 4.0f * far;
  out[3] = difference + 8.0f * between + m[5 * step];
}

struct Network {
  const Parts& parts;
  Scratch& scratch;
  const Team& team;
  std::size_t count;  // positions

  bool leads() const { return team.member == 0; }
  Scratch::Own& own() const { return scratch.of_member[team.member]; }

  // This thread's share of the channels.
  Columns share(std::size_t channels) const {
    const std::size_t panels = padded(channels) / kPanel;
    return {panels * team.member / team.size * kPanel,
            panels * (team.member + 1) / team.size * kPanel};
  }

  float* point(std::vector<float>& planes, std::size_t channels, std::size_t position,
               std::size_t y, std::size_t x) const {
    const std::size_t width = scratch.width;
    return planes.data() + ((position * width + y + 1) * width + x + 1) * channels;
  }

  void lay_out(const Batch& batch) const {
    const std::size_t side = parts.side, area = side * side, channels = padded(parts.planes);
    for (std::size_t n = 0; n < count; ++n) {
      for (std::size_t plane = 0; plane < parts.planes; ++plane) {
        const auto* mask = batch.masks + (n * parts.planes + plane) * parts.plane_words;
        const float* given = batch.planes + (n * parts.planes + plane) * area;
        for (std::size_t p = 0; p < area; ++p) {
          float* to = point(scratch.input, channels, n, p / side, p % side) + plane;
          if (batch.planes) {
            *to = given[p];
          } else if (plane == parts.number_plane) {
            *to = batch.numbers[n];
          } else {
            *to = static_cast<float>(mask[p / 64] >> p % 64 & 1);
          }
        }
      }
    }
  }

  // The input of a tile, from its upper left corner.
  void tile_to_basis(const float* corner, std::size_t channels, float* out) const {
    const std::size_t row = scratch.width * channels, step = kTiles * channels;
    for (std::size_t c = 0; c < channels; c += kLanes) {
      Vector d[kSeen], half[kSeen][kSeen], whole[kSeen];
      for (std::size_t y = 0; y < kSeen; ++y) {
        KEDGE_UNROLL
        for (std::size_t x = 0; x < kSeen; ++x) d[x] = at(corner + y * row + x * channels + c);
        to_basis(d, 1, half[y]);
      }
      for (std::size_t x = 0; x < kSeen; ++x) {
        to_basis(&half[0][x], kSeen, whole);
        KEDGE_UNROLL
        for (std::size_t y = 0; y < kSeen; ++y) at(out + (y * kSeen + x) * step + c) = whole[y];
      }
    }
  }

  // The points of a tile that are on the board.
  void tile_from_basis(const float* in, const Layer& layer, Columns share, bool relu,
                       std::size_t rows, std::size_t columns, float* out) const {
    const std::size_t channels = padded(layer.outputs()), step = kTiles * channels;
    for (std::size_t c = share.first; c < share.end; c += kLanes) {
      Vector m[kSeen], half[kSeen][kTile], whole[kTile];
      for (std::size_t y = 0; y < kSeen; ++y) {
        KEDGE_UNROLL
        for (std::size_t x = 0; x < kSeen; ++x) m[x] = at(in + (y * kSeen + x) * step + c);
        from_basis(m, 1, half[y]);
      }
      const Vector bias = at(layer.bias() + c);
      for (std::size_t x = 0; x < columns; ++x) {
        from_basis(&half[0][x], kTile, whole);
        for (std::size_t y = 0; y < rows; ++y) {
          const Vector sum = whole[y] + bias;
          at(out + (y * scratch.width + x) * channels + c) = relu ? positive(sum) : sum;
        }
      }
    }
  }

  void convolve(const Layer& layer, std::vector<float>& in, std::vector<float>& out,
                bool relu) const {
    const Columns columns = share(layer.outputs());
    if (layer.wide()) {
      convolve_wide(layer, in, out, columns, relu);
    } else {
      const std::size_t from = padded(layer.inputs()), to = padded(layer.outputs());
      for (std::size_t n = 0; n < count; ++n) {
        for (std::size_t y = 0; y < parts.side; ++y) {
          float* row = point(out, to, n, y, 0);
          multiply(point(in, from, n, y, 0), from, parts.side, layer, 0, columns, row, to);
          add_bias(layer, columns, row, parts.side, relu);
        }
      }
    }
    team.barrier.wait();
  }

  void convolve_wide(const Layer& layer, std::vector<float>& in, std::vector<float>& out,
                     Columns columns, bool relu) const {
    const std::size_t from = padded(layer.inputs()), to = padded(layer.outputs());
    const std::size_t side = parts.side, tiles = scratch.tiles, all = count * tiles * tiles;
    float *seen = own().seen.data(), *product = own().product.data();
    for (std::size_t first = 0; first < all; first += kTiles) {
      const std::size_t some = std::min(kTiles, all - first);
      const auto each = [&](const auto& tell) {
        for (std::size_t i = 0; i < some; ++i) {
          const std::size_t tile = (first + i) % (tiles * tiles);
          tell(i, (first + i) / (tiles * tiles), tile / tiles * kTile, tile % tiles * kTile);
        }
      };
      each([&](std::size_t i, std::size_t n, std::size_t y, std::size_t x) {
        const float* corner = point(in, from, n, y, x) - (scratch.width + 1) * from;
        tile_to_basis(corner, from, seen + i * from);
      });
      for (std::size_t place = 0; place < kBasis; ++place) {
        multiply(seen + place * kTiles * from, from, some, layer, place, columns,
                 product + place * kTiles * to, to);
      }
      each([&](std::size_t i, std::size_t n, std::size_t y, std::size_t x) {
        tile_from_basis(product + i * to, layer, columns, relu, std::min(kTile, side - y),
                        std::min(kTile, side - x), point(out, to, n, y, x));
      });
    }
  }

  void add_bias(const Layer& layer, Columns columns, float* out, std::size_t rows,
                bool relu) const {
    const std::size_t stride = padded(layer.outputs());
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = columns.first; c < columns.end; c += kLanes) {
        Vector& sum = at(out + r * stride + c);
        sum += at(layer.bias() + c);
        if (relu) sum = positive(sum);
      }
    }
  }

  // A dense layer on rows of `stride` numbers.
  void dense(const Layer& layer, const float* in, std::size_t stride, std::size_t rows, bool relu,
             float* out) const {
    const std::size_t outputs = padded(layer.outputs());
    multiply(in, stride, rows, layer, 0, {0, outputs}, out, outputs);
    add_bias(layer, {0, outputs}, out, rows, relu);
  }

  // The mean of each plane.
  void pool(std::vector<float>& planes, std::size_t channels, std::size_t n, float* out) const {
    const float part = 1.0f / static_cast<float>(parts.side * parts.side);
    for (std::size_t c = 0; c < channels; c += kLanes) {
      Vector sum{};
      for (std::size_t y = 0; y < parts.side; ++y) {
        const float* row = point(planes, channels, n, y, 0);
        for (std::size_t x = 0; x < parts.side; ++x) sum += at(row + x * channels + c);
      }
      at(out + c) = sum * part;
    }
  }

  // x = positive(x + out), where `out` is scaled and shifted by squeeze-and-excitation.
  void join(const std::optional<Squeeze>& squeeze, std::size_t n) const {
    const std::size_t filters = parts.input.outputs(), channels = padded(filters);
    const Columns mine = share(channels);
    float *pooled = own().flat.data(), *scale = pooled + channels, *shift = scale + channels;
    if (squeeze) {
      const std::size_t few = padded(squeeze->first.outputs());
      float *squeezed = shift + channels, *both = squeezed + few;
      pool(scratch.out, channels, n, pooled);
      dense(squeeze->first, pooled, channels, 1, true, squeezed);
      dense(squeeze->second, squeezed, few, 1, false, both);
      for (std::size_t c = 0; c < filters; ++c) scale[c] = 1.0f / (1.0f + std::exp(-both[c]));
      std::fill(std::copy_n(both + filters, filters, shift), shift + channels, 0.0f);
      std::fill(scale + filters, scale + channels, 0.0f);
    }
    for (std::size_t y = 0; y < parts.side; ++y) {
      float* to = point(scratch.x, channels, n, y, 0);
      const float* from = point(scratch.out, channels, n, y, 0);
      for (std::size_t x = 0; x < parts.side; ++x) {
        for (std::size_t c = mine.first; c < mine.end; c += kLanes) {
          Vector& sum = at(to + x * channels + c);
          const Vector y = at(from + x * channels + c);
          sum += squeeze ? y * at(scale + c) + at(shift + c) : y;
          sum = positive(sum);
        }
      }
    }
  }

  // Gathers the channels of all points of a position into one row, for dense layers.
  void flatten(std::vector<float>& planes, std::size_t channels, float* out) const {
    for (std::size_t n = 0; n < count; ++n) {
      for (std::size_t y = 0; y < parts.side; ++y) {
        for (std::size_t x = 0; x < parts.side; ++x) {
          out = std::copy_n(point(planes, padded(channels), n, y, x), channels, out);
        }
      }
    }
  }

  void answer_policy(float* policy) const {
    const std::size_t side = parts.side, area = side * side;
    convolve(parts.policy_first, scratch.x, scratch.policy, true);
    if (parts.policy == PolicyKind::kClassical) {
      if (!leads()) return;
      const Layer& last = parts.policy_last;
      float *flat = own().flat.data(), *logits = flat + count * last.inputs();
      flatten(scratch.policy, parts.policy_first.outputs(), flat);
      dense(last, flat, last.inputs(), count, false, logits);
      for (std::size_t n = 0; n < count; ++n) {
        std::copy_n(logits + n * padded(last.outputs()), parts.moves, policy + n * parts.moves);
      }
      return;
    }
    convolve(parts.policy_last, scratch.policy, scratch.out, false);
    if (!leads()) return;
    const std::size_t channels = padded(parts.policy_last.outputs());
    for (std::size_t n = 0; n < count; ++n, policy += parts.moves) {
      const auto logit = [&](std::size_t p, std::size_t plane) {
        return point(scratch.out, channels, n, p / side, p % side)[plane];
      };
      if (parts.policy == PolicyKind::kConvolution) {
        for (std::size_t move = 0; move < parts.moves; ++move) {
          policy[move] = logit(parts.gather[move] % area, parts.gather[move] / area);
        }
      } else {
        double passing = 0.0;
        for (std::size_t p = 0; p < area; ++p) policy[p] = logit(p, 0), passing += logit(p, 1);
        policy[area] = static_cast<float>(passing / static_cast<double>(area));
      }
    }
  }

  void answer_value(float* value, float* wdl) const {
    const std::size_t planes = parts.value_planes.outputs();
    const std::size_t inputs = parts.value_first.inputs();
    const std::size_t hidden = padded(parts.value_first.outputs());
    convolve(parts.value_planes, scratch.x, scratch.out, true);
    if (!leads()) return;
    float* seen = own().flat.data();
    if (parts.pools_value) {
      for (std::size_t n = 0; n < count; ++n) {
        float* means = seen + count * inputs;
        pool(scratch.out, padded(planes), n, means);
        std::copy_n(means, planes, seen + n * inputs);
      }
    } else {
      flatten(scratch.out, planes, seen);
    }
    float *inner = seen + count * inputs, *last = inner + count * hidden;
    dense(parts.value_first, seen, inputs, count, true, inner);
    dense(parts.value_last, inner, hidden, count, false, last);
    for (std::size_t n = 0; n < count; ++n, last += padded(parts.value_last.outputs())) {
      if (!wdl) {
        value[n] = std::tanh(last[0]);
        continue;
      }
      const float most = std::max({last[0], last[1], last[2]});
      float total = 0.0f;
      for (int i = 0; i < 3; ++i) total += wdl[3 * n + i] = std::exp(last[i] - most);
      for (int i = 0; i < 3; ++i) wdl[3 * n + i] /= total;
      value[n] = wdl[3 * n] - wdl[3 * n + 2];
    }
  }
};

void forward(const Parts& parts, Scratch& scratch, const Team& team, const Batch& batch,
             const Answers& answers) {
  const Network net{parts, scratch, team, batch.count};
  if (net.leads()) net.lay_out(batch);
  team.barrier.wait();
  net.convolve(parts.input, scratch.input, scratch.x, true);
  for (const Block& block : parts.blocks) {
    net.convolve(block.first, scratch.x, scratch.hidden, true);
    net.convolve(block.second, scratch.hidden, scratch.out, false);
    for (std::size_t n = 0; n < batch.count; ++n) net.join(block.squeeze, n);
    team.barrier.wait();
  }
  net.answer_policy(answers.policy);
  team.barrier.wait();
  net.answer_value(answers.value, answers.wdl);
}

}  // namespace kedge::tower::KEDGE_ISA
