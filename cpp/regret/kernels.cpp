#include "regret/kernels.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "vectors.hpp"

namespace kedge::kernel {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// exp(x) for x <= 0 within about one unit in the last place. libm's cannot be vectorised without
// -ffast-math. Below -708 the result would be subnormal and is 0.
KEDGE_INLINE double exp_negative(double x) {
  constexpr double kLowest = -708.0;
  constexpr double kRounder = 0x1.8p52;  // adding it rounds to an integer, kept in the low bits
  const double y = x < kLowest ? kLowest : x;
  const double rounded = y * 1.4426950408889634 + kRounder;
  const double k = rounded - kRounder;
  const double r = (y - k * 0x1.62e42fefa38p-1) - k * 0x1.ef35793c7673p-45;
  double p = 1.6059043836821613e-10;  // 1/13!, then Taylor's series down to 1: |r| <= ln(2)/2
  p = p * r + 2.08767569878681e-09;
  p = p * r + 2.505210838544172e-08;
  p = p * r + 2.755731922398589e-07;
  p = p * r + 2.7557319223985893e-06;
  p = p * r + 2.48015873015873e-05;
  p = p * r + 0.0001984126984126984;
  p = p * r + 0.001388888888888889;
  p = p * r + 0.008333333333333333;
  p = p * r + 0.041666666666666664;
  p = p * r + 0.16666666666666666;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const std::int64_t exponent =
      std::bit_cast<std::int64_t>(rounded) - std::bit_cast<std::int64_t>(kRounder) + 1023;
  const double scale = std::bit_cast<double>(exponent << 52);
  return x < kLowest ? 0.0 : p * scale;
}

// Eight rows at a time share the loads of the weights, or the loads and stores of the sums.
template <typename Real>
KEDGE_INLINE void dot_rows_inline(const Real* matrix, std::size_t rows, std::size_t columns,
                                  const double* weights, double* out) {
  std::size_t r = 0;
  for (; r + 8 <= rows; r += 8) {
    const Real* m0 = matrix + r * columns;
    const Real *m1 = m0 + columns, *m2 = m1 + columns, *m3 = m2 + columns, *m4 = m3 + columns;
    const Real *m5 = m4 + columns, *m6 = m5 + columns, *m7 = m6 + columns;
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0, s4 = 0.0, s5 = 0.0, s6 = 0.0, s7 = 0.0;
#pragma omp simd reduction(+ : s0, s1, s2, s3, s4, s5, s6, s7)
    for (std::size_t c = 0; c < columns; ++c) {
      const double w = weights[c];
      s0 += w * m0[c];
      s1 += w * m1[c];
      s2 += w * m2[c];
      s3 += w * m3[c];
      s4 += w * m4[c];
      s5 += w * m5[c];
      s6 += w * m6[c];
      s7 += w * m7[c];
    }
    const double sums[8] = {s0, s1, s2, s3, s4, s5, s6, s7};
    for (std::size_t k = 0; k < 8; ++k) out[r + k] = sums[k];
  }
  for (; r < rows; ++r) {
    const Real* m = matrix + r * columns;
    double s = 0.0;
#pragma omp simd reduction(+ : s)
    for (std::size_t c = 0; c < columns; ++c) s += weights[c] * m[c];
    out[r] = s;
  }
}

template <typename Real>
KEDGE_INLINE void add_rows_inline(const Real* matrix, std::size_t rows, std::size_t columns,
                                  const double* weights, double* out) {
  std::size_t r = 0;
  for (; r + 8 <= rows; r += 8) {
    const Real* m0 = matrix + r * columns;
    const Real *m1 = m0 + columns, *m2 = m1 + columns, *m3 = m2 + columns, *m4 = m3 + columns;
    const Real *m5 = m4 + columns, *m6 = m5 + columns, *m7 = m6 + columns;
    const double* w = weights + r;
    const double w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3];
    const double w4 = w[4], w5 = w[5], w6 = w[6], w7 = w[7];
#pragma omp simd
    for (std::size_t c = 0; c < columns; ++c) {
      out[c] += ((w0 * m0[c] + w1 * m1[c]) + (w2 * m2[c] + w3 * m3[c])) +
                ((w4 * m4[c] + w5 * m5[c]) + (w6 * m6[c] + w7 * m7[c]));
    }
  }
  for (; r < rows; ++r) {
    const Real* m = matrix + r * columns;
    const double w = weights[r];
#pragma omp simd
    for (std::size_t c = 0; c < columns; ++c) out[c] += w * m[c];
  }
}

}  // namespace

KEDGE_PRODUCT_CLONES void dot_rows(const double* matrix, std::size_t rows, std::size_t columns,
                           const double* weights, double* out) {
  dot_rows_inline(matrix, rows, columns, weights, out);
}

KEDGE_PRODUCT_CLONES void dot_rows(const float* matrix, std::size_t rows, std::size_t columns,
                           const double* weights, double* out) {
  dot_rows_inline(matrix, rows, columns, weights, out);
}

KEDGE_PRODUCT_CLONES void add_rows(const double* matrix, std::size_t rows, std::size_t columns,
                           const double* weights, double* out) {
  add_rows_inline(matrix, rows, columns, weights, out);
}

KEDGE_PRODUCT_CLONES void add_rows(const float* matrix, std::size_t rows, std::size_t columns,
                           const double* weights, double* out) {
  add_rows_inline(matrix, rows, columns, weights, out);
}

KEDGE_CLONES double softmax(std::size_t blocks, double value_weight, const double* values,
                            double anchor_weight, const double* log_tau, const double* outside,
                            double* policy) {
  double highest = kMinusInfinity;
#pragma omp simd reduction(max : highest)
  for (std::size_t a = 0; a < blocks * kBlock; ++a) {
    const double logit = value_weight * values[a] + anchor_weight * log_tau[a] + outside[a];
    policy[a] = logit;
    highest = logit > highest ? logit : highest;
  }
  double sum = 0.0, moment = 0.0;
#pragma omp simd reduction(+ : sum, moment)
  for (std::size_t a = 0; a < blocks * kBlock; ++a) {
    const double weight = exp_negative(policy[a] - highest);
    policy[a] = weight;
    sum += weight;
    // logit - log τ, written so that it stays finite off the support, where the weight is 0.
    moment += weight * (value_weight * values[a] + (anchor_weight - 1.0) * log_tau[a]);
  }
  const double scale = 1.0 / sum;
#pragma omp simd
  for (std::size_t a = 0; a < blocks * kBlock; ++a) policy[a] *= scale;
  return moment * scale - highest - std::log(sum);
}

KEDGE_CLONES double mirror_step(std::size_t blocks, double eta, const double* utilities,
                                double pull, const double* log_tau, double* log_policy,
                                double* policy) {
  const double shrink = 1.0 / (1.0 + pull);
  double highest = kMinusInfinity;
#pragma omp simd reduction(max : highest)
  for (std::size_t a = 0; a < blocks * kBlock; ++a) {
    const double logit = (log_policy[a] + pull * log_tau[a] + eta * utilities[a]) * shrink;
    log_policy[a] = logit;
    highest = logit > highest ? logit : highest;
  }
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t a = 0; a < blocks * kBlock; ++a) {
    const double weight = exp_negative(log_policy[a] - highest);
    policy[a] = weight;
    sum += weight;
  }
  const double log_sum = highest + std::log(sum);
  const double scale = 1.0 / sum;
  double divergence = 0.0;
#pragma omp simd reduction(+ : divergence)
  for (std::size_t a = 0; a < blocks * kBlock; ++a) {
    policy[a] *= scale;
    log_policy[a] -= log_sum;
    divergence += policy[a] > 0.0 ? policy[a] * (log_policy[a] - log_tau[a]) : 0.0;
  }
  return divergence;
}

KEDGE_CLONES double dot(std::size_t blocks, const double* policy, const double* utilities) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t a = 0; a < blocks * kBlock; ++a) sum += policy[a] * utilities[a];
  return sum;
}

KEDGE_CLONES void discount_add(std::size_t blocks, double discount, const double* added,
                               double* total) {
#pragma omp simd
  for (std::size_t a = 0; a < blocks * kBlock; ++a) total[a] = total[a] * discount + added[a];
}

KEDGE_CLONES void add_scaled(std::size_t blocks, double weight, const double* added,
                             double* total) {
#pragma omp simd
  for (std::size_t a = 0; a < blocks * kBlock; ++a) total[a] += weight * added[a];
}

}  // namespace kedge::kernel
