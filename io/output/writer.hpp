// Writer: the counterpart of the Reader. Takes many pieces of sorted raw elements at once and gives
// them the form of the output: raw keys or an array at their places, or text or compressed members
// one after the other.
//
// In a plain output every piece has its place, and threads do not wait for each other. The place of
// text and compressed data depends on the size of all data before it: a piece is encoded in frames,
// at the same time as other pieces, and then waits for its turn to get a place.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <vector>

#include "base/tiling.hpp"
#include "element/key.hpp"
#include "form/file_form.hpp"
#include "form/stored_array.hpp"
#include "io/codecs/compress.hpp"
#include "io/output/encoding_proof.hpp"
#include "io/output/output.hpp"
#include "io/system/bytes.hpp"

namespace gsort::io {

using Compressor = decltype(&compress);

// Shared by the writers of one output: the memory of frames, and the right to encode them.
class EncodingMemory {
 public:
  // For this many encoders at the same time, and `threads` threads for large pieces: each encoder
  // has one, and takes those that are free.
  EncodingMemory(unsigned encoders, unsigned threads);
  ~EncodingMemory();

 private:
  friend class Writer;
  struct Scratch;
  [[nodiscard]] std::unique_ptr<Scratch> take();
  void give_back(std::unique_ptr<Scratch> scratch);

  std::counting_semaphore<> encoders_;  // a thread that encodes waits for no other lock
  std::counting_semaphore<> helpers_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch>> spare_;
};

struct WriterOptions : StoredShape, Encoding {
  OutputForm form;
  KeyFormat key;
  std::size_t element_bytes = 0;  // of a key, with its count; or of a record, written raw
  bool counts = false;            // elements are keys with their counts (counted_keys.hpp)
  WriteWindows windows;           // of direct writes
  // Only for outputs that are not plain, as is Encoding. Writers with the same `memory` share its
  // encoders:
  unsigned threads = 1;                              // to encode the frames of a large piece
  std::shared_ptr<EncodingMemory> memory = nullptr;  // null: the writer uses its own
  std::function<std::vector<std::byte>()> trailer = nullptr;  // the bytes behind the elements
  LineFormatter formatter = format_lines;
  Compressor compressor = compress;
};

// The header of an array of this many elements. Requires: has_header(options.form.format). All
// headers of one dtype have the same size.
[[nodiscard]] std::vector<std::byte> header_of(const WriterOptions& options,
                                               std::uint64_t elements);

// Thread-safe, except begin() and commit(). `output` outlives the writer.
class Writer {
 public:
  Writer(Output& output, const WriterOptions& options);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer();

  // Call it once, before the first piece. Makes room for `elements` elements, if their size is
  // known, and writes `header` or that of an array. Without `elements`, their number is known only
  // when all have been put; then commit() writes the header of an array, and the output must be
  // neither a stream nor compressed. Throws: Error(kResource); Error(kOutput).
  void begin(std::optional<std::uint64_t> elements, ConstByteSpan header);

  // Writes the raw keys from element `position` on. Pieces must be started in the order of their
  // positions; a call may wait for all earlier ones. Throws: Error(kOutput); Error(kCorrupt) if
  // data overlaps earlier data, or does not decode to its source. All waiting calls then throw the
  // same.
  void put(std::uint64_t position, ConstByteSpan keys);

  // Call it when another stage has failed: waiting calls end with an Error.
  void cancel() noexcept;

  // The number of NaNs written as text, which does not hold their payloads.
  [[nodiscard]] std::uint64_t lost_nan_payloads() const { return lost_nan_payloads_; }

  // Completes the output. Requires: all pieces have been put. `elements` is the number that the
  // proof counted. Throws: Error(kOutput); Error(kCorrupt) if another number was put.
  void commit(std::uint64_t elements);

  // The same without the name, for an output that is named together with others (Output::finish).
  void finish(std::uint64_t elements);

 private:
  using Scratch = EncodingMemory::Scratch;

  std::uint64_t write_last(std::uint64_t elements);
  void write_trailer();
  void finish_plain();
  void require_all_put(std::uint64_t elements) const;
  void put_frames(std::uint64_t position, ConstByteSpan keys);
  void put_frame(std::uint64_t position, ConstByteSpan keys);
  ConstByteSpan encode(ConstByteSpan keys, Scratch& scratch);
  std::size_t format(ConstByteSpan keys, char* to);
  std::size_t format_counted(ConstByteSpan pairs, Scratch& scratch, char* to);
  void write_empty_member();
  ConstByteSpan compressed(ConstByteSpan content, Scratch& scratch) const;
  void wait_for_turn(std::unique_lock<std::mutex>& lock, std::uint64_t position);
  std::uint64_t take_place(std::uint64_t position, std::uint64_t elements, std::uint64_t bytes);
  void stop(const std::exception_ptr& why) noexcept;

  Output& output_;
  const WriterOptions options_;
  const std::uint64_t element_bytes_;
  const std::exception_ptr cancelled_;  // made in advance, because a lack of memory may be the
                                        // reason for cancel()
  std::uint64_t header_bytes_ = 0;
  bool counts_elements_ = false;  // begin() was not told how many there are
  std::atomic<std::uint64_t> elements_put_{0};
  std::atomic<std::uint64_t> lost_nan_payloads_{0};

  const std::shared_ptr<EncodingMemory> memory_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  Tiling claimed_;                  // elements that have a place, or wait for one
  std::uint64_t next_element_ = 0;  // whose turn it is
  std::uint64_t next_offset_ = 0;   // its place
  std::exception_ptr stopped_;      // the reason, with which all waiting calls fail
};

}  // namespace gsort::io
