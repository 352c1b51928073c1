#include "options/form_options.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "form/foreign_form.hpp"
#include "options/option_values.hpp"

namespace gsort {
namespace {

constexpr Choice<FileFormat> kFormats[] = {{"bin", FileFormat::kBinary},
                                           {"text", FileFormat::kText},
                                           {"npy", FileFormat::kNpy},
                                           {"sosd", FileFormat::kSosd}};
#define GSORT_CHOICE(codec, name, ...) {name, Codec::codec},
constexpr Choice<std::optional<Codec>> kDecoders[] = {
    {"auto", std::nullopt}, {"none", Codec::kNone}, GSORT_CODECS(GSORT_CHOICE)};
constexpr Choice<Codec> kEncoders[] = {{"none", Codec::kNone}, GSORT_CODECS(GSORT_CHOICE)};
#undef GSORT_CHOICE

int parse_level(Codec codec, std::string_view text, std::string_view option_value) {
  const CodecLevels levels = levels_of(codec);
  const auto level = whole_number<int>(text);
  if (level && *level >= levels.least && *level <= levels.most) return *level;
  throw Error(ErrorKind::kUsage, fmt::format("--compress '{}'", option_value),
              fmt::format("'{}' is not a level of {}", text, name_of(codec)))
      .hint(codec == Codec::kNone ? "none has no level"
                                  : fmt::format("its levels are {} to {}, {} if none is given",
                                                levels.least, levels.most, levels.usual));
}

std::vector<std::string> written_suffixes() {
  std::vector<std::string> suffixes;
  for (const Codec codec : kAllCodecs) suffixes.push_back(fmt::format(".{}", suffix_of(codec)));
  return suffixes;
}

}  // namespace

void set_format(Options& options, std::string_view value) {
  const auto colon = value.find(':');
  const std::string_view in = value.substr(0, colon);
  options.input_form.format = parse_choice(in, kFormats, "--format");
  options.output_format = colon == std::string_view::npos
                              ? options.input_form.format
                              : parse_choice(value.substr(colon + 1), kFormats, "--format");
}

void set_skip(Options& options, std::string_view value) {
  const auto bytes = parse_bytes(value, kMostSkipBytes);
  if (!bytes) {
    throw Error(ErrorKind::kUsage, fmt::format("--skip '{}'", value), "is not a valid header size")
        .hint(fmt::format("a header has 0 to {} bytes", kMostSkipBytes));
  }
  options.input_form.skip_bytes = *bytes;
}

void set_skip_end(Options& options, std::string_view value) {
  const auto bytes = parse_bytes(value, kMostSkipBytes);
  if (!bytes) {
    throw Error(ErrorKind::kUsage, fmt::format("--skip-end '{}'", value), "is not a valid size")
        .hint(fmt::format("0 to {} bytes may follow the elements", kMostSkipBytes));
  }
  options.input_form.skip_end_bytes = *bytes;
}

void set_decompress(Options& options, std::string_view value) {
  options.input_form.codec = parse_choice(value, kDecoders, "--decompress");
}

void set_compress(Options& options, std::string_view value) {
  const auto colon = value.find(':');
  const Codec codec = parse_choice(value.substr(0, colon), kEncoders, "--compress");
  options.compress = codec;
  options.compress_level = colon == std::string_view::npos
                               ? levels_of(codec).usual
                               : parse_level(codec, value.substr(colon + 1), value);
}

void refuse_output_name(const Options& options) {
  const std::string path = options.output.value_or("");
  const std::string what = fmt::format("--output '{}'", path);
  if (options.each && path == options.inputs.front()) return;  // keeps its name
  if (!options.compress && once_decompressed(path)) {
    throw Error(ErrorKind::kUsage, what,
                "has two compression suffixes, but the output is compressed once")
        .hint(fmt::format("name it with one of them, or add --compress={}",
                          name_of(*codec_of_path(path))));
  }
  constexpr bool kIsPlain = true;
  const auto foreign = foreign_form_of_path(path, kIsPlain);
  const bool is_replaced = std::ranges::find(options.inputs, path) != options.inputs.end();
  const bool is_asked =
      options.output_format || (options.compress && foreign && !foreign->command.empty());
  if (!foreign || is_replaced || is_asked) return;
  throw Error(ErrorKind::kUsage, what,
              fmt::format("its suffix is that of {}, which gsort does not write", foreign->name))
      .hint(fmt::format("gsort writes .txt, .npy, {} and raw keys under other names; --format=bin "
                        "writes raw keys under this name",
                        fmt::join(written_suffixes(), ", ")));
}

OutputForm output_form(const Options& options) {
  const std::string_view path = options.output ? std::string_view(*options.output) : "";
  OutputForm form;
  if (options.output_format) {
    form.format = *options.output_format;
  } else if (const auto named = format_of_path(path)) {
    form.format = *named;
  } else {
    InputForm by_name = options.input_form;
    by_name.format.reset();
    form.format = format_of_input(by_name, options.inputs.front());
  }
  form.codec = options.compress ? *options.compress : codec_of_path(path).value_or(Codec::kNone);
  const CodecLevels levels = levels_of(form.codec);
  const bool is_given = options.compress && options.compress_level >= levels.least;
  form.level = is_given ? options.compress_level : levels.usual;
  return form;
}

InputForm form_of_job(std::string_view description) {
  InputForm form;
  for (const auto& [name, format] : kFormats) {
    if (description.find(fmt::format("; input as {},", name)) != description.npos) {
      form.format = format;
    }
  }
  for (const auto& [name, codec] : kDecoders) {
    if (description.find(fmt::format(", {}; skip", name)) != description.npos) form.codec = codec;
  }
  return form;
}

}  // namespace gsort
