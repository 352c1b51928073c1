#include "io/input/reader.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/made_once.hpp"
#include "element/counted_keys.hpp"
#include "element/element.hpp"
#include "element/record_text.hpp"
#include "form/equal_floats.hpp"
#include "form/npy.hpp"
#include "io/input/equal_arrays.hpp"
#include "io/input/open_source.hpp"
#include "io/input/source.hpp"
#include "io/system/process.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {
namespace {

// The format of an array's keys. For keys of bytes with counts, it has the counts' byte order, too.
std::optional<KeyFormat> stored_key(const StoredArray& array, const ReaderOptions& options) {
  if (array.key || !options.has_counts) return array.key;
  const StoredField& field = array.records->fields.front();
  KeyFormat key = element_of({}, RecordFormat{field.bytes, field.keys}).key;
  key.big_endian = field.keys.front().big_endian;
  return key;
}

}  // namespace

// The bytes that one source gives to one block; read outside the lock.
struct Reader::Fill {
  Source* source = nullptr;
  std::size_t to = 0;  // in the block
  Claim claim;
};

Reader::Reader(const std::vector<std::string>& paths, const ReaderOptions& options)
    : key_(options.key),
      type_is_fixed_(options.type_is_asked),
      order_is_fixed_(options.byte_order_is_asked),
      element_bytes_(options.element_bytes + (options.has_counts ? kCountBytes : 0)) {
  open(paths, options);
  join_rows(sources_);
  adopt_tables(options.whole_rows);
  const bool type_is_stored = key_is_stored_ || first_array().records;
  const ElementForm form = {element_bytes_, key_, options.type_is_assumed && !type_is_stored,
                            options.form.codec == Codec::kNone, options.has_counts};
  for (const auto& source : sources_) source->begin(form);
  require_total();
}

Reader::~Reader() = default;

const StoredArray& Reader::first_array() const {
  const StoredArray& none = made_once([] { return StoredArray(); });
  return sources_.front()->stored() ? *sources_.front()->stored() : none;
}

ConstByteSpan Reader::header() const {
  return sources_.front()->header();
}

std::vector<std::byte> Reader::trailer() const {
  return sources_.front()->trailer();
}

const std::string& Reader::path_of(std::size_t input) const {
  return sources_[input]->path();
}

std::optional<FileState> Reader::state_of(std::size_t input) const {
  return sources_[input]->state();
}

bool Reader::is_cached() const {
  return std::ranges::all_of(sources_, [](const auto& source) { return source->is_cached(); });
}

std::optional<DecoderNeed> Reader::decoder_need_of(std::size_t input) {
  return sources_[input]->decoder_need();
}

void Reader::limit_decoders(const DecoderLimit& limit) {
  for (const auto& source : sources_) source->limit_decoder(limit);
}

void Reader::set_replaced_by(std::size_t input, const std::string& output) {
  sources_[input]->set_replaced_by(output);
}

void Reader::check_unchanged() const {
  for (const auto& source : sources_) source->check_unchanged();
}

std::unique_ptr<Source> Reader::source_of(const std::string& path,
                                          const ReaderOptions& options) const {
  const auto found = std::ranges::find(options.memory, path, &MemoryInput::name);
  if (found != options.memory.end()) return std::make_unique<MemorySource>(*found);
  return open_source(path, options.form, options.way, sources_.empty());
}

void Reader::open(const std::vector<std::string>& paths, const ReaderOptions& options) {
  if (std::count(paths.begin(), paths.end(), "-") > 1) {
    throw Error(ErrorKind::kUsage, "opening standard input", "it is named twice");
  }
  // All stay open, so that a change of any is noticed, unless the limit (1,024) is too low.
  constexpr std::uint64_t kOthers = 32;  // the output, runs, reports, libraries
  const std::uint64_t most = paths.size() > 1 ? sys::open_file_limit(process_is_own()) : kNoLimit;
  const bool parks = most < kOthers || paths.size() > most - kOthers;
  const auto open_next = [&](const std::string& path) {
    sources_.push_back(source_of(path, options));
    if (parks) sources_.back()->park();
    adopt_stored_keys(*sources_.back(), options);
  };
  for (const std::string& path : paths) open_next(path);
  if (paths.empty()) open_next("-");
}

// The headers must agree about the keys, and with the type and order that were asked for. Each is
// looked at as soon as it is open, so that only the first one's fields are kept.
void Reader::adopt_stored_keys(Source& source, const ReaderOptions& options) {
  const Source& first = *sources_.front();
  if (!options.has_counts || first.stored()) require_equal_dtype(first, source);
  if (!source.stored()) return;
  if (options.has_counts) source.set_stored(keys_of_counted(*source.stored(), source.path()));
  const std::size_t count_bytes = options.has_counts ? kCountBytes : 0;
  element_bytes_ = source.stored()->element_bytes() + count_bytes;
  if (source.stored()->key) key_is_stored_ = true;
  const std::optional<KeyFormat> stored = stored_key(*source.stored(), options);
  if (!stored) require_type_of_texts(source, options);
  if (&source != &first) source.forget_fields();
  if (!stored) return;
  const bool is_other =
      (stored->type != key_.type || string_bytes(*stored) != string_bytes(key_)) &&
      !has_rows_of(*source.stored(), options.key);
  // Without -t, earlier files with counts were taken for numbers.
  const bool lacks_type =
      options.has_counts && !first.stored() && string_bytes(*stored) != string_bytes(options.key);
  if (is_other && (type_is_fixed_ || lacks_type)) {
    const std::string type = type_text(*stored);
    if (!lacks_type) throw has_other_type(source, type, key_);
    throw has_other_type(source, type, key_)
        .hint(fmt::format("-t {} reads the other files so, too", type));
  }
  const bool has_order = options.has_counts || bytes_of(stored->type) > 1;
  if (order_is_fixed_ && has_order && stored->big_endian != key_.big_endian) {
    throw has_other_order(source, key_);
  }
  key_.type = stored->type;
  key_.tuple = stored->tuple;
  if (!order_is_fixed_) key_.big_endian = stored->big_endian;
  type_is_fixed_ = order_is_fixed_ = true;
}

void Reader::adopt_tables(WholeRows whole) {
  const auto of_records = holds_texts(first_array()) ? WholeRows::kOfTexts : WholeRows::kOfAll;
  const WholeRows least = first_array().records ? of_records : WholeRows::kOfKeys;
  if (whole < least || first_array().row_elements == 0) return;
  const StoredArray table = table_of(first_array(), sources_.front()->path());
  for (const auto& source : sources_) {
    source->set_stored(table);
    if (source != sources_.front()) source->forget_fields();
  }
  element_bytes_ = first_array().element_bytes();
}

void Reader::require_total() const {
  std::uint64_t total = 0;
  for (const auto& source : sources_) {
    total += source->size().value_or(0);  // both below 2^63: the sum cannot wrap unseen
    if (total > std::uint64_t{INT64_MAX}) {
      throw Error(ErrorKind::kInput, "reading",
                  "the inputs together are larger than any file can be")
          .path(source->path());
    }
  }
}

std::optional<std::uint64_t> Reader::known_size() const {
  std::uint64_t size = 0;
  for (const auto& source : sources_) {
    if (!source->size()) return std::nullopt;
    size += *source->size();
  }
  const std::lock_guard lock(mutex_);
  return in_records(std::min(size, end_));
}

std::optional<std::size_t> Reader::input_of_unknown_size() const {
  const auto found = std::ranges::find_if(sources_, [](const auto& s) { return !s->size(); });
  if (found == sources_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - sources_.begin());
}

std::optional<InputBlock> Reader::next(ByteSpan buffer, std::uint64_t limit_position) {
  if (!numbering_) return next_elements(buffer, limit_position, buffer.size());
  const std::size_t room = buffer.size() / numbering_->record_bytes();
  const std::uint64_t limit = limit_position == kNoLimit ? kNoLimit : in_elements(limit_position);
  const auto block = next_elements(buffer, limit, room * numbering_->element_bytes);
  if (!block) return block;
  gsort::number_elements(buffer, *numbering_, block->position_bytes / numbering_->element_bytes,
                         block->bytes / numbering_->element_bytes);
  return InputBlock{in_records(block->position_bytes), in_records(block->bytes)};
}

std::optional<InputBlock> Reader::next_elements(ByteSpan buffer, std::uint64_t limit_position,
                                                std::size_t most_bytes) {
  std::vector<Fill> fills;
  InputBlock block;
  {
    const std::lock_guard lock(mutex_);
    const std::uint64_t limit = std::min(limit_position, end_);
    const std::uint64_t before_limit = limit - std::min(limit, position_);
    const std::size_t wanted = std::min(round_down(most_bytes, element_bytes_), before_limit);
    block.position_bytes = position_;
    block.bytes = claim(buffer, wanted, fills);
    position_ += block.bytes;
  }
  if (block.bytes == 0) return std::nullopt;
  // In this order: each may write behind its elements, and the next one overwrites that.
  for (const Fill& fill : fills) fill.source->fill(buffer.subspan(fill.to), fill.claim);
  make_alike_and_check(buffer.first(block.bytes), element_bytes_, floats_);
  return block;
}

// Claims from one source after the other, until it has `wanted` bytes, there are no more, or the
// next ones need a separate block.
std::size_t Reader::claim(ByteSpan buffer, std::size_t wanted, std::vector<Fill>& fills) {
  std::size_t filled = 0;
  while (filled < wanted && current_ < sources_.size()) {
    Source& source = *sources_[current_];
    const Filling filling = source.filling();
    // A source that fills in its bytes later may overwrite bytes that are read by then.
    if (filling != Filling::kByOffset && !fills.empty()) break;
    if (filling == Filling::kByDecoding && filled > 0) break;
    const Claim claim = source.claim(buffer.subspan(filled), wanted - filled);
    if (claim.bytes > 0 && filling != Filling::kByClaim) fills.push_back({&source, filled, claim});
    filled += claim.bytes;
    if (!source.at_end() && filling != Filling::kByClaim) break;
    if (source.at_end()) ++current_;
  }
  return filled;
}

void Reader::end_at(std::uint64_t position_bytes) {
  const std::lock_guard lock(mutex_);
  end_ = in_elements(position_bytes);
}

void Reader::begin_at(std::uint64_t position_bytes) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t begin = in_elements(position_bytes);
  std::uint64_t end = 0;  // of the sources up to this one
  for (std::size_t before = 0; before < current_; ++before) end += *sources_[before]->size();
  while (position_ < begin) {
    Source& source = *sources_[current_];
    end += *source.size();
    const std::uint64_t bytes = std::min(end, begin) - position_;
    source.skip(bytes);
    position_ += bytes;
    if (source.at_end()) ++current_;
  }
}

bool Reader::rewind() {
  const std::lock_guard lock(mutex_);
  current_ = 0;
  position_ = 0;
  end_ = kNoLimit;
  return std::ranges::all_of(sources_, [](const auto& source) { return source->rewind(); });
}

std::size_t Reader::next_of(std::size_t input, ByteSpan buffer) {
  Source& source = *sources_[input];
  const Claim claim = source.claim(buffer, round_down(buffer.size(), element_bytes_));
  if (claim.bytes > 0) source.fill(buffer, claim);
  make_alike_and_check(buffer.first(claim.bytes), element_bytes_, floats_);
  const std::lock_guard lock(mutex_);
  position_ += claim.bytes;
  return claim.bytes;
}

std::uint64_t Reader::position() const {
  const std::lock_guard lock(mutex_);
  return in_records(position_);
}

bool Reader::at_end() const {
  const std::lock_guard lock(mutex_);
  if (position_ == end_) return true;
  return std::all_of(sources_.begin() + static_cast<std::ptrdiff_t>(current_), sources_.end(),
                     [](const auto& source) { return source->at_end(); });
}

std::size_t Reader::sample(ByteSpan out, std::uint64_t begin, std::uint64_t end,
                           Places places) const {
  if (!numbering_) return sample_elements(out, begin, end, places);
  const std::size_t room = out.size() / numbering_->record_bytes();
  const std::size_t bytes = sample_elements(out.first(room * numbering_->element_bytes),
                                            in_elements(begin), in_elements(end), places);
  gsort::number_elements(out, *numbering_, 0, bytes / numbering_->element_bytes);
  return in_records(bytes);
}

std::size_t Reader::sample_elements(ByteSpan out, std::uint64_t begin, std::uint64_t end,
                                    Places where) const {
  constexpr std::uint64_t kMostPlaces = 256;
  const std::uint64_t page = std::max(round_down(kDirectAlignment, element_bytes_), element_bytes_);
  const std::uint64_t available = end - begin;
  const std::uint64_t wanted =
      round_down(std::min<std::uint64_t>(out.size(), available), element_bytes_);
  if (!known_size() || wanted == 0) return 0;
  const std::uint64_t places = std::clamp<std::uint64_t>(wanted / page, 1, kMostPlaces);
  const std::uint64_t each = round_down(wanted / places, element_bytes_);
  // The first place starts at `begin`, the last ends at `end`; elements / places first: no
  // overflow.
  const std::uint64_t room = (available - each) / element_bytes_;
  const std::uint64_t gaps = std::max<std::uint64_t>(places - 1, 1);
  const auto even_step = [&](std::uint64_t i) { return room / gaps * i + room % gaps * i / gaps; };
  std::mt19937_64 random(where == Places::kAnywhere ? sys::random_number() : 0);
  std::size_t filled = 0;
  for (std::uint64_t i = 0; i < places; ++i) {
    const std::uint64_t least = even_step(i == 0 ? 0 : i - 1);
    const std::uint64_t step =
        where == Places::kEven ? even_step(i) : least + random() % (even_step(i) - least + 1);
    sample_sequence(begin + step * element_bytes_, out.subspan(filled, each));
    filled += each;
  }
  make_alike_and_check(out.first(filled), element_bytes_, floats_);
  return filled;
}

std::size_t Reader::read_again(ByteSpan buffer, std::uint64_t position_bytes,
                               std::uint64_t bytes) const {
  if (!numbering_) return read_elements_again(buffer, position_bytes, bytes);
  const std::uint64_t room = round_down(buffer.size(), numbering_->record_bytes());
  const std::size_t read =
      read_elements_again(buffer, in_elements(position_bytes), in_elements(std::min(bytes, room)));
  gsort::number_elements(buffer, *numbering_, position_bytes / numbering_->record_bytes(),
                         read / numbering_->element_bytes);
  return in_records(read);
}

std::size_t Reader::read_elements_again(ByteSpan buffer, std::uint64_t position,
                                        std::uint64_t bytes) const {
  for (const auto& source : sources_) {
    const std::uint64_t size = *source->size();
    if (position < size) {
      const Claim claim{
          position, std::min({bytes, size - position, round_down(buffer.size(), element_bytes_)})};
      source->fill(buffer, claim);
      make_alike_and_check(buffer.first(claim.bytes), element_bytes_, floats_);
      return claim.bytes;
    }
    position -= size;
  }
  throw Error(ErrorKind::kUsage, "reading again", "the inputs end before that");
}

// Reads elements of files without taking them from the sequence.
void Reader::sample_sequence(std::uint64_t position, ByteSpan to) const {
  for (const auto& source : sources_) {
    if (to.empty()) return;
    const std::uint64_t size = *source->size();
    if (position >= size) {
      position -= size;
      continue;
    }
    const std::size_t here = std::min<std::uint64_t>(to.size(), size - position);
    source->sample_at(to.first(here), position);
    to = to.subspan(here);
    position = 0;
  }
}

std::vector<std::string> Reader::notes() const {
  std::vector<std::string> notes;
  for (const auto& source : sources_) {
    std::string note = source->note();
    if (!note.empty()) notes.push_back(std::move(note));
  }
  return notes;
}

std::uint64_t Reader::in_records(std::uint64_t bytes) const {
  if (!numbering_) return bytes;
  return bytes / numbering_->element_bytes * numbering_->record_bytes();
}

std::uint64_t Reader::in_elements(std::uint64_t bytes) const {
  if (!numbering_) return bytes;
  return bytes / numbering_->record_bytes() * numbering_->element_bytes;
}

}  // namespace gsort::io
