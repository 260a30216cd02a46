// One binary for all machines: at start-up the loader picks the clone with the widest vectors.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && defined(__GNUC__) && \
    !defined(__clang__)
#define KEDGE_CLONES \
  __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
// For loops bound by loads: wider vectors would only lengthen their tails.
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
