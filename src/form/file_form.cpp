#include "form/file_form.hpp"

#include <array>
#include <string>

#include "form/foreign_form.hpp"
#include "form/type_name.hpp"

namespace gsort {
namespace {

constexpr std::array<std::string_view, 4> kFormatNames = {"bin", "text", "npy", "sosd"};

std::string_view without_suffix(std::string_view path) {
  return path.substr(0, path.size() - suffix_of(path).size() - 1);
}

// By its name, the file holds data of a codec that gsort does not read. Other data may be in it.
bool has_foreign_codec(std::string_view path) {
  constexpr bool kIsPlain = true;
  const auto foreign = foreign_form_of_path(path, kIsPlain);
  return foreign && !foreign->command.empty();
}

std::string_view without_codec_suffix(std::string_view path) {
  return codec_of_path(path) || has_foreign_codec(path) ? without_suffix(path) : path;
}

}  // namespace

std::string_view suffix_of(std::string_view path) {
  const auto dot = path.rfind('.');
  if (dot == std::string_view::npos || path.find('/', dot) != std::string_view::npos) return {};
  return path.substr(dot + 1);
}

std::string_view name_of(FileFormat format) {
  return kFormatNames.at(static_cast<std::size_t>(format));
}

std::optional<Codec> codec_of_path(std::string_view path) {
  const std::string suffix = lower_case(suffix_of(path));
  for (const Codec codec : kAllCodecs) {
    if (suffix == suffix_of(codec)) return codec;
  }
  return std::nullopt;
}

std::optional<std::string_view> once_decompressed(std::string_view path) {
  if (!codec_of_path(path)) return std::nullopt;
  const std::string_view inner = without_suffix(path);
  return codec_of_path(inner) ? std::optional(inner) : std::nullopt;
}

std::optional<FileFormat> format_of_path(std::string_view path) {
  const std::string suffix = lower_case(suffix_of(without_codec_suffix(path)));
  if (suffix == "txt") return FileFormat::kText;
  if (suffix == "npy") return FileFormat::kNpy;
  if (suffix == "bin" || suffix == "raw" || key_type_of_path(path)) return FileFormat::kBinary;
  return std::nullopt;
}

bool is_read_compressed(const InputForm& form, std::string_view path) {
  return form.codec == Codec::kNone && (codec_of_path(path) || has_foreign_codec(path));
}

FileFormat format_of_input(const InputForm& form, std::string_view path) {
  if (!form.format && is_read_compressed(form, path)) return FileFormat::kBinary;
  return form.format.value_or(format_of_path(path).value_or(FileFormat::kBinary));
}

std::string_view without_form_suffixes(std::string_view path) {
  path = without_codec_suffix(path);
  const std::string suffix = lower_case(suffix_of(path));
  return suffix == "txt" || suffix == "npy" ? without_suffix(path) : path;
}

std::optional<KeyType> key_type_of_path(std::string_view path) {
  const auto named = type_named(suffix_of(without_form_suffixes(path)));
  return named && !named->big_endian ? std::optional(named->type) : std::nullopt;
}

}  // namespace gsort
