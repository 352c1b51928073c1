#include "io/input/open_source.hpp"

#include <utility>

#include "base/checked.hpp"
#include "form/npy.hpp"
#include "io/input/content_stream.hpp"
#include "io/input/file_source.hpp"
#include "io/input/stream_source.hpp"
#include "io/input/text_source.hpp"

namespace gsort::io {
namespace {

// Whether the bytes of the file are what it holds, so that they can be read at any offset. A pipe
// is not waited for to learn whether it is compressed.
bool is_plain_file(const Input& input, ContentStream& content) {
  return !input.is_stream() && content.codec() == Codec::kNone;
}

std::unique_ptr<Source> open_array(std::unique_ptr<Input> input,
                                   std::unique_ptr<ContentStream> content, const NpyHeader& header,
                                   DirectIo direct_io) {
  const std::uint64_t promised = checked_product(header.elements, header.array.element_bytes());
  if (!is_plain_file(*input, *content)) {
    content->pause();  // other inputs may come first
    return std::make_unique<StreamSource>(std::move(input), std::move(content), promised);
  }
  if (input->size() - header.header_bytes != promised) {
    throw wrong_array_size(input->path(), promised, input->size() - header.header_bytes);
  }
  input->choose_way(direct_io);
  return std::make_unique<FileSource>(std::move(input), header.header_bytes, false);
}

std::unique_ptr<Source> open_npy(std::unique_ptr<Input> input,
                                 std::unique_ptr<ContentStream> content, DirectIo direct_io) {
  NpyHeader header = read_npy_header(*content, input->path());
  auto source = open_array(std::move(input), std::move(content), header, direct_io);
  source->set_stored(std::move(header.array));
  return source;
}

std::unique_ptr<Source> open_raw(std::unique_ptr<Input> input,
                                 std::unique_ptr<ContentStream> content, const InputForm& form,
                                 DirectIo direct_io, bool keep_header) {
  if (!is_plain_file(*input, *content)) {
    return std::make_unique<StreamSource>(std::move(input), std::move(content));
  }
  input->choose_way(direct_io);
  return std::make_unique<FileSource>(std::move(input), form.skip_bytes, keep_header);
}

}  // namespace

std::unique_ptr<Source> open_source(const std::string& path, const InputForm& form,
                                    DirectIo direct_io, bool keep_header) {
  auto input = std::make_unique<Input>(path);
  const FileFormat format =
      form.format ? *form.format : format_of_path(path).value_or(FileFormat::kBinary);
  if (format == FileFormat::kNpy && form.skip_bytes > 0) {
    throw Error(ErrorKind::kUsage, "--skip with " + path, "a .npy file has a header of its own")
        .hint("leave out --skip; --format=bin reads it as raw keys");
  }
  auto content = std::make_unique<ContentStream>(*input, form.codec, form.skip_bytes);
  switch (format) {
    case FileFormat::kText:
      return std::make_unique<TextSource>(std::move(input), std::move(content));
    case FileFormat::kNpy:
      return open_npy(std::move(input), std::move(content), direct_io);
    case FileFormat::kBinary:
      break;
  }
  return open_raw(std::move(input), std::move(content), form, direct_io, keep_header);
}

}  // namespace gsort::io
