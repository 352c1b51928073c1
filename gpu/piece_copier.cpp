#include "gpu/piece_copier.hpp"

#include <algorithm>
#include <mutex>
#include <thread>

#include "base/failure.hpp"
#include "base/units.hpp"
#include "gpu/cuda_check.hpp"

namespace gsort::gpu {

PieceCopier::PieceCopier(int ordinal, ByteSpan memory, unsigned threads, Meter* meter)
    : ordinal_(ordinal), meter_(meter) {
  const std::size_t share = round_down(memory.size() / threads, kBufferAlignment);
  for (unsigned thread = 0; thread < threads; ++thread) {
    buffers_.push_back(memory.subspan(thread * share, share));
    arrived_.emplace_back();
  }
}

// The first piece of an array arrives when the work queued before it is done.
void PieceCopier::wait_for_piece(std::size_t thread, std::size_t bytes) const {
  Span span(meter_, Stage::kCopyOut);
  span.add_bytes(bytes);
  arrived_[thread].wait("sorting and copying keys from the device");
}

void PieceCopier::copy(const std::byte* device_keys, std::uint64_t bytes, std::uint64_t key_bytes,
                       std::uint64_t position, const Stream& stream, PieceSink& sink) {
  std::mutex mutex;
  std::uint64_t next = 0;
  Failure failure;
  const auto work = [&](std::size_t thread) {
    try {
      use_device(ordinal_);
      while (!failure.failed()) {
        std::uint64_t begin = 0;
        std::size_t size = 0;
        {
          // Taking a piece and queueing its copy is one step, so that pieces arrive in order.
          const std::scoped_lock lock(mutex);
          if (next == bytes) return;
          begin = next;
          size = std::min(round_down(buffers_[thread].size(), key_bytes), bytes - begin);
          check_cuda(cudaMemcpyAsync(buffers_[thread].data(), device_keys + begin, size,
                                     cudaMemcpyDeviceToHost, stream.get()),
                     CudaCall::kCopy, "copying sorted keys from the device");
          arrived_[thread].record(stream);
          next = begin + size;
        }
        wait_for_piece(thread, size);
        sink.put(position + begin / key_bytes, buffers_[thread].first(size));
      }
    } catch (...) {
      failure.capture();
      sink.abandon();
    }
  };
  {
    const std::size_t threads =
        std::clamp<std::uint64_t>(div_up(bytes, buffers_[0].size()), 1, buffers_.size());
    std::vector<std::jthread> others;
    for (std::size_t thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
    work(0);
  }
  failure.rethrow();
}

}  // namespace gsort::gpu
