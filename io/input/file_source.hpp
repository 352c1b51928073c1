// FileSource: raw elements in a regular file or block device, behind a header. Claims cost nothing;
// many threads read at once. The rows of an array in Fortran order are collected from its columns.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "form/file_form.hpp"
#include "io/input/source.hpp"

namespace gsort::io {

// An array of two dimensions, stored column by column. By default, arrays are stored row by row.
struct Columns {
  std::uint64_t rows = 0;
  std::uint64_t count = 1;
  std::size_t number_bytes = 1;
};

class FileSource final : public Source {
 public:
  // The elements are all bytes behind the first `header_bytes`. `promised_elements`: their
  // number, as the header says. With columns, the input is not read directly.
  // Throws: Error(kInput) when the file is shorter than the header.
  FileSource(std::unique_ptr<Input> opened, std::uint64_t header_bytes,
             std::uint64_t promised_elements, const Columns& columns = {});

  // `form` says where the elements are. If `keep_header`, header() returns the bytes before them.
  // Throws: Error(kInput) when the file is shorter than header and trailer.
  FileSource(std::unique_ptr<Input> opened, const InputForm& form, bool keep_header);

  void park() override { input().park(); }
  void begin(const ElementForm& form) override;
  [[nodiscard]] Filling filling() const override { return Filling::kByOffset; }
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return size_; }
  [[nodiscard]] Claim claim(ByteSpan room, std::size_t wanted_bytes) override;
  void fill(ByteSpan room, const Claim& claim) override;
  [[nodiscard]] bool at_end() const override { return taken_ == size_; }
  void skip(std::uint64_t bytes) override { taken_ += bytes; }
  [[nodiscard]] bool rewind() override {
    taken_ = 0;
    return true;
  }
  void sample_at(ByteSpan to, std::uint64_t at) override;
  [[nodiscard]] ConstByteSpan header() const override { return header_; }
  [[nodiscard]] std::vector<std::byte> trailer() override;

 private:
  void read_rows(ByteSpan to, std::uint64_t at);
  void look_at_beginning(const ElementForm& form);
  [[nodiscard]] std::uint64_t file_offset(std::uint64_t at) const;

  std::uint64_t first_ = 0;  // byte of the input
  std::uint64_t size_ = 0;
  std::vector<std::byte> header_;
  std::optional<std::uint64_t> promised_elements_;
  Columns columns_;
  InputForm form_;
  std::size_t element_bytes_ = 1;
  std::uint64_t taken_ = 0;
};

}  // namespace gsort::io
