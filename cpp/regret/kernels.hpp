// The inner loops of the regret minimisers: a few dense passes over one player's actions.
//
// Arrays over a player's actions are padded to whole blocks of kBlock doubles, so that no loop has
// a tail. In the padding `outside` is -inf and everything else 0.
#pragma once

#include <cstddef>

namespace kedge::kernel {

constexpr std::size_t kBlock = 8;
constexpr std::size_t blocks_for(std::size_t actions) { return (actions + kBlock - 1) / kBlock; }

// out[r] = sum over c of matrix[r, c] * weights[c].
void dot_rows(const double* matrix, std::size_t rows, std::size_t columns, const double* weights,
              double* out);
void dot_rows(const float* matrix, std::size_t rows, std::size_t columns, const double* weights,
              double* out);

// out[c] += sum over r of weights[r] * matrix[r, c].
void add_rows(const double* matrix, std::size_t rows, std::size_t columns, const double* weights,
              double* out);
void add_rows(const float* matrix, std::size_t rows, std::size_t columns, const double* weights,
              double* out);

// policy ∝ exp(value_weight * values + anchor_weight * log_tau) over the actions whose `outside` is
// 0 (it is -inf for actions off τ's support, where log_tau is stored as 0).
// Returns KL(policy || τ), which means nothing where τ was not in play.
double softmax(std::size_t blocks, double value_weight, const double* values,
               double anchor_weight, const double* log_tau, const double* outside, double* policy);

// One step of magnetic mirror descent: log_policy moves, policy = exp(log_policy).
// Returns KL(policy || τ).
double mirror_step(std::size_t blocks, double eta, const double* utilities, double pull,
                   const double* log_tau, double* log_policy, double* policy);

// policy . utilities.
double dot(std::size_t blocks, const double* policy, const double* utilities);

// total = total * discount + added.
void discount_add(std::size_t blocks, double discount, const double* added, double* total);

// total += weight * added.
void add_scaled(std::size_t blocks, double weight, const double* added, double* total);

}  // namespace kedge::kernel
