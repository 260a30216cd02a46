// kedge._core: the native core as Python sees it. Calls that compute for long release the GIL.
#include <nanobind/nanobind.h>

// Everything that is bound, in this order. Each name is a function kedge::bind_… in a *bindings.cpp
// of the folder it starts with. A new game adds its own lines here and changes no other file.
#define KEDGE_PARTS(PART)   \
  PART(chess)               \
  PART(chess_forest)        \
  PART(chess_records)       \
  PART(diplomacy)           \
  PART(diplomacy_encoding)  \
  PART(go)                  \
  PART(go_forest)           \
  PART(hanabi)              \
  PART(hanabi_conventions)  \
  PART(regret)              \
  PART(tower)

namespace kedge {
#define KEDGE_DECLARE(part) void bind_##part(nanobind::module_& m);
KEDGE_PARTS(KEDGE_DECLARE)
}  // namespace kedge

NB_MODULE(_core, m) {
  m.doc() = "The native core of kedge.";
  // Users do not need leak warnings at exit.
  nanobind::set_leak_warnings(false);
#define KEDGE_BIND(part) kedge::bind_##part(m);
  KEDGE_PARTS(KEDGE_BIND)
}
