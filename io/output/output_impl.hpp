// The kinds of Output behind output.hpp: a regular file that appears at commit, a stream that is
// written through, the null device, memory of the caller.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "io/output/output.hpp"
#include "io/system/file.hpp"

namespace gsort::io {

class Output::Impl {
 public:
  virtual ~Impl() = default;
  [[nodiscard]] virtual bool is_stream() const = 0;
  [[nodiscard]] virtual bool is_null() const { return false; }
  [[nodiscard]] virtual bool keeps_bytes() const { return !is_stream(); }
  [[nodiscard]] virtual const std::string& path() const = 0;
  [[nodiscard]] virtual const std::string& folder() const = 0;
  [[nodiscard]] virtual std::string written_into() const { return {}; }
  virtual void make_room_early(std::uint64_t /*bytes*/, std::size_t /*step_bytes*/) {}
  virtual void prepare(std::uint64_t bytes, const WriteWindows& windows) = 0;
  virtual void write_at(std::uint64_t offset, ConstByteSpan bytes) = 0;
  [[nodiscard]] virtual std::string hidden_path() const { return {}; }
  virtual void note_written(std::uint64_t /*offset*/, std::uint64_t /*bytes*/) {}
  // The same output, not yet written to; null if the writes cannot be undone. This object must not
  // be used afterwards.
  [[nodiscard]] virtual std::unique_ptr<Impl> renewed() = 0;
  virtual void cancel() noexcept = 0;
  // The steps of commit(), and how to undo the second. Only a regular output has more than one.
  virtual void finish(std::uint64_t size_bytes) = 0;
  virtual void put_in_place() {}
  virtual void sync_name() const {}
  virtual void take_back() noexcept {}
  [[nodiscard]] virtual std::vector<std::string> notes() const = 0;

  std::uint64_t next_offset = 0;  // of write_next
};

struct OutputTarget : OutputPlace {
  std::optional<struct stat> replaced;  // the file that is there now
};

// For an existing file: see output_written.cpp. Throws: Error(kOutput).
[[nodiscard]] std::unique_ptr<Output::Impl> make_written_output(const OutputTarget& target,
                                                                const OutputOptions& options);

[[nodiscard]] std::unique_ptr<Output::Impl> make_regular_output(OutputTarget target,
                                                                const OutputOptions& options);

// Writes through `file`, whose path messages name. The null device has its own output, by
// make_null_output().
[[nodiscard]] std::unique_ptr<Output::Impl> make_stream_output(File file, bool is_report);
[[nodiscard]] std::unique_ptr<Output::Impl> make_null_output(File file);

}  // namespace gsort::io
