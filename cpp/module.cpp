// kedge._core: what Python sees of the native core. Calls that compute for long release the GIL.
#include "bindings.hpp"

NB_MODULE(_core, m) {
  m.doc() = "The native core of kedge.";
  // What modules still hold when the interpreter ends is no news to whoever played.
  nanobind::set_leak_warnings(false);
  kedge::bind_chess(m);
  kedge::bind_chess_records(m);
  kedge::bind_diplomacy(m);
  kedge::bind_diplomacy_encoding(m);
  kedge::bind_go(m);
  kedge::bind_hanabi(m);
  kedge::bind_hanabi_conventions(m);
  kedge::bind_puct(m);
  kedge::bind_regret(m);
  kedge::bind_tower(m);
}
