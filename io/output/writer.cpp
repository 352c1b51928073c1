#include "io/output/writer.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/units.hpp"
#include "element/counted_keys.hpp"
#include "form/counted_file.hpp"
#include "form/counted_lines.hpp"
#include "form/decimal.hpp"
#include "form/npy.hpp"
#include "io/system/written_places.hpp"

namespace gsort::io {

namespace {

// The right to compress, until the end of the scope.
class EncoderSlot {
 public:
  explicit EncoderSlot(std::counting_semaphore<>& slots) : slots_(slots) { slots_.acquire(); }
  ~EncoderSlot() { slots_.release(); }
  EncoderSlot(const EncoderSlot&) = delete;
  EncoderSlot& operator=(const EncoderSlot&) = delete;

 private:
  std::counting_semaphore<>& slots_;
};

// Reserves the helper threads that are free now, until the end of the scope.
class HelpersInHand {
 public:
  HelpersInHand(std::counting_semaphore<>& free, std::uint64_t wanted) : free_(free) {
    while (count_ < wanted && free_.try_acquire()) ++count_;
  }
  ~HelpersInHand() { free_.release(count_); }
  HelpersInHand(const HelpersInHand&) = delete;
  HelpersInHand& operator=(const HelpersInHand&) = delete;

  [[nodiscard]] unsigned count() const { return count_; }

 private:
  std::counting_semaphore<>& free_;
  unsigned count_ = 0;
};

// The least size of the elements in the output.
std::uint64_t least_bytes(const OutputForm& form, std::uint64_t elements,
                          std::uint64_t element_bytes) {
  if (form.codec != Codec::kNone) return 0;
  return elements * (form.format == FileFormat::kText ? kLeastLineBytes : element_bytes);
}

// The room that a decoder gets for one step.
constexpr std::size_t kProofBytes = std::size_t{64} << 10;

constexpr std::string_view kOnlyInput = "do not use the output, the input is unchanged";

}  // namespace

// The memory in which a frame is encoded; reused, since fresh memory must be touched first.
struct EncodingMemory::Scratch {
  std::vector<std::byte> text;
  std::vector<std::byte> compressed;
  std::vector<std::byte> decompressed;  // a stretch of it, to be compared
  // For keys with counts, before they become text:
  std::vector<std::byte> keys;
  std::vector<std::uint64_t> counts;
  std::vector<char> key_lines;
};

EncodingMemory::EncodingMemory(unsigned encoders, unsigned threads)
    : encoders_(encoders), helpers_(threads - 1) {}
EncodingMemory::~EncodingMemory() = default;

std::unique_ptr<EncodingMemory::Scratch> EncodingMemory::take() {
  const std::scoped_lock lock(mutex_);
  if (spare_.empty()) return std::make_unique<Scratch>();
  std::unique_ptr<Scratch> scratch = std::move(spare_.back());
  spare_.pop_back();
  return scratch;
}

void EncodingMemory::give_back(std::unique_ptr<Scratch> scratch) {
  const std::scoped_lock lock(mutex_);
  spare_.push_back(std::move(scratch));
}

Writer::Writer(Output& output, const WriterOptions& options)
    : output_(output),
      options_(options),
      element_bytes_(options.element_bytes),
      cancelled_(std::make_exception_ptr(
          Error(ErrorKind::kOutput, "writing", "stopped before the output was complete")
              .path(output.path())
              .hint("see the other message"))),
      memory_(options.memory
                  ? options.memory
                  : std::make_shared<EncodingMemory>(options.encoders, options.threads)) {}

Writer::~Writer() = default;

void Writer::begin(std::optional<std::uint64_t> elements, ConstByteSpan header) {
  const bool has_count = has_header(options_.form.format);
  counts_elements_ = !elements;
  const std::uint64_t least_elements = elements.value_or(1);
  std::vector<std::byte> bytes = has_count ? header_of(options_, least_elements)
                                           : std::vector<std::byte>(header.begin(), header.end());
  // An empty output is still a member of its codec.
  if (options_.form.codec != Codec::kNone && (!bytes.empty() || least_elements == 0)) {
    Scratch scratch;
    compressed(bytes, scratch);
    bytes = std::move(scratch.compressed);
  }
  header_bytes_ = bytes.size();
  const std::uint64_t least =
      header_bytes_ + least_bytes(options_.form, least_elements, element_bytes_);
  next_offset_ = options_.form.is_plain() ? least : header_bytes_;
  output_.prepare(least, options_.windows);
  const bool comes_last = has_count && counts_elements_;
  if (!bytes.empty() && !comes_last) output_.write_at(0, bytes);
}

void Writer::put(std::uint64_t position, ConstByteSpan keys) {
  if (options_.form.is_plain()) {
    output_.write_at(header_bytes_ + position * element_bytes_, keys);
    elements_put_ += keys.size() / element_bytes_;
  } else if (!keys.empty()) {
    put_frames(position, keys);
  }
}

// A piece of one frame is encoded at once, while others still have the turn. A larger one uses many
// threads, but only in its turn: waiting threads would hold the frames.
void Writer::put_frames(std::uint64_t position, ConstByteSpan keys) {
  const std::uint64_t frame_bytes = options_.frame_elements * element_bytes_;
  const std::uint64_t frames = div_up(keys.size(), frame_bytes);
  if (frames > 1) {
    std::unique_lock lock(mutex_);
    wait_for_turn(lock, position);
  }
  const HelpersInHand helpers(memory_->helpers_, frames - 1);
  const auto put_one = [&](unsigned, std::uint64_t i) {
    const std::size_t begin = i * frame_bytes;
    const std::size_t bytes = std::min<std::size_t>(frame_bytes, keys.size() - begin);
    put_frame(position + i * options_.frame_elements, keys.subspan(begin, bytes));
  };
  for_each_number(1 + helpers.count(), frames, put_one, [&] { stop(std::current_exception()); });
}

void Writer::put_frame(std::uint64_t position, ConstByteSpan keys) {
  std::unique_ptr<Scratch> scratch = memory_->take();
  const ConstByteSpan encoded = encode(keys, *scratch);
  const std::uint64_t offset = take_place(position, keys.size() / element_bytes_, encoded.size());
  output_.write_at(offset, encoded);
  memory_->give_back(std::move(scratch));
}

ConstByteSpan Writer::encode(ConstByteSpan keys, Scratch& scratch) {
  ConstByteSpan encoded = keys;
  if (options_.form.format == FileFormat::kText) {
    const std::size_t line = most_line_bytes(options_.key);
    const std::size_t most = line + (options_.counts ? kMostCountBytes : 0);
    scratch.text.resize(options_.frame_elements * most + kTextSlack);
    char* const text = reinterpret_cast<char*>(scratch.text.data());
    const std::size_t bytes =
        options_.counts ? format_counted(keys, scratch, text) : format(keys, text);
    encoded = ConstByteSpan(scratch.text).first(bytes);
  }
  if (options_.form.codec != Codec::kNone) {
    const EncoderSlot slot(memory_->encoders_);
    encoded = compressed(encoded, scratch);
  }
  return encoded;
}

std::size_t Writer::format(ConstByteSpan keys, char* to) {
  lost_nan_payloads_ += count_lost_nan_payloads(keys, options_.key);
  return options_.is_proven ? format_proven(options_.formatter, keys, options_.key, to)
                            : options_.formatter(keys, options_.key, to);
}

// Formats all keys first, then puts each count before its key.
std::size_t Writer::format_counted(ConstByteSpan pairs, Scratch& scratch, char* to) {
  const std::size_t key_bytes = bytes_of(options_.key);
  const std::size_t count = pairs.size() / element_bytes_;
  scratch.keys.resize(count * key_bytes);
  scratch.counts.resize(count);
  split_counts(pairs, key_bytes, options_.key.big_endian, scratch.keys.data(), scratch.counts);
  scratch.key_lines.resize(count * most_line_bytes(options_.key) + kTextSlack);
  const std::string_view key_lines(scratch.key_lines.data(),
                                   format(scratch.keys, scratch.key_lines.data()));
  const std::size_t bytes = put_counts_in_front(scratch.counts, key_lines, to);
  if (options_.is_proven && !has_counts_in_front({to, bytes}, scratch.counts, key_lines)) {
    throw encoded_otherwise(name_of(FileFormat::kText));
  }
  return bytes;
}

ConstByteSpan Writer::compressed(ConstByteSpan content, Scratch& scratch) const {
  scratch.compressed.clear();
  options_.compressor(options_.form.codec, options_.form.level, content, scratch.compressed);
  if (options_.is_proven) {
    scratch.decompressed.resize(kProofBytes);
    require_decompresses(options_.form.codec, scratch.compressed, content, scratch.decompressed);
  }
  return scratch.compressed;
}

void Writer::wait_for_turn(std::unique_lock<std::mutex>& lock, std::uint64_t position) {
  changed_.wait(lock, [&] { return next_element_ >= position || stopped_; });
  if (stopped_) std::rethrow_exception(stopped_);
}

std::uint64_t Writer::take_place(std::uint64_t position, std::uint64_t elements,
                                 std::uint64_t bytes) {
  std::unique_lock lock(mutex_);
  if (!claimed_.add(position, position + elements)) {
    throw misplaced(fmt::format("element {} was already written", position), output_.path(),
                    kOnlyInput);
  }
  wait_for_turn(lock, position);
  next_element_ += elements;
  changed_.notify_all();
  return std::exchange(next_offset_, next_offset_ + bytes);
}

void Writer::stop(const std::exception_ptr& why) noexcept {
  {
    const std::scoped_lock lock(mutex_);
    if (!stopped_) stopped_ = why;
  }
  changed_.notify_all();
  output_.cancel();
}

void Writer::cancel() noexcept {
  stop(cancelled_);
}

std::vector<std::byte> header_of(const WriterOptions& options, std::uint64_t elements) {
  if (options.form.format == FileFormat::kSosd) return make_sosd_header(elements);
  const StoredDtype dtype = options.dtype.value_or(npy_dtype_of(options.key));
  if (options.columns > 0) {
    return make_npy_header(dtype, elements * options.columns, options.columns);
  }
  return make_npy_header(dtype, elements, options.row_elements, options.empty_rows);
}

void Writer::finish_plain() {
  next_offset_ = header_bytes_ + elements_put_ * element_bytes_;
  if (!has_header(options_.form.format)) return;
  output_.write_at(0, header_of(options_, elements_put_));
}

// Only now is it known that the output is empty.
void Writer::write_empty_member() {
  Scratch scratch;
  const ConstByteSpan member = compressed({}, scratch);
  output_.write_at(0, member);
  next_offset_ = member.size();
}

void Writer::write_trailer() {
  const std::vector<std::byte> trailer = options_.trailer();
  if (trailer.empty()) return;
  Scratch scratch;
  const ConstByteSpan bytes =
      options_.form.codec == Codec::kNone ? ConstByteSpan(trailer) : compressed(trailer, scratch);
  output_.write_at(next_offset_, bytes);
  next_offset_ += bytes.size();
}

void Writer::require_all_put(std::uint64_t elements) const {
  const std::uint64_t put = options_.form.is_plain() ? elements_put_.load() : claimed_.first_gap();
  if (put == elements) return;
  throw misplaced(fmt::format("{} elements were verified, but {} written", format_count(elements),
                              format_count(put)),
                  output_.path(), kOnlyInput);
}

void Writer::commit(std::uint64_t elements) {
  output_.commit(write_last(elements));
}

void Writer::finish(std::uint64_t elements) {
  output_.finish(write_last(elements));
}

// Returns the bytes of the whole output.
std::uint64_t Writer::write_last(std::uint64_t elements) {
  require_all_put(elements);
  if (counts_elements_ && options_.form.is_plain()) finish_plain();
  if (options_.trailer && !has_header(options_.form.format)) write_trailer();
  if (options_.form.codec != Codec::kNone && next_offset_ == 0) write_empty_member();
  return next_offset_;
}

}  // namespace gsort::io
