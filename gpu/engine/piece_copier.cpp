#include "gpu/engine/piece_copier.hpp"

#include <algorithm>
#include <mutex>

#include "base/failure.hpp"
#include "base/parallel.hpp"
#include "base/units.hpp"
#include "gpu/cuda/cuda_check.hpp"

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
void PieceCopier::wait_for_piece(std::size_t thread, const Piece& piece) const {
  Span span(meter_, Stage::kCopyOut);
  span.add_bytes(piece.element_bytes, piece.place.size());
  arrived_[thread].wait("sorting and copying keys from the device");
}

// Calls find(number) for each piece, which fits a buffer, and put(number, bytes) when it has
// arrived.
template <class Find, class Put>
void PieceCopier::copy_pieces(std::uint64_t pieces, const Stream& stream, PieceSink& sink,
                              const Find& find, const Put& put) {
  std::mutex mutex;
  std::uint64_t next = 0;
  Failure failure;
  const auto work = [&, device = DeviceScope::device()](std::size_t thread) {
    const DeviceScope scope(device);
    const PuttingThread putting(sink);
    try {
      use_device(ordinal_);
      while (!failure.failed()) {
        std::uint64_t number = 0;
        Piece piece;
        ByteSpan buffer;
        {
          // Taking a piece and queueing its copy is one step, so that pieces arrive in order.
          const std::scoped_lock lock(mutex);
          if (next == pieces) return;
          number = next++;
          piece = find(number);
          buffer = buffers_[thread].first(piece.place.size());
          check_cuda(cudaMemcpyAsync(buffer.data(), piece.place.data(), buffer.size(),
                                     cudaMemcpyDeviceToHost, stream.get()),
                     CudaCall::kCopy, "copying sorted keys from the device");
          arrived_[thread].record(stream);
        }
        wait_for_piece(thread, piece);
        put(number, buffer);
      }
    } catch (...) {
      failure.capture();
      sink.abandon();
    }
  };
  try {
    run_workers(static_cast<unsigned>(std::clamp<std::uint64_t>(pieces, 1, buffers_.size())), work);
  } catch (...) {  // no memory to begin with
    failure.capture();
    sink.abandon();
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
        const std::uint64_t size = std::min(piece_bytes, bytes - begin);
        return Piece{{sorted.elements + begin, size}, size};
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
      [&](std::uint64_t group) {
        return Piece{packed.place_of(group), packed.keys_of(group) * packed.shape.key_bytes};
      },
      [&](std::uint64_t group, ConstByteSpan payloads) {
        blocks.put_blocks(position + group * group_elements,
                          {packed.keys_of(group), packed.sizes_of(group), payloads});
      });
}

}  // namespace gsort::gpu
