// kedge._core: what Python sees of the native core. Every call that computes releases the GIL.
#include "bindings.hpp"

NB_MODULE(_core, m) {
  m.doc() = "The native core of kedge.";
  kedge::bind_chess(m);
  kedge::bind_regret(m);
}
