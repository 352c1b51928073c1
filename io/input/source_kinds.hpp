// Makes the kinds of sources of files; open_source.hpp chooses among them. `opened` is the file or
// pipe, `content` its content, read up to the first element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "form/file_form.hpp"
#include "io/input/content_stream.hpp"
#include "io/input/source.hpp"

namespace gsort::io {

// An array of two dimensions, stored column by column. By default, arrays are stored row by row.
struct Columns {
  std::uint64_t rows = 0;
  std::uint64_t count = 1;
  std::size_t number_bytes = 1;
};

// `form` says where the elements are. If `keep_header`, header() returns the bytes before them.
// `promised_elements`: their number, as a header says. With columns, the input is not read
// directly. Throws: Error(kInput) when the file is shorter than header and trailer.
[[nodiscard]] std::unique_ptr<Source> make_file_source(
    std::unique_ptr<Input> opened, const InputForm& form, bool keep_header,
    std::optional<std::uint64_t> promised_elements = {}, const Columns& columns = {});

// `promised_elements`: the number of elements according to a header; none if no header says it, but
// `form` may (--elements).
[[nodiscard]] std::unique_ptr<Source> make_stream_source(
    std::unique_ptr<Input> opened, std::unique_ptr<ContentStream> content,
    std::optional<std::uint64_t> promised_elements, const InputForm& form = {});

[[nodiscard]] std::unique_ptr<Source> make_text_source(std::unique_ptr<Input> opened,
                                                       std::unique_ptr<ContentStream> content);

}  // namespace gsort::io
