#include "plan/form_memory.hpp"

#include <algorithm>
#include <bit>

#include "base/units.hpp"
#include "form/counted_lines.hpp"
#include "form/decimal.hpp"
#include "plan/plan.hpp"

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

EncodePlan plan_encoding(const Plan& plan) {
  const Job& job = plan.job;
  const OutputForm& form = job.output_form;
  if (form.is_plain()) return {};
  const std::uint64_t element_bytes = job.result_bytes();
  // Each thread has a frame in work; while it waits for its turn to write, another one begins.
  const std::uint64_t frames = 2 * std::uint64_t{plan.threads};
  const std::uint64_t element = encoded_bytes(form, job.result_key(), element_bytes, job.count);
  EncodePlan encode;
  const std::uint64_t most =
      std::clamp<std::uint64_t>(kMostFrameBytes / element_bytes, 1, kMostFrame);
  encode.frame_elements =
      std::clamp(std::bit_floor(plan.host_budget_bytes / 8 / (frames * element)),
                 std::min(kLeastFrame, most), most);
  encode.memory_bytes = frames * encode.frame_elements * element;
  encode.encoders = plan.threads;
  encode.is_proven = job.handling.verify_encoding;
  const CodecFacts& codec = facts_of(form.codec);
  const auto level = static_cast<std::uint64_t>(form.level);
  const std::uint64_t proof = encode.is_proven ? codec.decompressor_bytes(level) : 0;
  if (encode.is_proven) encode.memory_bytes += frames * kProofBufferBytes;
  if (const std::uint64_t each = codec.compressor_bytes(level) + proof; each > 0) {
    encode.encoders = static_cast<unsigned>(
        std::clamp<std::uint64_t>(plan.host_budget_bytes / 4 / each, 1, plan.threads));
    encode.memory_bytes += encode.encoders * each;
  }
  return encode;
}

unsigned open_parts(const Plan& plan) {
  return std::clamp(plan.job.output_parts, 1U, 2 * plan.threads);
}

WriteWindows plan_write_windows(const Plan& plan) {
  constexpr std::uint64_t kLeastBytes = 64 * kKiB;
  constexpr std::uint64_t kLeastCount = 4;
  const std::uint64_t budget = plan.host_budget_bytes / 16 / open_parts(plan);
  const std::uint64_t wanted = 2 * std::uint64_t{plan.threads} + 4;
  WriteWindows windows;
  windows.count = static_cast<unsigned>(std::clamp(budget / kLeastBytes, kLeastCount, wanted));
  windows.bytes =
      std::clamp<std::uint64_t>(std::bit_floor(budget / windows.count), kLeastBytes, kMiB);
  return windows;
}

std::uint64_t least_output_bytes(const Job& job, std::uint64_t elements) {
  if (job.output_form.codec != Codec::kNone) return 0;
  const bool is_text = job.output_form.format == FileFormat::kText;
  return job.header_bytes + elements * (is_text ? kLeastLineBytes : job.result_bytes());
}

}  // namespace gsort
