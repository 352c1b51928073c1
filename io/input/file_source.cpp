#include "io/input/file_source.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/units.hpp"
#include "element/record_format.hpp"
#include "form/counted_file.hpp"
#include "io/input/foreign_form.hpp"

namespace gsort::io {

FileSource::FileSource(std::unique_ptr<Input> opened, std::uint64_t header_bytes,
                       std::uint64_t promised_elements, const Columns& columns)
    : FileSource(std::move(opened), {.skip_bytes = header_bytes}, false) {
  promised_elements_ = promised_elements;
  columns_ = columns;
}

FileSource::FileSource(std::unique_ptr<Input> opened, const InputForm& form, bool keep_header)
    : Source(std::move(opened)), first_(form.skip_bytes.value_or(0)), form_(form) {
  if (input().size() < first_ + form.skip_end_bytes) {
    throw shorter_than_header(path(), input().size(), first_, form.skip_end_bytes);
  }
  size_ = input().size() - first_ - form.skip_end_bytes;
  if (!keep_header) return;
  header_.resize(first_);
  input().read_at(header_, header_.size(), 0);
}

std::vector<std::byte> FileSource::trailer() {
  std::vector<std::byte> trailer(input().size() - first_ - size_);
  input().read_at(trailer, trailer.size(), first_ + size_);
  return trailer;
}

std::uint64_t FileSource::file_offset(std::uint64_t at) const {
  return input().base_offset() + first_ + at;
}

void FileSource::begin(const ElementForm& form) {
  element_bytes_ = form.bytes;
  look_at_beginning(form);
  if (promised_elements_) {
    const std::uint64_t promised =
        promised_bytes(path(), *promised_elements_ / columns(), form.bytes);
    if (size_ != promised) throw wrong_array_size(path(), promised, size_, stored().has_value());
  }
  if (form_.elements) {
    size_ = bytes_of_elements(path(), *form_.elements, form.bytes, size_, form_.skip_end_bytes > 0);
  }
  if (size_ % form.bytes != 0) throw odd_tail(path(), file_offset(0), size_, form);
}

void FileSource::look_at_beginning(const ElementForm& form) {
  const bool may_have_header = !form_.skip_bytes;
  if (may_have_header) refuse_known_layout(input(), form);
  refuse_foreign_name(path(), form, true);
  if (!form.type_is_assumed && !may_have_header) return;
  alignas(kDirectAlignment) std::array<std::byte, kForeignFormBytes> room;
  const std::size_t bytes = std::min<std::uint64_t>(size_, room.size());
  input().read_at(room, bytes, first_);
  if (may_have_header) refuse_npy_header(path(), ConstByteSpan(room).first(bytes));
  refuse_foreign_bytes(path(), form, ConstByteSpan(room).first(bytes));
}

Claim FileSource::claim(ByteSpan /*room*/, std::size_t wanted_bytes) {
  std::size_t bytes = std::min<std::uint64_t>(wanted_bytes, size_ - taken_);
  const std::uint64_t excess = file_offset(taken_ + bytes) % kDirectAlignment;
  // Cut short so that the next block starts where direct reads can.
  const bool cut = input().is_direct() && taken_ + bytes < size_ && excess < bytes &&
                   excess % element_bytes_ == 0;
  if (cut) bytes -= excess;
  return {std::exchange(taken_, taken_ + bytes), bytes};
}

void FileSource::fill(ByteSpan room, const Claim& claim) {
  if (columns_.rows > 0) return read_rows(room.first(claim.bytes), claim.begin);
  input().read_at(room, claim.bytes, first_ + claim.begin);
}

// Reads numbers, counted along rows, from byte `at` on, column by column. One read takes several
// short columns.
void FileSource::read_rows(ByteSpan to, std::uint64_t at) {
  constexpr std::uint64_t kShortBytes = 4 * kKiB;
  const std::uint64_t columns = columns_.count;
  const std::size_t number_bytes = columns_.number_bytes;
  const std::uint64_t begin = at / number_bytes;
  const std::uint64_t end = begin + to.size() / number_bytes;
  // The place in the file of the first number of `column` that is not before `number`.
  const auto place_of = [&](std::uint64_t number, std::uint64_t column) {
    return column * columns_.rows + number / columns + (number % columns > column ? 1 : 0);
  };
  std::array<std::byte, RecordFormat::kMostBytes> numbers;
  const std::uint64_t column_bytes = columns_.rows * number_bytes;
  const std::uint64_t most_columns =
      column_bytes <= kShortBytes ? numbers.size() / column_bytes : 1;
  std::uint64_t column = begin % columns;
  std::uint64_t left = std::min(columns, end - begin);
  while (left > 0) {
    const std::uint64_t last = std::min({column + most_columns, column + left, columns});
    const std::uint64_t places_end = place_of(end, last - 1);
    std::uint64_t next = 0;
    for (std::uint64_t place = place_of(begin, column); place < places_end; place = next) {
      next = std::min<std::uint64_t>(places_end, place + numbers.size() / number_bytes);
      input().read_at(numbers, (next - place) * number_bytes, first_ + place * number_bytes);
      for (std::uint64_t of = column; of < last; ++of) {
        const std::uint64_t most = std::min(next, place_of(end, of));
        for (std::uint64_t i = std::max(place, place_of(begin, of)); i < most; ++i) {
          const std::uint64_t number = (i - of * columns_.rows) * columns + of;
          std::memcpy(to.data() + (number - begin) * number_bytes,
                      numbers.data() + (i - place) * number_bytes, number_bytes);
        }
      }
    }
    left -= last - column;
    column = last % columns;
  }
}

void FileSource::sample_at(ByteSpan to, std::uint64_t at) {
  if (columns_.rows > 0) return read_rows(to, at);
  // Through aligned pages, which direct reads need; each place is about a page.
  alignas(kDirectAlignment) std::array<std::byte, 2 * kDirectAlignment> pages;
  std::size_t done = 0;
  while (done < to.size()) {
    const std::uint64_t from = first_ + at + done;
    const std::uint64_t lead =
        std::min<std::uint64_t>((input().base_offset() + from) % kDirectAlignment, from);
    const std::size_t bytes = std::min<std::uint64_t>(to.size() - done, pages.size() - lead);
    input().read_at(pages, lead + bytes, from - lead);
    std::memcpy(to.data() + done, pages.data() + lead, bytes);
    done += bytes;
  }
}

}  // namespace gsort::io
