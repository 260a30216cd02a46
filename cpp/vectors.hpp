// One binary, the widest vectors of the machine it runs on: the loader picks a clone at start-up.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && defined(__GNUC__) && \
    !defined(__clang__)
#define KEDGE_CLONES \
  __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
// For what is bound by loads, for which wider vectors only lengthen the tails.
#define KEDGE_PRODUCT_CLONES __attribute__((target_clones("default", "arch=x86-64-v3")))
#else
#define KEDGE_CLONES
#define KEDGE_PRODUCT_CLONES
#endif
#if defined(__GNUC__)
#define KEDGE_INLINE inline __attribute__((always_inline))
#else
#define KEDGE_INLINE inline
#endif
