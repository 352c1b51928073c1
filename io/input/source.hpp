// Source: one input as a sequence of raw elements, whatever its file looks like. The Reader makes
// one sequence of all its sources.
//
// A source hands its elements out in two steps. claim() is called by one thread at a time and says
// which elements come next; fill() brings them, on many threads at once. Kinds of sources differ in
// how much of the work they leave to fill().
//
// Read next: file_source.cpp, stream_source.cpp, text_source.cpp, memory_source.cpp;
// open_source.hpp chooses among those of files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "element/key.hpp"
#include "form/decoding.hpp"
#include "form/foreign_form.hpp"
#include "form/stored_array.hpp"
#include "io/input/input.hpp"
#include "io/system/bytes.hpp"

namespace gsort::io {

// The form of the elements, the same for all inputs of a sort.
struct ElementForm {
  std::size_t bytes = 1;
  KeyFormat key;
  bool type_is_assumed = false;    // the type of raw keys is the default, not one that was given
  bool keeps_compression = false;  // read compressed data without decompressing it
  bool has_counts = false;         // an element is a key with its count
};

// The call that does the work, and the room that it needs.
enum class Filling : std::uint8_t {
  kByOffset,   // fill() reads the elements; it may overwrite the room behind them
  kByClaim,    // claim() has read them already
  kByDecoding  // claim() has put their text at the end of the room, which must be a whole buffer
};

// Elements that have been handed out.
struct Claim {
  std::uint64_t begin = 0;  // of the first one: its byte in the source, or its line
  std::size_t bytes = 0;    // 0: the source is at its end
  std::size_t text_at = 0;  // with kByDecoding: where in the room the text of the elements lies
  std::size_t text_bytes = 0;
};

class Source {
 public:
  explicit Source(std::unique_ptr<Input> input) : input_(std::move(input)) {}
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  // The input's own description of its elements; none if it has none.
  [[nodiscard]] const std::optional<StoredArray>& stored() const { return stored_; }
  void set_stored(StoredArray array) { stored_ = std::move(array); }

  // Keeps only the sizes of the description and the key: fields and dtype take memory, and of many
  // inputs those of the first one are enough. Requires: stored().
  void forget_fields();

  // The number of elements in a row of a two-dimensional array; 0 for other inputs.
  [[nodiscard]] std::uint64_t row_elements() const { return stored_ ? stored_->row_elements : 0; }

  // The number of numbers, as a header counts them, that make one element: the columns of a table,
  // else 1.
  [[nodiscard]] std::uint64_t columns() const {
    return stored_ && stored_->columns > 0 ? stored_->columns : 1;
  }

  // Call it once, before everything below. Throws: Error(kInput) if the input does not hold whole
  // elements, as far as this is known.
  virtual void begin(const ElementForm& form) = 0;

  [[nodiscard]] virtual Filling filling() const = 0;

  // The size of all elements in bytes, if known before they are read; only with kByOffset.
  [[nodiscard]] virtual std::optional<std::uint64_t> size() const { return std::nullopt; }

  // The next elements, at most `wanted_bytes` of them, for `room`. For one thread at a time.
  // Requires: wanted_bytes is a multiple of the element and at most the room.
  [[nodiscard]] virtual Claim claim(ByteSpan room, std::size_t wanted_bytes) = 0;

  // Reads the claimed elements to the start of `room`, which must be the room of that claim().
  // Thread-safe.
  virtual void fill(ByteSpan /*room*/, const Claim& /*claim*/) {}

  // Whether everything has been claimed. A stream may notice only at the next claim.
  [[nodiscard]] virtual bool at_end() const = 0;

  // Skips the next `bytes` bytes. Requires: size() is known, and at least that many bytes are left.
  virtual void skip(std::uint64_t /*bytes*/) {}

  // Goes back to the state before the first claim. Returns false if the input cannot be read again.
  [[nodiscard]] virtual bool rewind() { return false; }

  // Reads elements from byte `at` on, without claiming them. Thread-safe. Requires: size() is
  // known.
  virtual void sample_at(ByteSpan /*to*/, std::uint64_t /*at*/) {}

  // The bytes that --skip leaves out; for a stream, only after the first claim.
  [[nodiscard]] virtual ConstByteSpan header() const = 0;

  // The bytes behind the elements (--skip-end, --elements); for a stream, complete at its end.
  [[nodiscard]] virtual std::vector<std::byte> trailer() { return {}; }

  // The memory for decompressing it; none if it is not known to be compressed. Does not wait for
  // the first bytes of a stream.
  [[nodiscard]] virtual std::optional<DecoderNeed> decoder_need() { return std::nullopt; }

  // From now on its decoder takes at most that, or decoder_need() if that is more.
  virtual void limit_decoder(const DecoderLimit& /*limit*/) {}

  // Closes its descriptor, if it does not need one between reads.
  virtual void park() {}

  // Call this if the output of this name will replace the file.
  // Throws: Error(kUsage) if the input begins after the first byte of the file.
  void set_replaced_by(std::string output) {
    input_->require_all_of_file();
    replaced_by_ = std::move(output);
  }

  // Throws: Error(kInput) if the file has changed since it was opened, or if an output will replace
  // it and another file now has its name.
  void check_unchanged() const {
    replaced_by_.empty() ? input_->check_unchanged() : input_->check_replaceable(replaced_by_);
  }

  // The state by which a later process recognises the input; none if it cannot be read again.
  [[nodiscard]] std::optional<FileState> state() const { return input_->state(); }
  [[nodiscard]] bool is_cached() const { return input_->is_cached(); }

  // How it is read, for -v; empty when there is nothing to say.
  [[nodiscard]] virtual std::string note() const { return input_->note(); }

  [[nodiscard]] const std::string& path() const { return input_->path(); }

 protected:
  [[nodiscard]] Input& input() { return *input_; }
  [[nodiscard]] const Input& input() const { return *input_; }

 private:
  std::unique_ptr<Input> input_;
  std::string replaced_by_;
  std::optional<StoredArray> stored_;
};

// The Error for an input that ends within an element. `size` counts the bytes of elements, which
// begin at `offset` of the file and may look like another form.
[[nodiscard]] Error odd_tail(const std::string& path, std::uint64_t offset, std::uint64_t size,
                             const ElementForm& form,
                             const std::optional<ForeignForm>& looks_like = std::nullopt);

// The Error for an input that is shorter than its header and trailer.
[[nodiscard]] Error shorter_than_header(const std::string& path, std::uint64_t size,
                                        std::uint64_t header_bytes, std::uint64_t end_bytes = 0);

// Returns the bytes of `elements` elements (--elements). The input has `found_bytes` from the first
// one on: exactly these if `is_all`, else also a trailer of at most kMostSkipBytes.
// Throws: Error(kInput) if it has fewer or more.
[[nodiscard]] std::uint64_t bytes_of_elements(const std::string& path, std::uint64_t elements,
                                              std::size_t element_bytes, std::uint64_t found_bytes,
                                              bool is_all);

}  // namespace gsort::io
