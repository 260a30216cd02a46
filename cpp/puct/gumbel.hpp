// A root that divides its playouts by sequential halving, beyond the paper: Danihelka et al. 2022,
// "Policy improvement by planning with Gumbel". Below the root the search is PUCT.
//
// The specification is kedge/search/puct/plain.py.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kedge::puct {

struct Gumbel {
  std::uint32_t considered = 0;  // number of root actions; 0: off
  std::uint32_t playouts = 0;    // to divide: all but the root's own evaluation
  double c_visit = 50.0, c_scale = 1.0;
  std::vector<double> noise;  // for each legal action, in ascending order; empty: all 0

  // How often the next action to try has been tried, after `spent` playouts. At first all m actions
  // are tried equally often, then the better half of them, and so on down to two.
  std::uint32_t visits_of_next(std::uint32_t m, std::uint32_t spent) const {
    if (m <= 1) return spent;
    const std::uint32_t halvings = static_cast<std::uint32_t>(std::bit_width(m - 1));  // ⌈log₂ m⌉
    std::uint32_t visits = 0;
    for (;; m = std::max(2u, m / 2)) {
      const std::uint32_t rounds = std::max(1u, playouts / (halvings * m));
      if (spent / m < rounds) return visits + spent / m;
      spent -= rounds * m;
      visits += rounds;
    }
  }

  // argmax of g + log τ + σ(q), σ(q) = (c_visit + max N)·c_scale·(q + 1)/2, over the actions tried
  // visits_of_next() times. Edges are in the order of their actions.
  template <class Edge>
  std::size_t select(const Edge* edges, std::size_t count, double network_value) const {
    double tried_prior = 0.0, weighted = 0.0;
    std::uint32_t total = 0, most = 0, possible = 0;
    for (std::size_t a = 0; a < count; ++a) {
      possible += edges[a].prior > 0.0;
      if (edges[a].visits == 0) continue;
      tried_prior += edges[a].prior;
      weighted += edges[a].prior * (edges[a].total / edges[a].visits);
      total += edges[a].visits;
      most = std::max(most, edges[a].visits);
    }
    // v_mix of their appendix D, for actions never tried.
    const double untried =
        total > 0 ? (network_value + total * (weighted / tried_prior)) / (total + 1.0)
                  : network_value;
    const double scale = (c_visit + most) * c_scale;
    const std::uint32_t turn = visits_of_next(std::min(considered, possible), total);
    std::size_t best = count;
    double best_score = 0.0;
    for (std::size_t a = 0; a < count; ++a) {
      const Edge& edge = edges[a];
      // After cancelled leaves no action may have exactly `turn` visits: take those with the most
      // visits below it.
      if (edge.prior <= 0.0 || edge.visits > turn) continue;
      const double q = edge.visits > 0 ? edge.total / edge.visits : untried;
      const double score =
          (noise.empty() ? 0.0 : noise[a]) + std::log(edge.prior) + scale * ((q + 1.0) / 2.0);
      if (best == count || edge.visits > edges[best].visits ||
          (edge.visits == edges[best].visits &&
           (score > best_score || (score == best_score && edge.prior > edges[best].prior)))) {
        best = a;
        best_score = score;
      }
    }
    return best;
  }
};

}  // namespace kedge::puct
