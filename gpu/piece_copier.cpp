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

// Calls find(piece) for the place of each piece on the device, which fits a buffer, and put(piece,
// bytes) when it has arrived.
template <class Find, class Put>
void PieceCopier::copy_pieces(std::uint64_t pieces, const Stream& stream, PieceSink& sink,
                              const Find& find, const Put& put) {
  std::mutex mutex;
  std::uint64_t next = 0;
  Failure failure;
  const auto work = [&](std::size_t thread) {
    try {
      use_device(ordinal_);
      while (!failure.failed()) {
        std::uint64_t piece = 0;
        ByteSpan buffer;
        {
          // Taking a piece and queueing its copy is one step, so that pieces arrive in order.
          const std::scoped_lock lock(mutex);
          if (next == pieces) return;
          piece = next++;
          const ConstByteSpan place = find(piece);
          buffer = buffers_[thread].first(place.size());
          check_cuda(cudaMemcpyAsync(buffer.data(), place.data(), place.size(),
                                     cudaMemcpyDeviceToHost, stream.get()),
                     CudaCall::kCopy, "copying sorted keys from the device");
          arrived_[thread].record(stream);
        }
        wait_for_piece(thread, buffer.size());
        put(piece, buffer);
      }
    } catch (...) {
      failure.capture();
      sink.abandon();
    }
  };
  {
    const std::size_t threads = std::clamp<std::uint64_t>(pieces, 1, buffers_.size());
    std::vector<std::jthread> others;
    for (std::size_t thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
    work(0);
  }
  failure.rethrow();
}

void PieceCopier::copy(const SortedElements& sorted, std::uint64_t element_bytes,
                       std::uint64_t position, const Stream& stream, PieceSink& sink) {
  BlockSink* const blocks = sink.block_sink();
  std::optional<PackedElements> packed;
  if (blocks != nullptr) {
    try {
      use_device(ordinal_);
      const Span span(meter_, Stage::kCopyOut);
      packed = pack_elements(sorted, element_bytes, *blocks, buffers_[0].size(), stream);
    } catch (...) {
      sink.abandon();
      throw;
    }
  }
  if (packed) {
    copy_blocks(*packed, position, stream, sink);
  } else {
    copy_elements(sorted, element_bytes, position, stream, sink);
  }
}

void PieceCopier::copy_elements(const SortedElements& sorted, std::uint64_t element_bytes,
                                std::uint64_t position, const Stream& stream, PieceSink& sink) {
  const std::uint64_t bytes = sorted.count * element_bytes;
  const std::uint64_t piece_bytes = round_down(buffers_[0].size(), element_bytes);
  copy_pieces(
      div_up(bytes, piece_bytes), stream, sink,
      [&](std::uint64_t piece) {
        const std::uint64_t begin = piece * piece_bytes;
        return ConstByteSpan(sorted.elements + begin, std::min(piece_bytes, bytes - begin));
      },
      [&](std::uint64_t piece, ConstByteSpan elements) {
        sink.put(position + piece * piece_bytes / element_bytes, elements);
      });
}

void PieceCopier::copy_blocks(const PackedElements& packed, std::uint64_t position,
                              const Stream& stream, PieceSink& sink) {
  BlockSink& blocks = *sink.block_sink();
  const std::uint64_t group_elements = packed.shape.group_blocks * packed.shape.block_elements;
  copy_pieces(
      packed.shape.groups(), stream, sink,
      [&](std::uint64_t group) { return packed.place_of(group); },
      [&](std::uint64_t group, ConstByteSpan payloads) {
        const std::uint64_t begin = group * group_elements;
        blocks.put_blocks(position + begin, {std::min(group_elements, packed.shape.count - begin),
                                             packed.sizes_of(group), payloads});
      });
}

}  // namespace gsort::gpu
