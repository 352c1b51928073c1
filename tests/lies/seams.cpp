#include "lies/seams.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "form/decimal.hpp"
#include "io/codecs/compress.hpp"
#include "io/input/reader.hpp"
#include "io/output/output.hpp"
#include "io/output/shared_file.hpp"
#include "io/output/writer.hpp"
#include "io/runs/run_store.hpp"
#include "io/system/sys.hpp"
#include "lies/liar.hpp"
#include "pipeline/proof/proof.hpp"
#include "support/vector_tier.hpp"

namespace gsort::test {
namespace {

std::atomic<bool> may_repeat_blocks{false};

// Bytes that somebody else takes for what they have been.
ByteSpan writable(ConstByteSpan bytes) {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

void garble_at(Seam seam, ByteSpan bytes) {
  if (auto telling = the_liar().event(seam, bytes)) telling->garble(bytes);
}

// Pieces that a lane puts.
class LyingPieces {
 public:
  void change(bool merging, std::vector<PutPiece>& pieces) {
    if (held_) pieces = exchanged(*std::exchange(held_, std::nullopt), pieces.front());
    PutPiece& piece = pieces.back();
    const Seam seam = merging ? Seam::kMergedPiece : Seam::kChunkPiece;
    auto telling = the_liar().event(seam, piece.elements);
    if (!telling) return;
    const std::uint64_t kind = telling->below(8);
    const std::size_t size = telling->element_bytes();
    const std::uint64_t count = piece.elements.size() / size;
    switch (kind) {
      case 4:  // too short, or nothing
        piece.elements.resize(telling->below(count) * size);
        return;
      case 5:  // elsewhere
        piece.position += telling->below(2) == 0 ? 1 : telling->below(2 * count);
        return;
      case 6:
        piece.position -= std::min(piece.position, 1 + telling->below(count));
        return;
      case 7:  // changes its place with the next one, if one comes
        held_ = std::move(piece);
        pieces.pop_back();
        return;
      case 0:  // twice
        pieces.push_back(piece);
        return;
      case 1: {  // with a stretch more behind it
        const auto more = static_cast<std::ptrdiff_t>((1 + telling->below(count)) * size);
        const Bytes copy(piece.elements.begin(), piece.elements.begin() + more);
        piece.elements.insert(piece.elements.end(), copy.begin(), copy.end());
        return;
      }
      default:
        telling->garble(piece.elements);
    }
  }

 private:
  static std::vector<PutPiece> exchanged(PutPiece first, PutPiece second) {
    std::swap(first.elements, second.elements);
    return {std::move(first), std::move(second)};
  }

  std::optional<PutPiece> held_;
};

class LyingTier final : public TierMemory {
 public:
  explicit LyingTier(std::uint64_t bytes) : tier_(bytes), bytes_(bytes) {}

  void put(std::uint64_t offset, std::span<const std::byte> bytes) override {
    auto telling = the_liar().event(Seam::kTier, bytes);
    if (!telling) return tier_.put(offset, bytes);
    Bytes changed(bytes.begin(), bytes.end());
    switch (telling->below(3)) {
      case 0:  // nothing
        return;
      case 1:  // elsewhere
        return tier_.put(telling->below(bytes_ - bytes.size() + 1), bytes);
      default:
        telling->garble(changed);
        return tier_.put(offset, changed);
    }
  }
  void get(std::uint64_t offset, std::span<std::byte> bytes) override {
    auto telling = the_liar().event(Seam::kTier, bytes);
    if (telling && telling->below(2) == 0) offset = telling->below(bytes_ - bytes.size() + 1);
    tier_.get(offset, bytes);
    if (telling) telling->garble(bytes);
  }

 private:
  VectorTier tier_;
  std::uint64_t bytes_;
};

}  // namespace

EngineHooks lying_hooks() {
  EngineHooks hooks;
  hooks.on_put = [pieces = LyingPieces()](bool merging, std::vector<PutPiece>& put) mutable {
    pieces.change(merging, put);
  };
  hooks.on_block = [](ByteSpan block, std::size_t bytes) -> std::size_t {
    auto telling = the_liar().event(Seam::kChunkLane, block.first(bytes));
    if (!telling) return bytes;
    const std::size_t size = telling->element_bytes();
    if (telling->below(2) == 0) return telling->below(bytes / size) * size;
    telling->garble(block.first(bytes));
    return bytes;
  };
  hooks.on_slices = [](ByteSpan slices) { garble_at(Seam::kSlices, slices); };
  hooks.on_arrays = [](ByteSpan sorted) -> ConstByteSpan {
    auto telling = the_liar().event(Seam::kArrays, sorted);
    if (!telling) return sorted;
    const std::size_t size = telling->element_bytes();
    if (telling->below(4) == 0) return sorted.first(telling->below(sorted.size() / size) * size);
    telling->garble(sorted);
    return sorted;
  };
  // A bit of the first key: the widths behind it are what the pipeline requires to be right.
  hooks.on_stored = [](bool, ByteSpan payloads) {
    auto telling = the_liar().event(Seam::kStored, payloads);
    if (!telling || payloads.size() < telling->element_bytes()) return;
    payloads[telling->below(telling->element_bytes())] ^= std::byte{1} << telling->below(8);
  };
  return hooks;
}

void let_reader_repeat(bool may_repeat) {
  may_repeat_blocks = may_repeat;
}

std::unique_ptr<TierMemory> make_lying_tier(std::uint64_t bytes) {
  return std::make_unique<LyingTier>(bytes);
}

// ---- The reader ----

#define GSORT_NEXT "_ZN5gsort2io6Reader4nextE" GSORT_BYTES "m"
using Block = std::optional<io::InputBlock>;
Block real_next(io::Reader& reader, ByteSpan buffer, std::uint64_t limit) GSORT_REAL(GSORT_NEXT);
Block lying_next(io::Reader& reader, ByteSpan buffer, std::uint64_t limit) GSORT_WRAP(GSORT_NEXT);

Block lying_next(io::Reader& reader, ByteSpan buffer, std::uint64_t limit) {
  auto telling = the_liar().event(Seam::kReader);
  if (!telling) return real_next(reader, buffer, limit);
  switch (telling->below(may_repeat_blocks ? 4 : 3)) {
    case 0:  // ends early
      return std::nullopt;
    case 1:  // leaves one out
      if (!real_next(reader, buffer, limit)) return std::nullopt;
      return real_next(reader, buffer, limit);
    case 2: {  // gives less than it took
      Block block = real_next(reader, buffer, limit);
      const std::size_t size = telling->element_bytes();
      if (block) block->bytes -= (1 + telling->below(block->bytes / size)) * size;
      return block && block->bytes > 0 ? block : std::nullopt;
    }
    default: {  // gives a stretch twice
      Block block = real_next(reader, buffer, limit);
      if (!block) return block;
      const std::size_t more = std::min(block->bytes, buffer.size() - block->bytes);
      std::memmove(buffer.data() + block->bytes, buffer.data(), more);
      block->bytes += more;
      return block;
    }
  }
}

#define GSORT_NEXT_OF "_ZN5gsort2io6Reader7next_ofEm" GSORT_BYTES
std::size_t real_next_of(io::Reader& reader, std::size_t input, ByteSpan buffer)
    GSORT_REAL(GSORT_NEXT_OF);
std::size_t lying_next_of(io::Reader& reader, std::size_t input, ByteSpan buffer)
    GSORT_WRAP(GSORT_NEXT_OF);

std::size_t lying_next_of(io::Reader& reader, std::size_t input, ByteSpan buffer) {
  auto telling = the_liar().event(Seam::kReader);
  if (!telling) return real_next_of(reader, input, buffer);
  const std::size_t bytes = real_next_of(reader, input, buffer);
  const std::size_t size = telling->element_bytes();
  switch (telling->below(4)) {
    case 0:  // ends early
      return 0;
    case 1:  // leaves a block out
      return real_next_of(reader, input, buffer);
    case 2:  // the last element twice
      if (bytes < size || bytes + size > buffer.size()) return bytes;
      std::memcpy(buffer.data() + bytes, buffer.data() + bytes - size, size);
      return bytes + size;
    default:  // gives less than it took
      return telling->below(bytes / size) * size;
  }
}

// ---- Blocks of the input, when the proof has seen them ----

#define GSORT_ADD_INPUT "_ZN5gsort5Proof9add_inputE" GSORT_CONST_BYTES
Fingerprint real_add_input(Proof& proof, ConstByteSpan raw) GSORT_REAL(GSORT_ADD_INPUT);
Fingerprint lying_add_input(Proof& proof, ConstByteSpan raw) GSORT_WRAP(GSORT_ADD_INPUT);

Fingerprint lying_add_input(Proof& proof, ConstByteSpan raw) {
  const Fingerprint seen = real_add_input(proof, raw);
  garble_at(Seam::kBlock, writable(raw));
  return seen;
}

#define GSORT_ADD_ARRAYS "_ZN5gsort5Proof16add_input_arraysE" GSORT_CONST_BYTES "m"
ArraysFingerprint real_add_arrays(Proof& proof, ConstByteSpan raw, std::uint64_t array_elements)
    GSORT_REAL(GSORT_ADD_ARRAYS);
ArraysFingerprint lying_add_arrays(Proof& proof, ConstByteSpan raw, std::uint64_t array_elements)
    GSORT_WRAP(GSORT_ADD_ARRAYS);

ArraysFingerprint lying_add_arrays(Proof& proof, ConstByteSpan raw, std::uint64_t array_elements) {
  const ArraysFingerprint seen = real_add_arrays(proof, raw, array_elements);
  garble_at(Seam::kBlock, writable(raw));
  return seen;
}

// ---- Runs ----

#define GSORT_READ_RANGE "_ZNK5gsort2io3Run10read_rangeEmm" GSORT_BYTES "S4_"
void real_read_range(const io::Run& run, std::uint64_t begin, std::uint64_t end, ByteSpan out,
                     ByteSpan scratch) GSORT_REAL(GSORT_READ_RANGE);
void lying_read_range(const io::Run& run, std::uint64_t begin, std::uint64_t end, ByteSpan out,
                      ByteSpan scratch) GSORT_WRAP(GSORT_READ_RANGE);

void lying_read_range(const io::Run& run, std::uint64_t begin, std::uint64_t end, ByteSpan out,
                      ByteSpan scratch) {
  auto telling = the_liar().event(Seam::kRun, out);
  if (!telling || !kMayRace || telling->below(3) > 0) {
    real_read_range(run, begin, end, out, scratch);
    if (telling) telling->garble(out);
    return;
  }
  const std::uint64_t other = telling->below(run.elements() - (end - begin) + 1);
  real_read_range(run, other, other + (end - begin), out, scratch);
}

#define GSORT_READ_BLOCK "_ZNK5gsort2io3Run10read_blockEm" GSORT_BYTES "S4_"
ConstByteSpan real_read_block(const io::Run& run, std::size_t block, ByteSpan out, ByteSpan scratch)
    GSORT_REAL(GSORT_READ_BLOCK);
ConstByteSpan lying_read_block(const io::Run& run, std::size_t block, ByteSpan out,
                               ByteSpan scratch) GSORT_WRAP(GSORT_READ_BLOCK);

ConstByteSpan lying_read_block(const io::Run& run, std::size_t block, ByteSpan out,
                               ByteSpan scratch) {
  const ConstByteSpan keys = real_read_block(run, block, out, scratch);
  garble_at(Seam::kSplitBlock, writable(keys));
  return keys;
}

// ---- Temporary files ----

namespace {

// Runs, and what a sort is resumed from.
bool is_temporary(int fd) {
  if (!the_liar().is_watching()) return false;
  std::error_code gone;
  const std::filesystem::path link = "/proc/self/fd/" + std::to_string(fd);
  const std::string file = std::filesystem::read_symlink(link, gone).string();
  return file.find("/temporary/") != std::string::npos || file.find("/dir/") != std::string::npos;
}

// Another place of the file, near this one or far from it, by elements or by pages.
off_t elsewhere(Telling& telling, off_t offset) {
  const auto step = static_cast<off_t>(telling.below(2) == 0 ? telling.element_bytes() : 4096);
  const auto steps = static_cast<off_t>(1 + telling.below(8));
  return telling.below(2) == 0 && offset >= step * steps ? offset - step * steps
                                                         : offset + step * steps;
}

}  // namespace

#define GSORT_PREAD "_ZN5gsort2io3sys5preadEiPvml"
ssize_t real_pread(int fd, void* to, std::size_t bytes, off_t offset) GSORT_REAL(GSORT_PREAD);
ssize_t lying_pread(int fd, void* to, std::size_t bytes, off_t offset) GSORT_WRAP(GSORT_PREAD);

ssize_t lying_pread(int fd, void* to, std::size_t bytes, off_t offset) {
  if (!is_temporary(fd)) return real_pread(fd, to, bytes, offset);
  const ByteSpan buffer(static_cast<std::byte*>(to), bytes);
  auto telling = the_liar().event(Seam::kRunFileRead, buffer);
  if (!telling) return real_pread(fd, to, bytes, offset);
  switch (telling->below(4)) {
    case 0:  // the file has become shorter
      return 0;
    case 1:  // what lies elsewhere
      return real_pread(fd, to, bytes, elsewhere(*telling, offset));
    case 2:  // nothing new
      return static_cast<ssize_t>(bytes);
    default: {
      const ssize_t moved = real_pread(fd, to, bytes, offset);
      if (moved > 0) telling->garble(buffer.first(static_cast<std::size_t>(moved)));
      return moved;
    }
  }
}

#define GSORT_PWRITE "_ZN5gsort2io3sys6pwriteEiPKvml"
ssize_t real_pwrite(int fd, const void* from, std::size_t bytes, off_t offset)
    GSORT_REAL(GSORT_PWRITE);
ssize_t lying_pwrite(int fd, const void* from, std::size_t bytes, off_t offset)
    GSORT_WRAP(GSORT_PWRITE);

ssize_t lying_pwrite(int fd, const void* from, std::size_t bytes, off_t offset) {
  if (!is_temporary(fd)) return real_pwrite(fd, from, bytes, offset);
  const ConstByteSpan buffer(static_cast<const std::byte*>(from), bytes);
  auto telling = the_liar().event(Seam::kRunFileWrite, buffer);
  if (!telling) return real_pwrite(fd, from, bytes, offset);
  const auto all = static_cast<ssize_t>(bytes);
  switch (telling->below(5)) {
    case 0:  // nothing
      return all;
    case 1:  // elsewhere
      return real_pwrite(fd, from, bytes, elsewhere(*telling, offset)) < 0 ? -1 : all;
    case 2:  // there and elsewhere
      if (real_pwrite(fd, from, bytes, elsewhere(*telling, offset)) < 0) return -1;
      return real_pwrite(fd, from, bytes, offset);
    case 3:  // a part
      return real_pwrite(fd, from, telling->below(bytes), offset) < 0 ? -1 : all;
    default: {
      Bytes changed(buffer.begin(), buffer.end());
      telling->garble(changed);
      return real_pwrite(fd, changed.data(), bytes, offset);
    }
  }
}

// ---- The output ----
//
// The places of proven elements. After the proof, bytes are not checked again, except encoded ones:
// lines and members, which are decoded.

namespace {

// Puts `bytes` with put(position, bytes), or what the lie makes of it; `unit` bytes are one
// position.
template <class Put>
void put_lying(Telling& telling, std::uint64_t position, ConstByteSpan bytes, std::uint64_t unit,
               const Put& put) {
  const std::uint64_t count = bytes.size() / unit;
  switch (telling.below(5)) {
    case 0:  // nothing
      return;
    case 1:  // too little
      return put(position, bytes.first(telling.below(count) * unit));
    case 2:  // twice
      put(position, bytes);
      return put(position, bytes);
    case 3:  // further on
      return put(position + 1 + telling.below(count), bytes);
    default:  // further in front
      return put(position - std::min(position, 1 + telling.below(count)), bytes);
  }
}

}  // namespace

#define GSORT_WRITER_PUT "_ZN5gsort2io6Writer3putEm" GSORT_CONST_BYTES
void real_writer_put(io::Writer& writer, std::uint64_t position, ConstByteSpan keys)
    GSORT_REAL(GSORT_WRITER_PUT);
void lying_writer_put(io::Writer& writer, std::uint64_t position, ConstByteSpan keys)
    GSORT_WRAP(GSORT_WRITER_PUT);

void lying_writer_put(io::Writer& writer, std::uint64_t position, ConstByteSpan keys) {
  auto telling = the_liar().event(Seam::kWriter, keys);
  if (!telling) return real_writer_put(writer, position, keys);
  put_lying(*telling, position, keys, telling->element_bytes(),
            [&](std::uint64_t at, ConstByteSpan some) { real_writer_put(writer, at, some); });
}

#define GSORT_WRITE_AT "_ZN5gsort2io6Output8write_atEm" GSORT_CONST_BYTES
void real_write_at(io::Output& output, std::uint64_t offset, ConstByteSpan bytes)
    GSORT_REAL(GSORT_WRITE_AT);
void lying_write_at(io::Output& output, std::uint64_t offset, ConstByteSpan bytes)
    GSORT_WRAP(GSORT_WRITE_AT);

void lying_write_at(io::Output& output, std::uint64_t offset, ConstByteSpan bytes) {
  auto telling = the_liar().event(Seam::kOutput, bytes);
  if (!telling) return real_write_at(output, offset, bytes);
  put_lying(*telling, offset, bytes, 1,
            [&](std::uint64_t at, ConstByteSpan some) { real_write_at(output, at, some); });
}

#define GSORT_SHARED_WRITE_AT "_ZNK5gsort2io10SharedFile8write_atEm" GSORT_CONST_BYTES
void real_shared_write_at(const io::SharedFile& file, std::uint64_t offset, ConstByteSpan bytes)
    GSORT_REAL(GSORT_SHARED_WRITE_AT);
void lying_shared_write_at(const io::SharedFile& file, std::uint64_t offset, ConstByteSpan bytes)
    GSORT_WRAP(GSORT_SHARED_WRITE_AT);

void lying_shared_write_at(const io::SharedFile& file, std::uint64_t offset, ConstByteSpan bytes) {
  auto telling = the_liar().event(Seam::kOutput, bytes);
  if (!telling) return real_shared_write_at(file, offset, bytes);
  put_lying(*telling, offset, bytes, 1,
            [&](std::uint64_t at, ConstByteSpan some) { real_shared_write_at(file, at, some); });
}

#define GSORT_FORMAT_LINES "_ZN5gsort12format_linesE" GSORT_CONST_BYTES "RKNS_9KeyFormatEPc"
std::size_t real_format_lines(ConstByteSpan raw, const KeyFormat& format, char* out)
    GSORT_REAL(GSORT_FORMAT_LINES);
std::size_t lying_format_lines(ConstByteSpan raw, const KeyFormat& format, char* out)
    GSORT_WRAP(GSORT_FORMAT_LINES);

std::size_t lying_format_lines(ConstByteSpan raw, const KeyFormat& format, char* out) {
  const std::size_t bytes = real_format_lines(raw, format, out);
  const ByteSpan lines(reinterpret_cast<std::byte*>(out), bytes);
  auto telling = the_liar().event(Seam::kText, lines);
  if (!telling) return bytes;
  if (telling->below(4) == 0) return telling->below(bytes);
  telling->garble(lines);
  return bytes;
}

#define GSORT_COMPRESS \
  "_ZN5gsort2io8compressENS_5CodecEi" GSORT_CONST_BYTES "RSt6vectorIS3_SaIS3_EE"
void real_compress(Codec codec, int level, ConstByteSpan from, Bytes& to)
    GSORT_REAL(GSORT_COMPRESS);
void lying_compress(Codec codec, int level, ConstByteSpan from, Bytes& to)
    GSORT_WRAP(GSORT_COMPRESS);

void lying_compress(Codec codec, int level, ConstByteSpan from, Bytes& to) {
  const std::size_t begin = to.size();
  real_compress(codec, level, from, to);
  const ByteSpan member = ByteSpan(to).subspan(begin);
  auto telling = the_liar().event(Seam::kMember, member);
  if (!telling) return;
  switch (telling->below(4)) {
    case 0:  // cut short
      to.resize(begin + telling->below(member.size()));
      return;
    case 1: {  // of other bytes, and whole
      Bytes changed(from.begin(), from.end());
      telling->garble(changed);
      to.resize(begin);
      return real_compress(codec, level, changed, to);
    }
    default:
      telling->garble(member);
  }
}

}  // namespace gsort::test
