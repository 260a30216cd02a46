#pragma once

#include <vector>

#include "diplomacy/position.hpp"

namespace kedge::diplomacy {

struct Batch {
  std::vector<Position> positions;
};

}  // namespace kedge::diplomacy
