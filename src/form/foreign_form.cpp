#include "form/foreign_form.hpp"

#include <algorithm>
#include <bit>
#include <span>

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/quoted.hpp"
#include "form/decoding.hpp"
#include "form/file_form.hpp"
#include "form/type_name.hpp"

namespace gsort {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kSaveColumn =
    "save the column to be sorted as a .npy file, or as raw keys";
constexpr std::string_view kSaveNumbers = "save its numbers as a .npy file, or as raw keys";
constexpr std::string_view kUnpack = "unpack it";

constexpr ForeignForm kText = {"text", "--format=text reads one number a line", {}};
constexpr ForeignForm kCsv = {
    "a CSV table",
    "cut one column out of it, as with cut -d, -f1, and read that with --format=text",
    {}};
constexpr ForeignForm kTsv = {
    "a TSV table",
    "cut one column out of it, as with cut -f1, and read that with --format=text",
    {}};
constexpr ForeignForm kJson = {
    "JSON", "write its numbers one a line, as jq does, and read these with --format=text", {}};
constexpr ForeignForm kParquet = {"a Parquet file", kSaveColumn, {}};
constexpr ForeignForm kArrow = {"an Arrow file", kSaveColumn, {}};
constexpr ForeignForm kOrc = {"an ORC file", kSaveColumn, {}};
constexpr ForeignForm kAvro = {"an Avro file", kSaveColumn, {}};
constexpr ForeignForm kSqlite = {"an SQLite database", kSaveColumn, {}};
constexpr ForeignForm kXlsx = {"a spreadsheet", kSaveColumn, {}};
constexpr ForeignForm kHdf5 = {"an HDF5 file", kSaveNumbers, {}};
constexpr ForeignForm kHdf4 = {"an HDF4 file", kSaveNumbers, {}};
constexpr ForeignForm kFits = {"a FITS file", kSaveNumbers, {}, true};
constexpr ForeignForm kVectorFile = {"a file of vectors", kSaveNumbers, {}};
constexpr ForeignForm kMat = {"a MAT-file", kSaveNumbers, {}};
constexpr ForeignForm kNetCdf = {"a NetCDF file", kSaveNumbers, {}};
constexpr ForeignForm kDicom = {"a DICOM file", kSaveNumbers, {}};
constexpr ForeignForm kRoot = {"a ROOT file", kSaveNumbers, {}};
constexpr ForeignForm kTensors = {"a safetensors file", kSaveNumbers, {}};
constexpr ForeignForm kPickle = {"a pickled object", kSaveNumbers, {}};
constexpr ForeignForm kTfRecord = {"a TFRecord file", kSaveNumbers, {}};
constexpr ForeignForm kPcap = {"a packet capture", kSaveNumbers, {}};
constexpr ForeignForm kPng = {"a PNG image", kSaveNumbers, {}};
constexpr ForeignForm kWav = {"a WAV file", kSaveNumbers, {}};
constexpr ForeignForm kElf = {"an ELF program or library", kSaveNumbers, {}};
constexpr ForeignForm kBam = {"a BAM file", "samtools sort sorts it", {}};
constexpr ForeignForm kNpy = {"a NumPy array", "--format=npy reads it", {}};
constexpr ForeignForm kZip = {"a zip archive", kUnpack, {}};
constexpr ForeignForm kNpz = {
    "an archive of NumPy arrays",
    "take an array out, as in unzip -p FILE.npz NAME.npy | gsort --format=npy",
    {}};
constexpr ForeignForm k7z = {"a 7z archive", kUnpack, {}};
constexpr ForeignForm kTar = {"a tar archive", kUnpack, {}};
constexpr ForeignForm kLz4 = {"lz4 data", {}, "lz4 -dc"};
constexpr ForeignForm kBrotli = {"Brotli data", {}, "brotli -dc"};
constexpr ForeignForm kLzma = {"lzma data", {}, "lzma -dc"};
constexpr ForeignForm kLzip = {"lzip data", {}, "lzip -dc"};
constexpr ForeignForm kLzop = {"lzop data", {}, "lzop -dc"};
constexpr ForeignForm kSnappy = {"Snappy data", {}, "snzip -dc"};
constexpr ForeignForm kCompress = {"data of compress", {}, "gzip -dc"};

struct NamedForm {
  std::string_view suffix;
  ForeignForm form;
};

constexpr NamedForm kNamedForms[] = {{"csv", kCsv},
                                     {"tsv", kTsv},
                                     {"json", kJson},
                                     {"jsonl", kJson},
                                     {"ndjson", kJson},
                                     {"parquet", kParquet},
                                     {"arrow", kArrow},
                                     {"feather", kArrow},
                                     {"orc", kOrc},
                                     {"avro", kAvro},
                                     {"sqlite", kSqlite},
                                     {"sqlite3", kSqlite},
                                     {"xlsx", kXlsx},
                                     {"h5", kHdf5},
                                     {"hdf5", kHdf5},
                                     {"hdf", kHdf4},
                                     {"fits", kFits},
                                     {"mat", kMat},
                                     {"nc", kNetCdf},
                                     {"dcm", kDicom},
                                     {"root", kRoot},
                                     {"pkl", kPickle},
                                     {"pickle", kPickle},
                                     {"safetensors", kTensors},
                                     {"tfrecord", kTfRecord},
                                     {"tfrecords", kTfRecord},
                                     {"pcap", kPcap},
                                     {"pcapng", kPcap},
                                     {"png", kPng},
                                     {"wav", kWav},
                                     {"fvecs", kVectorFile},
                                     {"ivecs", kVectorFile},
                                     {"bvecs", kVectorFile},
                                     {"bam", kBam},
                                     {"zip", kZip},
                                     {"npz", kNpz},
                                     {"7z", k7z},
                                     {"tar", kTar},
                                     {"tgz", kTar},
                                     {"tbz2", kTar},
                                     {"txz", kTar},
                                     {"tzst", kTar},
                                     {"lz4", kLz4},
                                     {"br", kBrotli},
                                     {"lzma", kLzma},
                                     {"lz", kLzip},
                                     {"lzo", kLzop},
                                     {"sz", kSnappy},
                                     {"z", kCompress}};

// The codecs that gsort decompresses under any name, if the data is of that codec.
constexpr NamedForm kNamedCodecs[] = {
#define GSORT_FORM(name) \
  { name " data", {}, name " -dc" }
#define GSORT_NAMED_FORMS(codec, name, suffix) {name, GSORT_FORM(name)}, {suffix, GSORT_FORM(name)},
    GSORT_CODECS(GSORT_NAMED_FORMS)
#undef GSORT_FORM
#undef GSORT_NAMED_FORMS
};

std::optional<ForeignForm> form_named(std::span<const NamedForm> forms, std::string_view suffix) {
  const auto found = std::ranges::find(forms, suffix, &NamedForm::suffix);
  return found == forms.end() ? std::nullopt : std::optional(found->form);
}

// Bytes at a fixed place in every file of a form.
struct Magic {
  std::size_t at = 0;
  std::string_view bytes;
};

struct FormOfBytes {
  ForeignForm form;
  Magic first;
  Magic second = {};
};

constexpr FormOfBytes kFormsOfBytes[] = {
    {kArrow, {0, "ARROW1\0\0"sv}},
    {kHdf5, {0, "\x89HDF\r\n\x1a\n"sv}},
    {k7z, {0, "7z\xbc\xaf\x27\x1c\x00"sv}},
    {kTar,
     {257,
      "ustar\0"
      "00"sv}},
    {kTar, {257, "ustar  \0"sv}},
    {kSqlite, {0, "SQLite format 3\0"sv}},
    {kFits, {0, "SIMPLE  = "sv}},
    {kAvro, {0, "Obj\x01"sv}, {6, "avro."sv}},                   // the first key of its metadata
    {kHdf4, {0, "\x0e\x03\x13\x01"sv}, {10, "\0\x1e\0\x01"sv}},  // the version comes first
    {kMat, {0, "MATLAB "sv}, {11, "MAT-file"sv}},
    {kNetCdf, {0, "CDF\x01"sv}, {8, "\0\0\0\x0a"sv}},  // the list of dimensions
    {kNetCdf, {0, "CDF\x02"sv}, {8, "\0\0\0\x0a"sv}},
    {kNetCdf, {0, "CDF\x05"sv}, {12, "\0\0\0\x0a"sv}},
    {kDicom, {128, "DICM\x02\0\0\0UL"sv}},
    {kPng, {0, "\x89PNG\r\n\x1a\n"sv}},
    {kWav, {0, "RIFF"sv}, {8, "WAVE"sv}},
    {kRoot, {0, "root\0"sv}, {8, "\0\0\0\x64"sv}},  // data begins at byte 100
    {kPcap, {0, "\xd4\xc3\xb2\xa1\x02\0\x04\0"sv}},
    {kPcap, {0, "\x4d\x3c\xb2\xa1\x02\0\x04\0"sv}},
    {kPcap, {0, "\xa1\xb2\xc3\xd4\0\x02\0\x04"sv}},
    {kPcap, {0, "\xa1\xb2\x3c\x4d\0\x02\0\x04"sv}},
    {kPcap, {0, "\n\r\r\n"sv}, {8, "\x4d\x3c\x2b\x1a"sv}},
    {kPcap, {0, "\n\r\r\n"sv}, {8, "\x1a\x2b\x3c\x4d"sv}},
    {kPickle, {0, "\x80\x04\x95"sv}, {7, "\0\0\0\0"sv}},  // a frame of less than 4 GiB
    {kPickle, {0, "\x80\x05\x95"sv}, {7, "\0\0\0\0"sv}},
    {kPickle,
     {0,
      "\x80\x02"
      "cnumpy."sv}},
    {kPickle,
     {0,
      "\x80\x03"
      "cnumpy."sv}},
    {kPickle, {0, "\x80\x02]q\0("sv}},
    {kPickle, {0, "\x80\x03]q\0("sv}},
    {kPickle, {0, "\x80\x02}q\0("sv}},
    {kPickle, {0, "\x80\x03}q\0("sv}},
    {kPickle, {0, "\x80\x02\x8a\x0al\xfc\x9c"sv}},  // PyTorch's
};

// The first bytes as characters, for comparisons.
class FirstBytes {
 public:
  explicit FirstBytes(std::string_view text) : text_(text) {}

  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] bool has(std::size_t at, std::string_view wanted) const {
    return text_.size() >= at && text_.substr(at).starts_with(wanted);
  }
  [[nodiscard]] bool has(const Magic& magic) const { return has(magic.at, magic.bytes); }
  // 0 behind the end.
  [[nodiscard]] unsigned byte(std::size_t at) const {
    return at < text_.size() ? static_cast<unsigned char>(text_[at]) : 0U;
  }
  // Reads `bytes` of them as a little-endian number.
  [[nodiscard]] std::uint64_t number(std::size_t at, std::size_t bytes) const {
    std::uint64_t number = 0;
    while (bytes-- > 0) number = number << 8U | byte(at + bytes);
    return number;
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

// The needed version, flags, and a known method of compression.
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

// The size of a dictionary, 2^n or 2^n + 2^(n-1), the size of the content or -1, and a zero byte.
bool is_lzma(const FirstBytes& first) {
  const std::uint64_t dictionary = first.number(1, 4);
  const std::uint64_t content = first.number(5, 8);
  const bool is_size = std::popcount(dictionary) == 1 ||
                       (std::popcount(dictionary) == 2 && (dictionary & dictionary >> 1U) != 0);
  return first.text().size() > 13 && first.byte(0) == 0x5d && dictionary >= 4096 && is_size &&
         (content == UINT64_MAX || content >> 40U == 0) && first.byte(13) == 0;
}

// The class, byte order and version.
bool is_elf(const FirstBytes& first) {
  return first.has(0,
                   "\x7f"
                   "ELF"sv) &&
         first.has_one_of(4, "\x01\x02"sv) && first.has_one_of(5, "\x01\x02"sv) &&
         first.has(6, "\x01"sv);
}

// A header of text, which may be empty, and then the number of references.
bool is_bam(const FirstBytes& first) {
  const bool has_header = first.has(8, "@"sv) && first.has(11, "\t"sv);
  return first.has(0, "BAM\x01"sv) && (has_header || first.has(4, "\0\0\0\0"sv));
}

// The length of the first record, and its checksum.
bool is_tf_record(const FirstBytes& first) {
  constexpr std::size_t kLengthBytes = 8;
  if (first.text().size() < kLengthBytes + 4 || first.number(4, 4) != 0) return false;
  std::uint32_t crc = UINT32_MAX;  // CRC-32C
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    crc ^= first.byte(i);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1U ^ ((crc & 1U) != 0 ? 0x82f63b78U : 0U);
  }
  return first.number(kLengthBytes, 4) == (std::rotr(~crc, 15) + 0xa282ead8U);
}

// Whether all of it is printable, except for a character cut off at the end.
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

// The length of the header in JSON that follows.
bool is_safetensors(const FirstBytes& first) {
  constexpr std::uint64_t kMost = 100'000'000;
  constexpr std::size_t kShown = 32;
  const std::uint64_t bytes = first.number(0, 8);
  return bytes >= kShown && bytes <= kMost && first.has(8, "{\""sv) &&
         first.text().size() >= 8 + kShown && is_printable(first.text().substr(8, kShown));
}

struct FormByRule {
  ForeignForm form;
  bool (*has_it)(const FirstBytes&);
};

constexpr FormByRule kFormsByRule[] = {{kParquet, is_parquet},
                                       {kZip, is_zip},
                                       {kLz4, is_lz4},
                                       {kLzma, is_lzma},
                                       {kElf, is_elf},
                                       {kBam, is_bam},
                                       {kTfRecord, is_tf_record},
                                       {kTensors, is_safetensors}};

}  // namespace

std::optional<ForeignForm> foreign_form_of_path(std::string_view path, bool is_plain) {
  if (codec_of_path(path)) {
    path.remove_suffix(suffix_of(path).size() + 1);
    is_plain = true;  // behind that codec
  }
  const std::string suffix = lower_case(suffix_of(path));
  if (const auto form = form_named(kNamedForms, suffix)) return form;
  return is_plain ? form_named(kNamedCodecs, suffix) : std::nullopt;
}

ForeignForm form_of_codec(Codec codec) {
  return *form_named(kNamedCodecs, name_of(codec));
}

std::optional<ForeignForm> foreign_form_of_bytes(std::string_view first_bytes) {
  const FirstBytes first(first_bytes);
  for (const FormOfBytes& known : kFormsOfBytes) {
    if (first.has(known.first) && first.has(known.second)) return known.form;
  }
  if (is_text(first_bytes)) return kText;
  if (npy_header_bytes(first_bytes)) return kNpy;
  for (const FormByRule& known : kFormsByRule) {
    if (known.has_it(first)) return known.form;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> npy_header_bytes(std::string_view first_bytes) {
  const FirstBytes first(first_bytes);
  if (!first.has(0, "\x93NUMPY"sv) || !first.has_one_of(6, "\x01\x02\x03"sv) ||
      !first.has(7, "\0"sv)) {
    return std::nullopt;
  }
  const std::size_t length_bytes = first.byte(6) == 1 ? 2 : 4;
  return 8 + length_bytes + first.number(8, length_bytes);
}

std::string way_out_of(const ForeignForm& form, std::string_view path) {
  if (form.command.empty()) return std::string(form.way_out);
  const auto outer = codec_of_path(path);
  if (!outer) return "use: " + decompress_pipe(form.command, path);
  return fmt::format("use: {} | {}", decompress_command(*outer, path),
                     decompress_pipe(form.command, "standard input"));
}

}  // namespace gsort
