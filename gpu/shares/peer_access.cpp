#include "gpu/shares/peer_access.hpp"

#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/cuda_resources.hpp"

namespace gsort::gpu {
namespace {

bool can_reach(int ordinal, int peer) {
  int can = 0;
  check_cuda(cudaDeviceCanAccessPeer(&can, ordinal, peer), CudaCall::kQuery,
             "asking for peer access");
  return can != 0;
}

}  // namespace

void allow_peer_access(std::span<const int> ordinals) {
  for (const int ordinal : ordinals) {
    use_device(ordinal);
    for (const int peer : ordinals) {
      if (peer == ordinal || !can_reach(ordinal, peer)) continue;
      // A refusal, or access that was enabled before, is no error: copies work without it.
      const cudaError_t result = cudaDeviceEnablePeerAccess(peer, 0);
      if (result != cudaSuccess) static_cast<void>(cudaGetLastError());
    }
  }
}

}  // namespace gsort::gpu
