// Reader: one or several inputs of any form as one sequence of raw elements, which many threads
// take in blocks.
//
// Raw keys in regular files: a thread claims the next range under a small lock and reads it
// outside, so ranges are read in parallel and may span files. Pipes, FIFOs, devices and compressed
// files are read under the lock, in order; so is text, which is parsed outside the lock. A file
// that shrinks or changes while it is read causes an Error, never a wrong result.
//
// Cached files are read through the page cache; large uncached ones around it (O_DIRECT) where the
// file system accepts that, unless one thread reads alone.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "element/key.hpp"
#include "element/numbered_elements.hpp"
#include "form/decoding.hpp"
#include "form/file_form.hpp"
#include "form/stored_array.hpp"
#include "io/input/input.hpp"
#include "io/input/memory_source.hpp"
#include "io/system/bytes.hpp"

namespace gsort::io {

// A result of next(): the first `bytes` bytes of the buffer are [position_bytes,
// position_bytes + bytes) of the sequence.
struct InputBlock {
  std::uint64_t position_bytes = 0;
  std::size_t bytes = 0;
};

// The places that a sample is taken from.
enum class Places : std::uint8_t { kEven, kAnywhere };

// Tables whose rows are elements, not arrays to sort: none; those of keys; also of texts; all.
enum class WholeRows : std::uint8_t { kNone, kOfKeys, kOfTexts, kOfAll };

struct ReaderOptions {
  std::size_t element_bytes = 1;  // every input must hold a whole number of elements
  WayToRead way = {};
  InputForm form = {};
  KeyFormat key = {KeyType::kU8};    // of text; headers of arrays may give another one
  bool type_is_asked = false;        // no header may give another type
  bool byte_order_is_asked = false;  // no header may give another byte order
  // The type is assumed: inputs that plainly are not raw keys are errors.
  bool type_is_assumed = false;
  // Inputs in memory: a path that is the name of one of these is not a file.
  std::vector<MemoryInput> memory = {};
  // An element is a key of element_bytes, and its count (element/counted_keys.hpp).
  bool has_counts = false;
  WholeRows whole_rows = WholeRows::kNone;
};

class Source;

class Reader {
 public:
  static constexpr std::uint64_t kNoLimit = UINT64_MAX;

  // Opens all `paths`; "-" is standard input (from where its offset stands). No paths: standard
  // input. Throws: Error(kInput) if one is missing, unreadable, a directory, or does not hold whole
  // elements (with the path and the offset of the incomplete element), or if the header of an array
  // cannot be used or disagrees with the options or another input; Error(kUsage) if "-" occurs
  // twice.
  explicit Reader(const std::vector<std::string>& paths, const ReaderOptions& options = {});
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // The keys of the inputs: as in the options, or as the headers of arrays say.
  [[nodiscard]] const KeyFormat& key() const { return key_; }
  [[nodiscard]] bool key_is_stored() const { return key_is_stored_; }  // the latter

  // The elements as the first input describes them, if it is an array; all others agree with it.
  [[nodiscard]] const StoredArray& first_array() const;

  // The bytes that options.form skips in the first input; for a pipe, available once its first
  // block has been read.
  [[nodiscard]] ConstByteSpan header() const;

  // The bytes behind the elements of the first input, by options.form; for a pipe, complete only at
  // its end. Thread-safe. Throws: as next().
  [[nodiscard]] std::vector<std::byte> trailer() const;

  // The size of the sequence in bytes, if all inputs are raw keys in regular files or block
  // devices.
  [[nodiscard]] std::optional<std::uint64_t> known_size() const;
  // The number of the first input of unknown size; none if all sizes are known.
  [[nodiscard]] std::optional<std::size_t> input_of_unknown_size() const;

  // Takes the next bytes of the sequence into `buffer`, but none at or beyond `limit_position`.
  // Returns nullopt at the end of the sequence and at limit_position. Blocks hold whole elements
  // and fill the buffer, except for the last one before the end, the limit or a pipe among the
  // inputs, and for blocks cut short to align the next one for direct reads. Bytes of the buffer
  // behind the block may be overwritten. A buffer aligned to kDirectAlignment makes direct reads
  // possible. Thread-safe. Every byte is returned exactly once, in blocks claimed in order of
  // position. Requires: buffer.size() >= element_bytes, or 4 KiB if an input is text;
  // limit_position is a multiple of element_bytes. Throws: Error(kInput) if reading fails, a file
  // ends early, a pipe ends within an element, compressed data is damaged, or a line of text is not
  // a key.
  [[nodiscard]] std::optional<InputBlock> next(ByteSpan buffer,
                                               std::uint64_t limit_position = kNoLimit);

  // From now on the sequence ends at `position_bytes`, or where the inputs end: next(), at_end(),
  // known_size() and sample() behave accordingly. A later call may move the end further. Used when
  // the caller sorts the sequence in stretches. Requires: a multiple of element_bytes.
  void end_at(std::uint64_t position_bytes);

  // Continues at `position_bytes`; bytes before it that were not taken are not read.
  // Requires: no next() is under way; a multiple of element_bytes, not before position(), at most
  // known_size().
  void begin_at(std::uint64_t position_bytes);

  // From now on equal floats in these keys of the elements have the same bits
  // (form/equal_floats.hpp). Call it before anything is taken.
  void make_alike(std::vector<KeyField> floats) { floats_ = std::move(floats); }

  // From now on elements are records of `numbering`: each is followed by its position in the
  // sequence. All sizes and positions in bytes, element_bytes and the least buffer included, are
  // then those of records. next_of() gives elements as before. Requires: no next() is under way.
  void number_elements(const Numbering& numbering) { numbering_ = numbering; }

  // Begins again with the first byte, as if nothing had been taken. Returns false if an input
  // cannot be read again; then this Reader is of no further use. Requires: no other call is under
  // way.
  [[nodiscard]] bool rewind();

  // Reads the inputs one by one, not as one sequence; do not call next() and related functions
  // then. Takes the next bytes of input `input` into `buffer`: whole elements, not always as many
  // as there is room for; 0 at its end. Bytes of the buffer after them may be overwritten.
  // Thread-safe for different inputs.
  // Requires: input < inputs(); buffer.size() as for next().
  // Throws: as next().
  [[nodiscard]] std::size_t next_of(std::size_t input, ByteSpan buffer);
  [[nodiscard]] std::size_t inputs() const { return sources_.size(); }
  [[nodiscard]] const std::string& path_of(std::size_t input) const;
  // The state at opening; none for inputs that cannot be read again: a pipe, a device.
  [[nodiscard]] std::optional<FileState> state_of(std::size_t input) const;

  // Whether the page cache holds most of every input that is not small.
  [[nodiscard]] bool is_cached() const;

  // The memory for decompressing an input, as far as it is known without waiting for a stream; none
  // if it is not compressed. Call it before anything is taken. Throws: Error(kInput) or
  // Error(kResource) when it looks at the first bytes.
  [[nodiscard]] std::optional<DecoderNeed> decoder_need_of(std::size_t input);

  // From now on each decoder takes at most the memory of `limit`, or its input's need if that is
  // more. Call it before anything is taken; without it there is no limit.
  void limit_decoders(const DecoderLimit& limit);

  // The bytes claimed so far by next() or next_of(). Thread-safe.
  [[nodiscard]] std::uint64_t position() const;

  // Whether next() has reached the end of the sequence. For a pipe, only a next() that returned
  // nullopt, or a block cut short by the end, shows this. Thread-safe.
  [[nodiscard]] bool at_end() const;

  // Fills `out` with elements drawn evenly from [begin, end) of the sequence, by page-sized reads
  // at up to 256 places; takes nothing from the sequence. Returns the bytes filled, a multiple of
  // element_bytes; 0 when there are pipes among the inputs. Numbered elements have positions in
  // the sample. With kAnywhere, each place is drawn from its stretch of the sequence, anew in each
  // call, so that no user can predict which elements are sampled. Thread-safe.
  // Requires: begin and end are multiples of element_bytes, begin <= end <= known_size().
  [[nodiscard]] std::size_t sample(ByteSpan out, std::uint64_t begin, std::uint64_t end,
                                   Places places = Places::kEven) const;

  // Reads elements again that next() has returned before, from `position_bytes` on: at most `bytes`
  // bytes, only from one input, and as many as fit the buffer. Takes nothing from the sequence.
  // Returns the number of bytes. Thread-safe. Requires: known_size(); buffer as for next(); both
  // numbers are multiples of element_bytes, and `bytes` is not 0. Throws: as next().
  [[nodiscard]] std::size_t read_again(ByteSpan buffer, std::uint64_t position_bytes,
                                       std::uint64_t bytes) const;

  // Call this if the output of this name will replace the input.
  void set_replaced_by(std::size_t input, const std::string& output);

  // Call it after the last block and before the output is committed. Throws: Error(kInput) naming
  // the file, if the size or modification time of a regular file has changed since the start, or if
  // the output will replace it and another file now has its name: that file would be lost.
  void check_unchanged() const;

  // Fallbacks taken and choices made, for -v: "in.u32: cached, read through the page cache".
  // Thread-safe.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  struct Fill;

  [[nodiscard]] std::unique_ptr<Source> source_of(const std::string& path,
                                                  const ReaderOptions& options) const;
  void open(const std::vector<std::string>& paths, const ReaderOptions& options);
  void adopt_stored_keys(Source& source, const ReaderOptions& options);
  void adopt_tables(WholeRows whole);
  void require_total() const;
  std::size_t claim(ByteSpan buffer, std::size_t wanted, std::vector<Fill>& fills);
  void sample_sequence(std::uint64_t position, ByteSpan to) const;

  // As next(), sample() and read_again(), but without numbering: sizes and positions are those of
  // elements.
  [[nodiscard]] std::optional<InputBlock> next_elements(ByteSpan buffer,
                                                        std::uint64_t limit_position,
                                                        std::size_t most_bytes);
  [[nodiscard]] std::size_t sample_elements(ByteSpan out, std::uint64_t begin, std::uint64_t end,
                                            Places places) const;
  [[nodiscard]] std::size_t read_elements_again(ByteSpan buffer, std::uint64_t position,
                                                std::uint64_t bytes) const;
  [[nodiscard]] std::uint64_t in_records(std::uint64_t bytes) const;
  [[nodiscard]] std::uint64_t in_elements(std::uint64_t bytes) const;

  KeyFormat key_;
  bool key_is_stored_ = false;
  bool type_is_fixed_;  // by the options, or by the inputs opened so far
  bool order_is_fixed_;
  std::uint64_t element_bytes_;
  std::vector<KeyField> floats_;  // that are made alike
  std::optional<Numbering> numbering_;
  std::vector<std::unique_ptr<Source>> sources_;

  mutable std::mutex mutex_;  // guards the members below, and the order of claims
  std::size_t current_ = 0;   // the source whose turn it is
  std::uint64_t position_ = 0;
  std::uint64_t end_ = kNoLimit;  // of the sequence, if that is before the end of the inputs
};

}  // namespace gsort::io
