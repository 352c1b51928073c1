// Raw elements in a regular file or block device, behind a header.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "element/record_format.hpp"
#include "form/counted_file.hpp"
#include "io/input/foreign_form.hpp"
#include "io/input/source_kinds.hpp"

namespace gsort::io {
namespace {

// Claims cost nothing; many threads read at once. The rows of an array in Fortran order are
// collected from its columns.
class FileSource final : public Source {
 public:
  FileSource(std::unique_ptr<Input> opened, const InputForm& form, bool keep_header,
             std::optional<std::uint64_t> promised_elements, const Columns& columns)
      : Source(std::move(opened)),
        first_(form.skip_bytes.value_or(0)),
        promised_elements_(promised_elements),
        columns_(columns),
        form_(form) {
    if (input().size() < first_ + form.skip_end_bytes) {
      throw shorter_than_header(path(), input().size(), first_, form.skip_end_bytes);
    }
    size_ = input().size() - first_ - form.skip_end_bytes;
    if (!keep_header) return;
    header_.resize(first_);
    input().read_at(header_, header_.size(), 0);
  }

  void park() override { input().park(); }

  void begin(const ElementForm& form) override {
    element_bytes_ = form.bytes;
    look_at_beginning(form);
    if (promised_elements_) {
      const std::uint64_t promised =
          promised_bytes(path(), *promised_elements_ / columns(), form.bytes);
      if (size_ != promised) throw wrong_array_size(path(), promised, size_, stored().has_value());
    }
    if (form_.elements) {
      size_ =
          bytes_of_elements(path(), *form_.elements, form.bytes, size_, form_.skip_end_bytes > 0);
    }
    if (size_ % form.bytes != 0) throw odd_tail(path(), file_offset(0), size_, form, looks_like_);
  }

  [[nodiscard]] Filling filling() const override { return Filling::kByOffset; }
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return size_; }

  [[nodiscard]] Claim claim(ByteSpan /*room*/, std::size_t wanted_bytes) override {
    std::size_t bytes = std::min<std::uint64_t>(wanted_bytes, size_ - taken_);
    const std::uint64_t excess = file_offset(taken_ + bytes) % kDirectAlignment;
    // Cut short so that the next block starts where direct reads can.
    const bool cut = input().is_direct() && taken_ + bytes < size_ && excess < bytes &&
                     excess % element_bytes_ == 0;
    if (cut) bytes -= excess;
    return {std::exchange(taken_, taken_ + bytes), bytes};
  }

  void fill(ByteSpan room, const Claim& claim) override {
    if (columns_.rows > 0) return read_rows(room.first(claim.bytes), claim.begin);
    input().read_at(room, claim.bytes, first_ + claim.begin);
  }

  [[nodiscard]] bool at_end() const override { return taken_ == size_; }
  void skip(std::uint64_t bytes) override { taken_ += bytes; }
  [[nodiscard]] bool rewind() override {
    taken_ = 0;
    return true;
  }

  void sample_at(ByteSpan to, std::uint64_t at) override {
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

  [[nodiscard]] ConstByteSpan header() const override { return header_; }
  [[nodiscard]] std::vector<std::byte> trailer() override {
    std::vector<std::byte> trailer(input().size() - first_ - size_);
    input().read_at(trailer, trailer.size(), first_ + size_);
    return trailer;
  }

 private:
  void look_at_beginning(const ElementForm& form) {
    const bool may_have_header = !form_.skip_bytes;
    if (may_have_header) refuse_known_layout(input(), form);
    refuse_foreign_name(path(), form, true);
    if (!form.type_is_assumed && !may_have_header) return;
    alignas(kDirectAlignment) std::array<std::byte, kForeignFormBytes> room;
    const std::size_t bytes = std::min<std::uint64_t>(size_, room.size());
    input().read_at(room, bytes, first_);
    if (may_have_header) refuse_npy_header(path(), ConstByteSpan(room).first(bytes));
    looks_like_ = refuse_foreign_bytes(path(), form, ConstByteSpan(room).first(bytes));
  }

  // Reads numbers, counted along rows, from byte `at` on, column by column. One read takes several
  // short columns.
  void read_rows(ByteSpan to, std::uint64_t at) {
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

  [[nodiscard]] std::uint64_t file_offset(std::uint64_t at) const {
    return input().base_offset() + first_ + at;
  }

  std::uint64_t first_;  // byte of the input
  std::uint64_t size_ = 0;
  std::vector<std::byte> header_;
  std::optional<std::uint64_t> promised_elements_;
  Columns columns_;
  InputForm form_;
  std::optional<ForeignForm> looks_like_;
  std::size_t element_bytes_ = 1;
  std::uint64_t taken_ = 0;
};

}  // namespace

std::unique_ptr<Source> make_file_source(std::unique_ptr<Input> opened, const InputForm& form,
                                         bool keep_header,
                                         std::optional<std::uint64_t> promised_elements,
                                         const Columns& columns) {
  return std::make_unique<FileSource>(std::move(opened), form, keep_header, promised_elements,
                                      columns);
}

}  // namespace gsort::io
