#include "io/input/open_source.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "form/counted_file.hpp"
#include "form/npy.hpp"
#include "form/npy_literal.hpp"
#include "io/input/content_stream.hpp"
#include "io/input/source_kinds.hpp"

namespace gsort::io {
namespace {

// Whether the file is not compressed and can be read at any offset. Does not wait for a pipe to
// learn whether it is compressed.
bool is_plain_file(const Input& input, ContentStream& content) {
  return !input.is_stream() && content.codec() == Codec::kNone;
}

// `elements`: how many follow the header, which has been read.
std::unique_ptr<Source> open_counted(std::unique_ptr<Input> input,
                                     std::unique_ptr<ContentStream> content,
                                     std::uint64_t header_bytes, std::uint64_t elements,
                                     const WayToRead& way) {
  if (!is_plain_file(*input, *content)) {
    content->pause();  // other inputs may come first
    return make_stream_source(std::move(input), std::move(content), elements);
  }
  input->choose_way(way);
  return make_file_source(std::move(input), {.skip_bytes = header_bytes}, false, elements);
}

// Requires: the array has rows and columns.
std::unique_ptr<Source> open_columns(std::unique_ptr<Input> input, ContentStream& content,
                                     const NpyHeader& header) {
  if (!is_plain_file(*input, content)) {
    throw bad_array(input->path(), "the array is in Fortran order, and compressed or in a pipe",
                    "give the file itself, decompressed");
  }
  input->choose_way({DirectIo::kOff});
  const Columns columns{header.column_elements, header.array.row_elements,
                        header.array.element_bytes()};
  return make_file_source(std::move(input), {.skip_bytes = header.header_bytes}, false,
                          header.elements, columns);
}

std::unique_ptr<Source> open_npy(std::unique_ptr<Input> input,
                                 std::unique_ptr<ContentStream> content, const WayToRead& way) {
  NpyHeader header = read_npy_header(*content, input->path());
  auto source = header.column_elements > 1
                    ? open_columns(std::move(input), *content, header)
                    : open_counted(std::move(input), std::move(content), header.header_bytes,
                                   header.elements, way);
  source->set_stored(std::move(header.array));
  return source;
}

std::unique_ptr<Source> open_sosd(std::unique_ptr<Input> input,
                                  std::unique_ptr<ContentStream> content, const WayToRead& way) {
  const std::uint64_t elements = read_sosd_header(*content, input->path());
  return open_counted(std::move(input), std::move(content), kSosdHeaderBytes, elements, way);
}

std::unique_ptr<Source> open_raw(std::unique_ptr<Input> input,
                                 std::unique_ptr<ContentStream> content, const InputForm& form,
                                 const WayToRead& way, bool keep_header) {
  if (!is_plain_file(*input, *content)) {
    return make_stream_source(std::move(input), std::move(content), std::nullopt, form);
  }
  input->choose_way(way);
  return make_file_source(std::move(input), form, keep_header);
}

// Raw elements take --skip, --skip-end and --elements; text takes the first two; others take none.
void refuse_skipping(const std::string& path, const InputForm& form, FileFormat format) {
  const std::string_view given = form.skip_bytes > 0       ? "--skip"
                                 : form.skip_end_bytes > 0 ? "--skip-end"
                                 : form.elements           ? "--elements"
                                                           : "";
  if (has_header(format) && !given.empty()) {
    throw Error(ErrorKind::kUsage, fmt::format("{} with {}", given, path),
                format == FileFormat::kNpy ? "a .npy file has a header of its own"
                                           : "a SOSD file has a header of its own")
        .hint(fmt::format("leave out {}: its header is known", given));
  }
  if (format == FileFormat::kText && form.elements) {
    throw Error(ErrorKind::kUsage, "--elements with " + path, "lines of text differ in length")
        .hint("leave out --elements; --skip-end says how many bytes follow the numbers");
  }
}

}  // namespace

std::unique_ptr<Source> open_source(const std::string& path, const InputForm& form,
                                    const WayToRead& way, bool keep_header) {
  auto input = std::make_unique<Input>(path);
  const FileFormat format = format_of_input(form, path);
  refuse_skipping(path, form, format);
  auto content = std::make_unique<ContentStream>(*input, form);
  switch (format) {
    case FileFormat::kText:
      return make_text_source(std::move(input), std::move(content));
    case FileFormat::kNpy:
      return open_npy(std::move(input), std::move(content), way);
    case FileFormat::kSosd:
      return open_sosd(std::move(input), std::move(content), way);
    case FileFormat::kBinary:
      break;
  }
  return open_raw(std::move(input), std::move(content), form, way, keep_header);
}

}  // namespace gsort::io
