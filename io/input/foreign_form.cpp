#include "io/input/foreign_form.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/quoted.hpp"
#include "form/file_form.hpp"
#include "io/codecs/decompress.hpp"

namespace gsort::io {
namespace {

using namespace std::string_view_literals;

constexpr ForeignForm kText = {"text", "--format=text reads one number a line"};
constexpr ForeignForm kCsv = {
    "a CSV table",
    "cut one column out of it, as with cut -d, -f1, and read that with --format=text"};
constexpr ForeignForm kTsv = {
    "a TSV table", "cut one column out of it, as with cut -f1, and read that with --format=text"};
constexpr ForeignForm kJson = {
    "JSON", "write its numbers one a line, as jq does, and read these with --format=text"};
constexpr ForeignForm kParquet = {"a Parquet file",
                                  "save the column to be sorted as a .npy file, or as raw keys"};
constexpr ForeignForm kArrow = {"an Arrow file",
                                "save the column to be sorted as a .npy file, or as raw keys"};
constexpr ForeignForm kHdf5 = {"an HDF5 file",
                               "save the data set to be sorted as a .npy file, or as raw keys"};
constexpr ForeignForm kNpy = {"a NumPy array", "--format=npy reads it"};
constexpr ForeignForm kZip = {"a zip archive", "unpack it"};
constexpr ForeignForm kNpz = {"an archive of NumPy arrays", "unpack it; .npy files are sorted"};
constexpr ForeignForm k7z = {"a 7z archive", "unpack it"};
constexpr ForeignForm kTar = {"a tar archive", "unpack it"};
constexpr ForeignForm kLz4 = {"lz4 data", "decompress it in a pipe: lz4 -dc FILE | gsort", true};
constexpr ForeignForm kBrotli = {"Brotli data", "decompress it in a pipe: brotli -dc FILE | gsort",
                                 true};
constexpr ForeignForm kLzma = {"lzma data", "decompress it in a pipe: lzma -dc FILE | gsort", true};

struct NamedForm {
  std::string_view suffix;
  ForeignForm form;
};

constexpr NamedForm kNamedForms[] = {{"csv", kCsv},     {"tsv", kTsv},       {"json", kJson},
                                     {"jsonl", kJson},  {"ndjson", kJson},   {"parquet", kParquet},
                                     {"arrow", kArrow}, {"feather", kArrow}, {"h5", kHdf5},
                                     {"hdf5", kHdf5},   {"zip", kZip},       {"npz", kNpz},
                                     {"7z", k7z},       {"tar", kTar},       {"tgz", kTar},
                                     {"tbz2", kTar},    {"txz", kTar},       {"tzst", kTar},
                                     {"lz4", kLz4},     {"br", kBrotli},     {"lzma", kLzma}};

// What gsort decompresses under any name, if that is what it is.
constexpr NamedForm kNamedCodecs[] = {
#define GSORT_FORM(name) \
  { name " data", "decompress it in a pipe: " name " -dc FILE | gsort", true }
#define GSORT_NAMED_FORMS(codec, name, suffix) {name, GSORT_FORM(name)}, {suffix, GSORT_FORM(name)},
    GSORT_CODECS(GSORT_NAMED_FORMS)
#undef GSORT_FORM
#undef GSORT_NAMED_FORMS
};

std::optional<ForeignForm> form_named(std::span<const NamedForm> forms, std::string_view suffix) {
  const auto found = std::ranges::find(forms, suffix, &NamedForm::suffix);
  return found == forms.end() ? std::nullopt : std::optional(found->form);
}

std::string lower_suffix_of(std::string_view path) {
  std::string suffix(suffix_of(path));
  std::ranges::transform(suffix, suffix.begin(), [](unsigned char c) { return std::tolower(c); });
  return suffix;
}

// The first bytes as characters, for comparisons.
class FirstBytes {
 public:
  explicit FirstBytes(ConstByteSpan bytes)
      : text_(reinterpret_cast<const char*>(bytes.data()), bytes.size()) {}

  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] bool has(std::size_t at, std::string_view wanted) const {
    return text_.size() >= at && text_.substr(at).starts_with(wanted);
  }
  // 0 behind the end.
  [[nodiscard]] unsigned byte(std::size_t at) const {
    return at < text_.size() ? static_cast<unsigned char>(text_[at]) : 0U;
  }
  [[nodiscard]] bool has_one_of(std::size_t at, std::string_view wanted) const {
    return at < text_.size() && wanted.find(text_[at]) != std::string_view::npos;
  }

 private:
  std::string_view text_;
};

// The header of a page follows: its type, then its size, each with the tag of a 32-bit integer.
bool is_parquet(const FirstBytes& first) {
  return first.has(0, "PAR1\x15"sv) && first.has_one_of(5, "\x00\x02\x04\x06"sv) &&
         first.has(6, "\x15"sv);
}

// The version that is needed, flags, and one of the methods of compression that there are.
bool is_zip(const FirstBytes& first) {
  constexpr unsigned kLatestVersion = 63;
  return first.has(0, "PK\x03\x04"sv) && first.byte(4) <= kLatestVersion && first.has(5, "\0"sv) &&
         first.has_one_of(8, "\x00\x08\x09\x0c\x0e\x5d\x5f\x62\x63"sv) && first.has(9, "\0"sv);
}

// A frame's flags and the size of its blocks, whose checksum follows them.
bool is_lz4(const FirstBytes& first) {
  const unsigned flags = first.byte(4);
  const unsigned block_size = first.byte(5);
  const bool can_be = (flags & 0xc2U) == 0x40 && (block_size & 0x8fU) == 0 && block_size >= 0x40;
  const std::size_t bytes =
      2U + ((flags & 0x08U) != 0 ? 8U : 0U) + ((flags & 0x01U) != 0 ? 4U : 0U);
  constexpr std::size_t kMagicBytes = 4;
  if (!first.has(0, "\x04\x22\x4d\x18"sv) || !can_be ||
      first.text().size() <= kMagicBytes + bytes) {
    return false;
  }
  const unsigned hash = XXH32(first.text().data() + kMagicBytes, bytes, 0);
  return first.byte(kMagicBytes + bytes) == (hash >> 8U & 0xffU);
}

bool is_npy(const FirstBytes& first) {
  return first.has(0, "\x93NUMPY"sv) && first.has_one_of(6, "\x01\x02\x03"sv) &&
         first.has(7, "\0"sv);
}

bool is_tar(const FirstBytes& first) {
  constexpr std::size_t kMagicAt = 257;
  return first.has(kMagicAt,
                   "ustar\0"
                   "00"sv) ||
         first.has(kMagicAt, "ustar  \0"sv);
}

// Whether all of it is printable, but for a character that the end cuts.
bool is_printable(std::string_view text) {
  constexpr std::size_t kMostCharacterBytes = 4;
  while (!text.empty()) {
    const bool is_blank = "\t\n\v\f\r"sv.find(text.front()) != std::string_view::npos;
    const std::size_t bytes = is_blank ? 1 : character_bytes(text);
    if (bytes == 0) return text.size() < kMostCharacterBytes && (text.front() & 0x80) != 0;
    text.remove_prefix(bytes);
  }
  return true;
}

bool is_text(std::string_view text) {
  constexpr std::size_t kLeastBytes = 48;
  constexpr std::size_t kLeastBytesOfNumbers = 13;
  if (text.find_first_of("\r\n") == std::string_view::npos) return false;
  if (text.size() >= kLeastBytes) return is_printable(text);
  return text.size() >= kLeastBytesOfNumbers &&
         text.find_first_not_of("0123456789+-.,;eE \t\r\n") == std::string_view::npos;
}

void refuse(const std::string& path, const ElementForm& form, std::string_view looks,
            const std::optional<ForeignForm>& found) {
  if (!found || (found->is_compressed && form.keeps_compression)) return;
  throw Error(ErrorKind::kInput, "reading",
              fmt::format("{} {}, and no type was given", looks, found->name))
      .path(path)
      .hint(fmt::format("{}; -t {} sorts its bytes as they are", found->way_out,
                        name_of(form.key.type)));
}

}  // namespace

std::optional<ForeignForm> foreign_form_of_path(std::string_view path, bool is_plain) {
  if (codec_of_path(path)) {
    path.remove_suffix(suffix_of(path).size() + 1);
    is_plain = true;  // behind that codec
  }
  const std::string suffix = lower_suffix_of(path);
  if (const auto form = form_named(kNamedForms, suffix)) return form;
  return is_plain ? form_named(kNamedCodecs, suffix) : std::nullopt;
}

std::optional<ForeignForm> foreign_form_of_bytes(ConstByteSpan first_bytes) {
  const FirstBytes first(first_bytes);
  if (is_text(first.text())) return kText;
  if (is_npy(first)) return kNpy;
  if (is_parquet(first)) return kParquet;
  if (first.has(0, "ARROW1\0\0"sv)) return kArrow;
  if (first.has(0, "\x89HDF\r\n\x1a\n"sv)) return kHdf5;
  if (is_zip(first)) return kZip;
  if (first.has(0, "7z\xbc\xaf\x27\x1c\x00"sv)) return k7z;
  if (is_tar(first)) return kTar;
  if (is_lz4(first)) return kLz4;
  const Codec codec = codec_of_bytes(first_bytes);
  const bool is_sure = codec == Codec::kBzip2 || codec == Codec::kXz;
  return is_sure ? form_named(kNamedCodecs, name_of(codec)) : std::nullopt;
}

void refuse_foreign_name(const std::string& path, const ElementForm& form, bool is_plain) {
  if (!form.type_is_assumed) return;
  refuse(path, form, "its name is that of", foreign_form_of_path(path, is_plain));
}

void refuse_foreign_bytes(const std::string& path, const ElementForm& form,
                          ConstByteSpan first_bytes) {
  if (!form.type_is_assumed) return;
  refuse(path, form, "it looks like", foreign_form_of_bytes(first_bytes));
}

}  // namespace gsort::io
