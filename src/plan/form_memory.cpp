#include "plan/form_memory.hpp"

#include <algorithm>
#include <bit>

#include "base/units.hpp"
#include "form/counted_lines.hpp"
#include "form/decimal.hpp"

namespace gsort {
namespace {

// As large as the largest pieces that the engines usually put, and as the windows of the codecs.
constexpr std::uint64_t kMostFrame = std::uint64_t{1} << 17;
constexpr std::uint64_t kLeastFrame = std::uint64_t{1} << 10;
constexpr std::uint64_t kMostFrameBytes = kMiB;         // of long records
constexpr std::uint64_t kProofBufferBytes = 64 * kKiB;  // io/output/writer.cpp

// The most memory that an element of a frame takes, as text and compressed. Keys with counts become
// lines of keys first.
std::uint64_t encoded_bytes(const OutputForm& form, const KeyFormat& key,
                            std::uint64_t element_bytes, bool counted) {
  const bool is_text = form.format == FileFormat::kText;
  const std::uint64_t keys = is_text ? most_line_bytes(key) : 0;
  const std::uint64_t text = is_text && counted ? keys + kMostCountBytes : keys;
  const std::uint64_t packed = form.codec == Codec::kNone ? 0 : std::max(text, element_bytes) + 1;
  return text + packed + (is_text && counted ? keys + element_bytes : 0);
}

}  // namespace

EncodePlan plan_encoding(const Job& job, unsigned threads, std::uint64_t host_bytes) {
  const OutputForm& form = job.output_form;
  const bool proven = job.handling.verify_encoding;
  if (form.is_plain()) return {};
  const std::uint64_t element_bytes = job.result_bytes();
  // Each thread has a frame in work; while it waits for its turn to write, another one begins.
  const std::uint64_t frames = 2 * std::uint64_t{threads};
  const std::uint64_t element = encoded_bytes(form, job.result_key(), element_bytes, job.count);
  EncodePlan plan;
  const std::uint64_t most =
      std::clamp<std::uint64_t>(kMostFrameBytes / element_bytes, 1, kMostFrame);
  plan.frame_elements = std::clamp(std::bit_floor(host_bytes / 8 / (frames * element)),
                                   std::min(kLeastFrame, most), most);
  plan.memory_bytes = frames * plan.frame_elements * element;
  plan.encoders = threads;
  plan.is_proven = proven;
  const CodecFacts& codec = facts_of(form.codec);
  const auto level = static_cast<std::uint64_t>(form.level);
  const std::uint64_t proof = proven ? codec.decompressor_bytes(level) : 0;
  if (proven) plan.memory_bytes += frames * kProofBufferBytes;
  if (const std::uint64_t each = codec.compressor_bytes(level) + proof; each > 0) {
    plan.encoders =
        static_cast<unsigned>(std::clamp<std::uint64_t>(host_bytes / 4 / each, 1, threads));
    plan.memory_bytes += plan.encoders * each;
  }
  return plan;
}

unsigned open_parts(unsigned parts, unsigned threads) {
  return std::clamp(parts, 1U, 2 * threads);
}

WriteWindows plan_write_windows(unsigned threads, std::uint64_t host_bytes, unsigned files) {
  constexpr std::uint64_t kLeastBytes = 64 * kKiB;
  constexpr std::uint64_t kLeastCount = 4;
  const std::uint64_t budget = host_bytes / 16 / files;
  const std::uint64_t wanted = 2 * std::uint64_t{threads} + 4;
  WriteWindows windows;
  windows.count = static_cast<unsigned>(std::clamp(budget / kLeastBytes, kLeastCount, wanted));
  windows.bytes =
      std::clamp<std::uint64_t>(std::bit_floor(budget / windows.count), kLeastBytes, kMiB);
  return windows;
}

std::uint64_t least_output_bytes(const OutputForm& form, std::uint64_t skip_bytes,
                                 std::uint64_t element_bytes, std::uint64_t elements) {
  if (form.codec != Codec::kNone) return 0;
  return skip_bytes +
         elements * (form.format == FileFormat::kText ? kLeastLineBytes : element_bytes);
}

}  // namespace gsort
