// Helpers of the examples, one for each function that sorts or merges in device memory
// (../DEVICE.md): arrays that host and device see, scratch memory, and a comparison with the
// expected result.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include <cuda_runtime_api.h>
#include <gsort/device_segments.hpp>
#include <gsort/device_shares.hpp>
#include <gsort/error_of.hpp>

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "failed: %s\n", what);
  std::exit(1);
}

// Memory that the host and the device see.
template <class T>
T* array_of(std::initializer_list<T> values) {
  void* memory = nullptr;
  const std::size_t bytes = values.size() * sizeof(T);
  require(cudaMallocManaged(&memory, bytes, cudaMemAttachGlobal) == cudaSuccess,
          "cudaMallocManaged");
  std::copy(values.begin(), values.end(), static_cast<T*>(memory));
  return static_cast<T*>(memory);
}

inline gsort::DeviceScratch scratch_of(std::size_t bytes) {
  gsort::DeviceScratch scratch{nullptr, bytes};
  require(cudaMalloc(&scratch.memory, bytes) == cudaSuccess, "cudaMalloc");
  return scratch;
}

// Waits for the device and compares.
template <class T>
void expect(const T* array, std::initializer_list<T> expected) {
  require(cudaDeviceSynchronize() == cudaSuccess, "cudaDeviceSynchronize");
  require(std::equal(expected.begin(), expected.end(), array), "the result");
}
