#include "plan/decoding.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "plan/budget.hpp"

namespace gsort {
namespace {

// Enough for the usual levels of all codecs.
constexpr std::uint64_t kUsualDecoderBytes = 10 * kMiB;

// An eighth of the budget for all decoders at once, or the need of usual levels, if that is at most
// a quarter.
constexpr std::uint64_t kShareDivisor = 8;
constexpr std::uint64_t kMostShareDivisor = 4;

// Whether later parts of an input may need more than its first header says.
bool may_grow(const DecoderNeed& need) {
  return !facts_of(need.codec).header_says_all;
}

bool work_at_once(const Job& job) {
  return job.merged_inputs > 0;
}

// The number of decoders that share the reserved memory.
std::uint64_t sharers(const Job& job, const Machine& machine) {
  if (!work_at_once(job)) return 1;
  const auto growing = std::ranges::count_if(machine.compressed, may_grow, &CompressedInput::need);
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(growing), 1);
}

// The memory for all inputs, or for the one that needs most. No need is more than a few GiB.
std::uint64_t at_once(const Job& job, const Machine& machine, std::uint64_t share) {
  std::uint64_t bytes = 0;
  for (const CompressedInput& input : machine.compressed) {
    const DecoderNeed& need = input.need;
    const std::uint64_t each = may_grow(need) ? std::max(need.bytes, share) : need.bytes;
    bytes = work_at_once(job) ? bytes + each : std::max(bytes, each);
  }
  return bytes;
}

bool leaves_room_to_sort(std::uint64_t needed_bytes, std::uint64_t host_bytes) {
  return needed_bytes <= host_bytes / 4 * 3;
}

// In MiB; 0 if the machine has no such memory.
std::uint64_t least_budget(Resources resources, std::uint64_t needed_bytes, const Machine& machine,
                           const HasPlan& has_plan) {
  const std::uint64_t most = machine.memory_bytes / kMiB;
  for (std::uint64_t tried = div_up(needed_bytes, kMiB); tried <= most;
       tried += std::max<std::uint64_t>(tried / 16, 1)) {
    resources.buffer_size = fmt::format("{}M", tried);
    if (leaves_room_to_sort(needed_bytes, tried * kMiB) && has_plan(resources)) return tried;
  }
  return 0;
}

Error too_little(const CompressedInput& input, std::uint64_t needed_bytes, bool merge,
                 std::uint64_t host_bytes, std::uint64_t least) {
  std::string needs =
      fmt::format("its {} needs {}", memory_word(input.need.codec), format_bytes(input.need.bytes));
  if (needed_bytes > input.need.bytes) {
    needs += fmt::format(", all inputs of the merge together {}", format_bytes(needed_bytes));
  }
  const std::string beside = merge ? fmt::format("decompress such inputs first: {} > FILE",
                                                 decompress_command(input.need.codec, input.path))
                                   : "use: " + decompress_pipe(input.need.codec, input.path);
  return Error(ErrorKind::kUsage, "reading",
               fmt::format("{}, more than -S {} leaves", needs, format_bytes(host_bytes)))
      .path(input.path)
      .hint(least > 0 ? fmt::format("give -S {}M or more, or {}", least, beside) : beside);
}

}  // namespace

DecodingPlan plan_decoding(const Job& job, const Machine& machine) {
  if (machine.compressed.empty()) return {};
  const std::uint64_t decoders = sharers(job, machine);
  const std::uint64_t each = host_budget(job.resources, machine) / decoders;
  const std::uint64_t share =
      std::clamp(each / kShareDivisor, std::min(kUsualDecoderBytes, each / kMostShareDivisor),
                 kMostDecoderShare);
  return {at_once(job, machine, share), {share, kShareDivisor * decoders, machine.memory_bytes}};
}

void require_decoding_memory(const Job& job, const Machine& machine, const HasPlan& has_plan) {
  const std::uint64_t host_bytes = host_budget(job.resources, machine);
  const std::uint64_t needed = at_once(job, machine, 0);
  if (leaves_room_to_sort(needed, host_bytes)) return;
  const CompressedInput& largest = *std::ranges::max_element(
      machine.compressed, {}, [](const CompressedInput& input) { return input.need.bytes; });
  throw too_little(largest, needed, work_at_once(job), host_bytes,
                   least_budget(job.resources, needed, machine, has_plan));
}

}  // namespace gsort
