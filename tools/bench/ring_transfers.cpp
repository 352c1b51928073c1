#include "bench/ring_transfers.hpp"

#include <algorithm>
#include <vector>

#include <liburing.h>
#include <sys/uio.h>

#include "base/error.hpp"

namespace gsort::bench {
namespace {

Error ring_error(const char* operation, int result) {
  return Error::from_errno(ErrorKind::kTemporary, operation, -result)
      .hint("the rows of threads need no io_uring");
}

class Ring {
 public:
  explicit Ring(unsigned entries) {
    const int result = io_uring_queue_init(entries, &ring_, 0);
    if (result < 0) throw ring_error("setting up io_uring", result);
  }
  ~Ring() { io_uring_queue_exit(&ring_); }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  [[nodiscard]] io_uring* get() { return &ring_; }

 private:
  io_uring ring_{};
};

}  // namespace

std::string why_no_ring() {
  try {
    const Ring ring(1);
    return "";
  } catch (const Error& refused) {
    return refused.what();
  }
}

void move_through_ring(const io::File& file, std::uint64_t file_bytes, std::uint64_t block_bytes,
                       io::ByteSpan buffers, RingDirection direction) {
  const auto depth = static_cast<unsigned>(buffers.size() / block_bytes);
  Ring ring(depth);
  std::vector<iovec> blocks;
  for (unsigned i = 0; i < depth; ++i) {
    blocks.push_back({buffers.data() + i * block_bytes, block_bytes});
  }
  const int registered = io_uring_register_buffers(ring.get(), blocks.data(), depth);
  if (registered < 0) throw ring_error("registering buffers with io_uring", registered);

  std::uint64_t next = 0;
  const auto begin_transfer = [&](unsigned block) {
    io_uring_sqe* const entry = io_uring_get_sqe(ring.get());
    const auto bytes = static_cast<unsigned>(block_bytes);
    if (direction == RingDirection::kRead) {
      io_uring_prep_read_fixed(entry, file.fd(), blocks[block].iov_base, bytes, next,
                               static_cast<int>(block));
    } else {
      io_uring_prep_write_fixed(entry, file.fd(), blocks[block].iov_base, bytes, next,
                                static_cast<int>(block));
    }
    io_uring_sqe_set_data64(entry, block);
    next += block_bytes;
  };
  const std::uint64_t transfers = file_bytes / block_bytes;
  for (unsigned block = 0; block < std::min<std::uint64_t>(depth, transfers); ++block) {
    begin_transfer(block);
  }
  for (std::uint64_t done = 0; done < transfers; ++done) {
    io_uring_cqe* completion = nullptr;
    int result = io_uring_submit(ring.get());
    if (result >= 0) result = io_uring_wait_cqe(ring.get(), &completion);
    if (result < 0) throw ring_error("waiting for io_uring", result);
    const int moved = completion->res;
    const auto block = static_cast<unsigned>(io_uring_cqe_get_data64(completion));
    io_uring_cqe_seen(ring.get(), completion);
    if (moved < 0) throw ring_error("moving a block through io_uring", moved);
    if (static_cast<std::uint64_t>(moved) != block_bytes) {
      throw Error(ErrorKind::kTemporary, "moving a block through io_uring", "it moved in part");
    }
    if (next < file_bytes) begin_transfer(block);
  }
}

}  // namespace gsort::bench
