#include "io/runs/manifest.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include <xxhash.h>

#include "base/units.hpp"
#include "element/record_format.hpp"
#include "io/runs/run_format.hpp"

namespace gsort::io {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are stored as they are");

constexpr std::uint32_t kMagic = 0x4d525347;  // "GSRM"
constexpr std::uint64_t kHeaderBytes = kManifestHeaderBytes;
constexpr std::uint64_t kChecksumBytes = 8;
constexpr std::uint64_t kInputBytes = 20;  // without its path
constexpr std::uint64_t kRunBytes = 56;    // without its place
constexpr std::uint64_t kPlaceBytes = 8;
constexpr std::uint16_t kFolderIsMade = 1;
constexpr std::uint16_t kIsCommitting = 2;
constexpr std::uint16_t kHasOwnInputs = 4;
constexpr std::uint64_t kShareBytes = 24;           // without its dtype
constexpr std::uint32_t kMostTextBytes = 64 << 10;  // of a job's description, or a dtype
constexpr std::uint32_t kMostPathBytes = 4096;
constexpr std::size_t kJobBytesAt = 44;
constexpr std::size_t kInputsAt = 48;
constexpr std::size_t kRunsAt = 52;

class Encoder {
 public:
  template <class Number>
  void put(Number number) {
    put_bytes(std::as_bytes(std::span(&number, 1)));
  }
  void put_text(const std::string& text) { put_bytes(std::as_bytes(std::span(text))); }
  void put_bytes(ConstByteSpan bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }

  [[nodiscard]] std::vector<std::byte>& bytes() { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// Takes numbers from bytes. Beyond their end everything is zero, and is_short() says so.
class Decoder {
 public:
  explicit Decoder(ConstByteSpan bytes) : bytes_(bytes) {}

  template <class Number>
  Number take() {
    Number number{};
    const ConstByteSpan taken = take_bytes(sizeof(Number));
    if (!taken.empty()) std::memcpy(&number, taken.data(), sizeof(Number));
    return number;
  }
  std::string take_text(std::size_t bytes) {
    const ConstByteSpan taken = take_bytes(bytes);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

  [[nodiscard]] bool is_short() const { return is_short_; }
  [[nodiscard]] std::size_t left() const { return bytes_.size(); }

 private:
  ConstByteSpan take_bytes(std::size_t bytes) {
    is_short_ = is_short_ || bytes > bytes_.size();
    if (is_short_) return {};
    const ConstByteSpan taken = bytes_.first(bytes);
    bytes_ = bytes_.subspan(bytes);
    return taken;
  }

  ConstByteSpan bytes_;
  bool is_short_ = false;
};

std::uint16_t version_of(const Manifest& manifest) {
  if (manifest.has_places) return kManifestVersionWithPlaces;
  return manifest.share ? kManifestVersionOfShare : kManifestVersion;
}

std::uint16_t flags_of(const Manifest& manifest) {
  const bool has_own_inputs = manifest.share && manifest.share->has_own_inputs;
  return static_cast<std::uint16_t>((manifest.folder_is_made ? kFolderIsMade : 0U) |
                                    (manifest.is_committing ? kIsCommitting : 0U) |
                                    (has_own_inputs ? kHasOwnInputs : 0U));
}

// The flags that manifests of a version may have.
unsigned flags_of_version(std::uint16_t version) {
  const unsigned of_all = kFolderIsMade | kIsCommitting;
  return version == kManifestVersionOfShare ? of_all | kHasOwnInputs : of_all;
}

void put_input(Encoder& to, const ManifestInput& input) {
  to.put(input.bytes);
  to.put(input.changed_ns);
  to.put(static_cast<std::uint32_t>(input.path.size()));
  to.put_text(input.path);
}

ManifestInput take_input(Decoder& from) {
  ManifestInput input;
  input.bytes = from.take<std::uint64_t>();
  input.changed_ns = from.take<std::int64_t>();
  input.path = from.take_text(from.take<std::uint32_t>());
  return input;
}

// Calls use(number) for each number of the run, in the order of the file.
template <class ConstOrNot, class Use>
void for_each_number_of(ConstOrNot& run, bool has_place, const Use& use) {
  for (auto* const number : {&run.number, &run.input.count, &run.input.first, &run.input.second,
                             &run.index.offset, &run.index.blocks, &run.index.checksum}) {
    use(*number);
  }
  if (has_place) use(run.first_element);
}

void put_run(Encoder& to, const ManifestRun& run, bool has_place) {
  for_each_number_of(run, has_place, [&](std::uint64_t number) { to.put(number); });
}

ManifestRun take_run(Decoder& from, bool has_place) {
  ManifestRun run;
  for_each_number_of(run, has_place,
                     [&](std::uint64_t& number) { number = from.take<std::uint64_t>(); });
  return run;
}

void put_share(Encoder& to, const ManifestShare& share) {
  to.put(share.number);
  to.put(share.shares);
  to.put(share.first_element);
  to.put(share.dtype_version);
  to.put(static_cast<std::uint32_t>(share.dtype.size()));
  to.put_text(share.dtype);
}

ManifestShare take_share(Decoder& from, std::uint16_t flags) {
  ManifestShare share;
  share.has_own_inputs = (flags & kHasOwnInputs) != 0;
  share.number = from.take<std::uint32_t>();
  share.shares = from.take<std::uint32_t>();
  share.first_element = from.take<std::uint64_t>();
  share.dtype_version = from.take<std::uint32_t>();
  share.dtype = from.take_text(from.take<std::uint32_t>());
  return share;
}

constexpr std::uint64_t kMostBytes = std::numeric_limits<std::int64_t>::max();  // of a file

// Whether an index may be at this place: its blocks lie before it, and its end, too, is an offset
// of a file.
bool can_be(const IndexPlace& index) {
  constexpr std::uint64_t kMostEnd = kMostBytes - kDirectAlignment;
  return is_aligned(index.offset) && index.offset <= kMostEnd &&
         index.blocks <= index.offset / kBlockAlignment &&
         index.blocks <= (kMostEnd - index.offset) / kIndexEntryBytes;
}

bool numbers_differ(const std::vector<ManifestRun>& runs) {
  std::vector<std::uint64_t> numbers(runs.size());
  std::ranges::transform(runs, numbers.begin(), &ManifestRun::number);
  std::ranges::sort(numbers);
  return std::ranges::adjacent_find(numbers) == numbers.end();
}

// Whether runs follow each other in the input, and end where 64 bits can count their bytes.
bool places_can_be(const Manifest& manifest) {
  const std::uint64_t most_elements = kMostBytes / manifest.element_bytes;
  std::uint64_t end = 0;
  for (const ManifestRun& run : manifest.runs) {
    if (run.first_element < end || run.first_element > most_elements - run.input.count) {
      return false;
    }
    end = run.first_element + run.input.count;
  }
  return true;
}

// Whether these runs are possible, alone and together.
bool runs_can_be(const Manifest& manifest) {
  const std::uint64_t most_elements = kMostBytes / manifest.element_bytes;
  std::uint64_t elements = 0;
  for (const ManifestRun& run : manifest.runs) {
    const bool is_one = run.number < manifest.next_run && run.input.count > 0 &&
                        run.input.count <= most_elements - elements && can_be(run.index) &&
                        run.index.blocks >= div_up(run.input.count, manifest.block_elements) &&
                        run.index.blocks <= run.input.count;
    if (!is_one) return false;
    elements += run.input.count;
  }
  return manifest.next_run <= kMostBytes && numbers_differ(manifest.runs);
}

bool can_be(const ManifestShare& share) {
  constexpr std::uint32_t kMostVersion = 3;
  return share.number < share.shares && share.first_element <= kMostBytes &&
         share.dtype_version <= kMostVersion && share.dtype.size() <= kMostTextBytes &&
         (share.dtype_version == 0) == share.dtype.empty();
}

bool can_be(const BlockEntry& block, const std::vector<BlockEntry>& before,
            const IndexBounds& bounds) {
  const bool follows =
      before.empty() ? block.position == 0 : block.position > before.back().position;
  return follows && block.offset % kBlockAlignment == 0 && block.offset <= bounds.end_bytes &&
         block.stored_bytes % kBlockAlignment == 0 && block.stored_bytes > kBlockHeaderBytes &&
         block.stored_bytes <= bounds.most_stored_bytes &&
         block.stored_bytes <= bounds.end_bytes - block.offset;
}

// Parses the fields after the numbers that every version begins with.
std::string_view parse_fields(Decoder& from, std::uint16_t version, std::uint16_t flags,
                              Manifest& manifest) {
  manifest.folder_is_made = (flags & kFolderIsMade) != 0;
  manifest.is_committing = (flags & kIsCommitting) != 0;
  manifest.has_places = version == kManifestVersionWithPlaces;
  manifest.store = from.take<std::uint64_t>();
  manifest.next_run = from.take<std::uint64_t>();
  manifest.block_elements = from.take<std::uint64_t>();
  manifest.element_bytes = from.take<std::uint32_t>();
  const auto job_bytes = from.take<std::uint32_t>();
  const auto inputs = from.take<std::uint32_t>();
  const auto runs = from.take<std::uint32_t>();
  manifest.sample = from.take<std::uint64_t>();
  manifest.job = from.take_text(job_bytes);
  for (std::uint32_t i = 0; i < inputs && !from.is_short(); ++i) {
    manifest.inputs.push_back(take_input(from));
  }
  for (std::uint32_t i = 0; i < runs && !from.is_short(); ++i) {
    manifest.runs.push_back(take_run(from, manifest.has_places));
  }
  if (version == kManifestVersionOfShare) manifest.share = take_share(from, flags);
  if (from.is_short() || from.left() != 0) return "its size does not match its contents";
  constexpr std::uint64_t kMostInBlock = std::numeric_limits<std::uint32_t>::max();
  const bool is_element =
      manifest.element_bytes > 0 && manifest.element_bytes <= RecordFormat::kMostBytes;
  const std::uint64_t most_elements = is_element ? kMostInBlock / manifest.element_bytes : 0;
  const bool can_be = manifest.block_elements > 0 && manifest.block_elements <= most_elements &&
                      runs_can_be(manifest) && (!manifest.has_places || places_can_be(manifest)) &&
                      (!manifest.share || gsort::io::can_be(*manifest.share));
  return can_be ? std::string_view() : "its contents are inconsistent";
}

}  // namespace

std::uint64_t encoded_bytes(const Manifest& manifest) {
  std::uint64_t bytes = kHeaderBytes + manifest.job.size() + kChecksumBytes;
  for (const ManifestInput& input : manifest.inputs) bytes += kInputBytes + input.path.size();
  if (manifest.share) bytes += kShareBytes + manifest.share->dtype.size();
  return bytes + manifest.runs.size() * (kRunBytes + (manifest.has_places ? kPlaceBytes : 0));
}

std::vector<std::byte> encode_manifest(const Manifest& manifest) {
  Encoder to;
  to.bytes().reserve(encoded_bytes(manifest));
  to.put(kMagic);
  to.put(version_of(manifest));
  to.put(flags_of(manifest));
  to.put(encoded_bytes(manifest));
  to.put(manifest.store);
  to.put(manifest.next_run);
  to.put(manifest.block_elements);
  to.put(manifest.element_bytes);
  to.put(static_cast<std::uint32_t>(manifest.job.size()));
  to.put(static_cast<std::uint32_t>(manifest.inputs.size()));
  to.put(static_cast<std::uint32_t>(manifest.runs.size()));
  to.put(manifest.sample);
  to.put_text(manifest.job);
  for (const ManifestInput& input : manifest.inputs) put_input(to, input);
  for (const ManifestRun& run : manifest.runs) put_run(to, run, manifest.has_places);
  if (manifest.share) put_share(to, *manifest.share);
  to.put(std::uint64_t{XXH3_64bits(to.bytes().data(), to.bytes().size())});
  return std::move(to.bytes());
}

std::string_view problem_of_header(ConstByteSpan header, std::uint64_t file_bytes) {
  if (header.size() < kHeaderBytes || file_bytes < kHeaderBytes + kChecksumBytes) {
    return "it is truncated";
  }
  if (file_bytes > kMostManifestBytes) return "it is too long for a manifest";
  Decoder from(header);
  if (from.take<std::uint32_t>() != kMagic) return "it is not a manifest";
  const auto version = from.take<std::uint16_t>();
  constexpr std::uint16_t kFormerVersionOfShare = 3;
  if (version == kFormerVersionOfShare) return "an older version of gsort made it";
  if (version < kManifestVersion || version > kManifestVersionOfShare) {
    return "it has an unknown version";
  }
  (void)from.take<std::uint16_t>();  // flags: behind the checksum
  if (from.take<std::uint64_t>() != file_bytes) return "it is truncated or too long";
  const std::uint64_t job_bytes = Decoder(header.subspan(kJobBytesAt)).take<std::uint32_t>();
  const std::uint64_t inputs = Decoder(header.subspan(kInputsAt)).take<std::uint32_t>();
  const std::uint64_t runs = Decoder(header.subspan(kRunsAt)).take<std::uint32_t>();
  const bool is_of_share = version == kManifestVersionOfShare;
  const std::uint64_t run_bytes =
      kRunBytes + (version == kManifestVersionWithPlaces ? kPlaceBytes : 0);
  const std::uint64_t least = kHeaderBytes + job_bytes + inputs * kInputBytes + runs * run_bytes +
                              (is_of_share ? kShareBytes : 0) + kChecksumBytes;
  const std::uint64_t texts = inputs * kMostPathBytes + (is_of_share ? kMostTextBytes : 0);
  const bool is_its_size =
      job_bytes <= kMostTextBytes && least <= file_bytes && file_bytes - least <= texts;
  return is_its_size ? std::string_view() : "its size does not match its contents";
}

std::string_view parse_manifest(ConstByteSpan bytes, Manifest& manifest) {
  manifest = {};
  const std::size_t header_bytes = std::min<std::size_t>(bytes.size(), kHeaderBytes);
  const std::string_view problem = problem_of_header(bytes.first(header_bytes), bytes.size());
  if (!problem.empty()) return problem;
  const ConstByteSpan covered = bytes.first(bytes.size() - kChecksumBytes);
  const std::uint64_t checksum = XXH3_64bits(covered.data(), covered.size());
  if (Decoder(bytes.last(kChecksumBytes)).take<std::uint64_t>() != checksum) {
    return "its checksum does not match";
  }
  Decoder from(covered);
  (void)from.take<std::uint32_t>();  // the magic
  const auto version = from.take<std::uint16_t>();
  const auto flags = from.take<std::uint16_t>();
  if ((flags & ~flags_of_version(version)) != 0) return "it has unknown flags";
  (void)from.take<std::uint64_t>();  // its size
  return parse_fields(from, version, flags, manifest);
}

std::vector<std::byte> encode_index(std::span<const BlockEntry> blocks) {
  Encoder to;
  to.bytes().reserve(blocks.size() * kIndexEntryBytes);
  for (const BlockEntry& block : blocks) {
    to.put(block.first_key);
    to.put(block.position);
    to.put(block.offset);
    to.put(block.stored_bytes);
    to.put(std::uint32_t{0});
  }
  return std::move(to.bytes());
}

std::uint64_t checksum_of_index(ConstByteSpan index) {
  return XXH3_64bits(index.data(), index.size());
}

std::string_view parse_index(ConstByteSpan index, const IndexBounds& bounds,
                             std::vector<BlockEntry>& blocks) {
  Decoder from(index);
  while (from.left() >= kIndexEntryBytes) {
    BlockEntry block;
    block.first_key = from.take<std::uint64_t>();
    block.position = from.take<std::uint64_t>();
    block.offset = from.take<std::uint64_t>();
    block.stored_bytes = from.take<std::uint32_t>();
    if (from.take<std::uint32_t>() != 0 || !can_be(block, blocks, bounds)) {
      return "its index is inconsistent";
    }
    blocks.push_back(block);
  }
  return from.left() == 0 ? std::string_view() : "its index is truncated";
}

}  // namespace gsort::io
