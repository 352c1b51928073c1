// PartsSink: the last sink. It writes elements to the output, or to the parts of a split output,
// each of which is a separate file.
//
// Parts are consecutive, and their sizes differ by at most one element: 11 elements in 4 parts are
// [0, 3) [3, 6) [6, 9) [9, 11). Pieces arrive roughly in order. The first piece of a part opens it;
// the last one syncs it and frees its buffers. So only few parts hold buffers at the same time. All
// parts get their names at the end.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/meter.hpp"
#include "engine/engine.hpp"
#include "io/output/writer.hpp"

namespace gsort {

// Thread-safe, except begin() and commit(). `outputs` and `meter`, which may be null, outlive it.
class PartsSink final : public PieceSink {
 public:
  PartsSink(std::span<io::Output> outputs, const io::WriterOptions& options, Meter* meter);

  // As Writer::begin. Requires: if there are several parts, the number of elements is known.
  void begin(std::optional<std::uint64_t> elements, ConstByteSpan header);

  // As Writer::put.
  void put(std::uint64_t position, ConstByteSpan elements) override;
  void abandon() noexcept override;

  [[nodiscard]] std::uint64_t lost_nan_payloads() const;

  // As Writer::finish, for all parts.
  void finish(std::uint64_t elements);

  // As Writer::commit. Commits all parts or none; `before_name` is called when all are on the
  // disk; if it throws, the commit ends.
  void commit(std::uint64_t elements, const std::function<void()>& before_name = {});

 private:
  struct Part {
    Part(io::Output& output, const io::WriterOptions& options) : writer(output, options) {}
    io::Writer writer;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;  // UINT64_MAX: not known
    std::mutex beginning;
    bool has_begun = false;
    std::atomic<std::uint64_t> put{0};
    bool is_finished = false;
  };

  [[nodiscard]] bool is_split() const { return parts_.size() > 1; }
  void put_in(Part& part, std::uint64_t position, ConstByteSpan elements);
  void begin_part(Part& part);
  void finish(Part& part);
  void finish_all(std::uint64_t elements);

  const std::uint64_t element_bytes_;
  std::span<io::Output> outputs_;
  Meter* meter_;
  std::deque<Part> parts_;
  std::vector<std::byte> header_;  // of the first part
};

}  // namespace gsort
