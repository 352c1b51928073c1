// See cub.hpp: CUB's radix sort, and which version this is. GSORT_CUB is the tag of the version
// whose headers are found.
#include <cub/device/device_radix_sort.cuh>
#include <cub/version.cuh>

#include "bench/cub.hpp"
#include "gpu/cuda/cuda_check.hpp"

namespace gsort::bench {

template <class Cub>
std::string cub_version() {
  return std::to_string(CUB_MAJOR_VERSION) + "." + std::to_string(CUB_MINOR_VERSION) + "." +
         std::to_string(CUB_SUBMINOR_VERSION);
}

template <class Cub, class Count, class Key>
void cub_radix_sort(const Key* in, Key* out, std::uint64_t count, CubScratch scratch) {
  gpu::check_cuda(cub::DeviceRadixSort::SortKeys(scratch.memory, scratch.bytes, in, out,
                                                 static_cast<Count>(count)),
                  gpu::CudaCall::kLaunch, "cub::DeviceRadixSort");
}

#define GSORT_SORT(Count, Key) \
  template void cub_radix_sort<GSORT_CUB, Count>(const Key*, Key*, std::uint64_t, CubScratch)
GSORT_SORT(std::uint32_t, std::uint32_t);
GSORT_SORT(std::uint64_t, std::uint32_t);
GSORT_SORT(std::uint32_t, std::uint64_t);
GSORT_SORT(std::uint64_t, std::uint64_t);
#undef GSORT_SORT
template std::string cub_version<GSORT_CUB>();

}  // namespace gsort::bench
