#pragma once

#include <utility>
#include <vector>

#include "diplomacy/position.hpp"

namespace kedge::diplomacy {

struct Batch {
  Batch() = default;
  explicit Batch(std::vector<Position> boards) : positions(std::move(boards)) {}

  std::vector<Position> positions;
};

}  // namespace kedge::diplomacy
