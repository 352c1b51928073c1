// Marks functions that the host and the device both compile. Outside nvcc the mark is empty, so the
// algorithms that kernels use (co_rank, key maps) are ordinary C++ and are tested as such.
#pragma once

#ifdef __CUDACC__
#define GSORT_HOST_DEVICE __host__ __device__
#define GSORT_ALWAYS_INLINE __forceinline__
#else
#define GSORT_HOST_DEVICE
// Also inlined into functions that are compiled for another instruction set.
#define GSORT_ALWAYS_INLINE inline __attribute__((always_inline))
#endif
