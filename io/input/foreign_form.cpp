#include "io/input/foreign_form.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "form/file_form.hpp"
#include "form/known_layout.hpp"
#include "io/codecs/decompress.hpp"

namespace gsort::io {
namespace {

std::string_view text_of(ConstByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The end of a hint.
std::string as_it_is(const ElementForm& form) {
  return fmt::format("; -t {} sorts its bytes as they are", name_of(form.key.type));
}

void refuse(const std::string& path, const ElementForm& form, std::string_view looks,
            const std::optional<ForeignForm>& found) {
  if (!found || (!found->command.empty() && form.keeps_compression)) return;
  const char* const lacks_type = form.type_is_assumed ? ", and no type was given" : "";
  throw Error(ErrorKind::kInput, "reading", fmt::format("{} {}{}", looks, found->name, lacks_type))
      .path(path)
      .hint(way_out_of(*found, path) + (found->needs_layout ? "" : as_it_is(form)));
}

}  // namespace

std::optional<ForeignForm> foreign_form_of_bytes(ConstByteSpan first_bytes) {
  if (const auto found = gsort::foreign_form_of_bytes(text_of(first_bytes))) return found;
  const Codec codec = codec_of_bytes(first_bytes);
  const bool is_sure = codec == Codec::kBzip2 || codec == Codec::kXz;
  return is_sure ? std::optional(form_of_codec(codec)) : std::nullopt;
}

void refuse_foreign_codec(const std::string& path, Codec codec) {
  constexpr bool kMayBeCompressed = false;
  const auto found = foreign_form_of_path(path, kMayBeCompressed);
  if (!found || found->command.empty() || once_decompressed(path)) return;
  if (codec != Codec::kNone && !codec_of_path(path)) return;
  throw Error(ErrorKind::kInput, "reading", fmt::format("its name is that of {}", found->name))
      .path(path)
      .hint(fmt::format("{}; --decompress=none reads its bytes as they are",
                        way_out_of(*found, path)));
}

void refuse_foreign_name(const std::string& path, const ElementForm& form, bool is_plain) {
  const auto found = foreign_form_of_path(path, is_plain);
  const bool is_of_content = is_plain || (found && found->command.empty());
  if (form.type_is_assumed && is_of_content) refuse(path, form, "its name is that of", found);
}

std::optional<ForeignForm> refuse_foreign_bytes(const std::string& path, const ElementForm& form,
                                                ConstByteSpan first_bytes) {
  const auto found = foreign_form_of_bytes(first_bytes);
  if (form.type_is_assumed || (found && found->needs_layout)) {
    refuse(path, form, "it looks like", found);
  }
  return found;
}

void refuse_known_layout(Input& input, const ElementForm& form) {
  const auto read = [&](std::uint64_t at, std::size_t bytes) {
    std::string found(std::min<std::uint64_t>(bytes, input.size() - std::min(at, input.size())), 0);
    if (!found.empty()) input.read_at(std::as_writable_bytes(std::span(found)), found.size(), at);
    return found;
  };
  constexpr std::size_t kFewBytes = 16;
  const bool needs_layout = is_fits(read(0, kFewBytes));
  if (!form.type_is_assumed && !needs_layout) return;
  const auto layout = layout_of(input.path(), input.size(), read);
  if (!layout) return;
  throw Error(ErrorKind::kInput, "reading", fmt::format("it is laid out as {}", layout->name))
      .path(input.path())
      .hint(fmt::format("use: {}{}", layout->options, needs_layout ? "" : as_it_is(form)));
}

void refuse_npy_header(const std::string& path, ConstByteSpan first_bytes) {
  const auto bytes = npy_header_bytes(text_of(first_bytes));
  if (!bytes) return;
  throw Error(ErrorKind::kInput, "reading", "it begins with the header of a NumPy array")
      .path(path)
      .hint(
          fmt::format("--format=npy sorts the array; --format=bin --skip={} sorts the bytes behind "
                      "its header, and copies that",
                      *bytes));
}

}  // namespace gsort::io
