// See gpu_contenders.hpp: device memory, timing, inputs made on the card, and the check of outputs.
#include <algorithm>

#include "bench/gpu_contenders.hpp"
#include "gpu/cuda/cuda_check.hpp"

namespace gsort::bench {

using gpu::check_cuda;
using gpu::check_launch;
using gpu::CudaCall;

DeviceMemory::DeviceMemory(std::size_t bytes) {
  check_cuda(cudaMalloc(&memory_, std::max<std::size_t>(bytes, 256)), CudaCall::kMemory,
             "allocating for a benchmark");
}
DeviceMemory::~DeviceMemory() {
  cudaFree(memory_);
}

float median_ms(int repeats, const std::function<void()>& queue_work) {
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  check_cuda(cudaEventCreate(&begin), CudaCall::kEvent, "making an event");
  check_cuda(cudaEventCreate(&end), CudaCall::kEvent, "making an event");
  queue_work();
  std::vector<float> times;
  for (int i = 0; i < repeats; ++i) {
    check_cuda(cudaEventRecord(begin), CudaCall::kEvent, "recording an event");
    queue_work();
    check_cuda(cudaEventRecord(end), CudaCall::kEvent, "recording an event");
    check_cuda(cudaEventSynchronize(end), CudaCall::kEvent, "waiting for a benchmark");
    float ms = 0;
    check_cuda(cudaEventElapsedTime(&ms, begin, end), CudaCall::kEvent, "reading an event");
    times.push_back(ms);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
  return times[static_cast<std::size_t>(repeats / 2)];
}

const char* name_of(KeyShape shape) {
  constexpr const char* kNames[] = {"uniform",      "sorted",          "reversed",    "equal",
                                    "few distinct", "sawtooth",        "organ pipe",  "maximum",
                                    "zipf",         "interleaved",     "normal",      "exponential",
                                    "both signs",   "clustered times", "random width"};
  return kNames[static_cast<int>(shape)];
}

namespace {

// SplitMix64: position to random bits.
__device__ std::uint64_t random_bits(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// The float or double as a key in its order.
template <class Key>
__device__ Key ordered_float(double number) {
  Key bits;
  if constexpr (sizeof(Key) == 4) {
    bits = __float_as_uint(static_cast<float>(number));
  } else {
    bits = static_cast<Key>(__double_as_longlong(number));
  }
  constexpr Key kSign = Key{1} << (8 * sizeof(Key) - 1);
  return (bits & kSign) != 0 ? static_cast<Key>(~bits) : bits | kSign;
}

// In (0, 1].
__device__ double uniform_double(std::uint64_t random) {
  return static_cast<double>((random >> 11) + 1) * 0x1p-53;
}

// Bursts of a second around a few hundred moments of ten years; one in a thousand lies anywhere. In
// seconds of 32 bits, bursts of ten minutes.
template <class Key>
__device__ Key clustered_time(std::uint64_t random, std::uint64_t more) {
  if (more % 1000 == 0) return static_cast<Key>(random);
  const std::uint64_t moment = random_bits(more / 1000 % 300) % 315'360'000;
  if constexpr (sizeof(Key) == 4) {
    return static_cast<Key>(1'400'000'000 + moment + random % 600);
  } else {
    return (1'400'000'000 + moment) * 1'000'000'000 + random % 1'000'000'000;
  }
}

template <class Key>
__device__ Key make_key(KeyShape shape, std::uint64_t random, std::uint64_t i,
                        std::uint64_t count) {
  switch (shape) {
    case KeyShape::kUniform:
      return static_cast<Key>(random);
    case KeyShape::kSorted:
      return static_cast<Key>(i);
    case KeyShape::kReversed:
      return static_cast<Key>(count - i);
    case KeyShape::kEqual:
      return 42;
    case KeyShape::kFewDistinct:
      return static_cast<Key>(random % 16);
    case KeyShape::kSawtooth:
      return static_cast<Key>(i % 100000);
    case KeyShape::kOrganPipe:
      return static_cast<Key>(i < count - i ? i : count - i);
    case KeyShape::kMaximum:
      return static_cast<Key>(~Key{0});
    case KeyShape::kZipf:
      return static_cast<Key>(powf(((random >> 40) + 1) * 0x1p-24F, -1.25F));
    case KeyShape::kNormal:
      return ordered_float<Key>(sqrt(-2 * log(uniform_double(random))) *
                                cospi(2 * uniform_double(random_bits(random))));
    case KeyShape::kExponential:
      return ordered_float<Key>(-log(uniform_double(random)));
    case KeyShape::kBothSigns:
      return ordered_float<Key>(2 * uniform_double(random) - 1);
    case KeyShape::kClusteredTimes:
      return clustered_time<Key>(random, random_bits(random));
    case KeyShape::kRandomWidth:
      return static_cast<Key>(random) >> random_bits(random) % (8 * sizeof(Key));
    default:
      return static_cast<Key>(__brevll(i) >> __clzll(count - 1));
  }
}

template <class Key>
__global__ void make_keys_kernel(KeyShape shape, std::uint64_t seed, Key* keys,
                                 std::uint64_t count) {
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += std::uint64_t{gridDim.x} * blockDim.x) {
    keys[i] = make_key<Key>(shape, random_bits(seed * 0x123456789ULL + i), i, count);
  }
}

template <class Key>
__global__ void check_kernel(const Key* keys, std::uint64_t count, KeyCheck* check) {
  unsigned long long descents = 0;
  unsigned long long sum = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += std::uint64_t{gridDim.x} * blockDim.x) {
    if (i > 0 && keys[i] < keys[i - 1]) ++descents;
    sum += random_bits(keys[i]);
  }
  atomicAdd(reinterpret_cast<unsigned long long*>(&check->descents), descents);
  atomicAdd(reinterpret_cast<unsigned long long*>(&check->fingerprint), sum);
}

}  // namespace

template <class Key>
void make_keys(KeyShape shape, std::uint64_t seed, Key* keys, std::uint64_t count) {
  make_keys_kernel<<<2048, 256>>>(shape, seed, keys, count);
  check_launch("launching make_keys_kernel");
}

template <class Key>
KeyCheck check_keys(const Key* keys, std::uint64_t count) {
  const DeviceMemory memory(sizeof(KeyCheck));
  check_cuda(cudaMemset(memory.as<void>(), 0, sizeof(KeyCheck)), CudaCall::kMemory, "clearing");
  check_kernel<<<2048, 256>>>(keys, count, memory.as<KeyCheck>());
  check_launch("launching check_kernel");
  KeyCheck check;
  check_cuda(cudaMemcpy(&check, memory.as<void>(), sizeof(check), cudaMemcpyDeviceToHost),
             CudaCall::kCopy, "checking an output");
  return check;
}

template void make_keys<std::uint32_t>(KeyShape, std::uint64_t, std::uint32_t*, std::uint64_t);
template void make_keys<std::uint64_t>(KeyShape, std::uint64_t, std::uint64_t*, std::uint64_t);
template KeyCheck check_keys<std::uint32_t>(const std::uint32_t*, std::uint64_t);
template KeyCheck check_keys<std::uint64_t>(const std::uint64_t*, std::uint64_t);

}  // namespace gsort::bench
