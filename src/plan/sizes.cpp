#include "plan/sizes.hpp"

#include <algorithm>
#include <bit>

#include "base/checked.hpp"
#include "base/page.hpp"
#include "element/element.hpp"
#include "plan/budget.hpp"
#include "plan/rounds.hpp"

namespace gsort {
namespace {

// The size of blocks of runs, if fences and elements do not need larger ones.
constexpr std::uint64_t kLeastBlockBytes = 8 * kKiB;
constexpr std::uint64_t kMostBlockBytes = 64 * kKiB;

// Shorter chunks would make more runs than any merge could take.
constexpr std::uint64_t kLeastChunk = std::uint64_t{1} << 15;
constexpr std::uint64_t kLeastRecordChunk = std::uint64_t{1} << 8;

// A sort never makes more runs: merging them, and planning this, would take far too many rounds.
// With 24 MiB of memory, this many runs are more than 100 TiB.
constexpr std::uint64_t kMostRuns = std::uint64_t{1} << 24;

// No processor addresses more memory; sums of a few such sizes have room in 64 bits.
constexpr std::uint64_t kMostMemoryBytes = std::uint64_t{1} << 57;

// Binary search for the largest value in [1, most] for which `fits` holds (it holds up to some
// value); 0 if it does not hold for 1.
template <class Fits>
std::uint64_t largest(std::uint64_t most, const Fits& fits) {
  std::uint64_t low = 0;
  std::uint64_t high = most;
  while (low < high) {
    const std::uint64_t middle = high - (high - low) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// So small that few unneeded bytes are read at the borders of parts.
std::uint64_t usual_block_bytes(const SizeQuestion& q) {
  return std::clamp(std::bit_floor(q.host_bytes / 2048), kLeastBlockBytes, kMostBlockBytes);
}

std::uint64_t block_memory(const SizeQuestion& q, const RunPlan& run) {
  return round_up(run.block_elements * q.element.bytes + 64, kMemoryPageBytes);
}

// Blocks large enough for the fences, which must all be in memory, to take at most a quarter of it.
// The disk is written in whole write buffers.
RunPlan choose_run_plan(const SizeQuestion& q, std::uint64_t usual_bytes) {
  const std::uint64_t total_bytes = q.elements * q.element.bytes;
  const std::uint64_t by_fences =
      std::bit_ceil(static_cast<std::uint64_t>(static_cast<double>(total_bytes) * kFenceBytes /
                                               (static_cast<double>(q.host_bytes) / 4)) +
                    1);
  RunPlan run;
  const std::uint64_t one_element = round_up(q.element.bytes + 64, kMemoryPageBytes);
  const std::uint64_t block_bytes = std::max({usual_bytes, by_fences, one_element});
  // A block with its header fills whole pages of the disk, so that no page is partly wasted.
  run.block_elements = (block_bytes - 64) / q.element.bytes;
  if (q.fixed_block_elements > 0) run.block_elements = q.fixed_block_elements;
  const std::uint64_t least_buffer = block_memory(q, run);
  run.write_buffer_bytes = round_up(
      std::clamp<std::uint64_t>(q.host_bytes / 256, least_buffer, std::max(4 * kMiB, least_buffer)),
      kMemoryPageBytes);
  run.write_buffers = q.threads + q.devices;  // one more for a run, for pieces that were overtaken
  return run;
}

// Reading a block reads the pages of the disk in which it begins and ends.
std::uint64_t least_scratch(const SizeQuestion& q, const RunPlan& run) {
  return block_memory(q, run) + 8 * kKiB;
}

// The most lanes of one device, of this many in all.
std::uint64_t lanes_of_device(const SizeQuestion& q, unsigned lanes) {
  return div_up(lanes, q.devices);
}

std::optional<std::uint64_t> input_bytes(const SizeQuestion& q) {
  return q.size_known ? std::optional(q.elements * q.element.bytes) : std::nullopt;
}

// The largest chunk within the budgets for this many readers; chunk_elements stays 0 if there is
// none.
ChunkPlan largest_chunk(const SizeQuestion& q, unsigned lanes, std::uint64_t spill_bytes,
                        unsigned readers) {
  ChunkPlan chunk;
  chunk.lanes = lanes;
  chunk.readers = readers;
  chunk.block_bytes = q.engine->block_bytes(q.element, q.host_bytes, lanes, q.threads);
  const std::uint64_t most =
      std::min(q.engine->most_chunk_elements(q.element), kMostMemoryBytes / q.element.bytes);
  const auto lane_of = [&](std::uint64_t elements) {
    return q.engine->chunk_lane(q.element, elements, readers, chunk.block_bytes);
  };
  chunk.chunk_elements =
      largest(std::clamp<std::uint64_t>(q.elements, 1, most), [&](std::uint64_t elements) {
        const LaneBytes lane = lane_of(elements);
        return lanes_of_device(q, lanes) * lane.device <= q.device_bytes &&
               lanes * (lane.arena + lane.heap) + spill_bytes <= q.host_bytes;
      });
  if (chunk.chunk_elements > 0) chunk.arena_bytes = lanes * lane_of(chunk.chunk_elements).arena;
  return chunk;
}

// Chooses as many readers as are useful, unless their buffers make chunks much smaller.
ChunkPlan choose_chunk(const SizeQuestion& q, unsigned lanes, std::uint64_t spill_bytes) {
  constexpr std::uint64_t kLeastGain = 16;
  const ChunkPlan chunk = largest_chunk(q, lanes, spill_bytes, q.threads);
  const unsigned readers = q.engine->most_readers(q.threads);
  if (readers == q.threads) return chunk;
  const ChunkPlan other = largest_chunk(q, lanes, spill_bytes, readers);
  const bool holds_all = chunk.chunk_elements >= q.elements;
  const std::uint64_t may_be_lost = holds_all ? 0 : chunk.chunk_elements / kLeastGain;
  return other.chunk_elements + may_be_lost < chunk.chunk_elements ? chunk : other;
}

// All elements as one chunk that the devices hold together; chunk_elements stays 0 if they cannot.
ChunkPlan shared_chunk(const SizeQuestion& q) {
  ChunkPlan chunk;
  chunk.lanes = q.devices;
  chunk.readers = q.engine->most_readers(q.threads);
  chunk.block_bytes = q.engine->block_bytes(q.element, q.host_bytes, q.devices, q.threads);
  const auto share =
      q.engine->share_device_bytes(q.element, q.elements, chunk.block_bytes, q.devices);
  const std::uint64_t arena =
      q.devices * q.engine->chunk_lane(q.element, 0, chunk.readers, chunk.block_bytes).arena;
  if (!q.may_share || !share || *share > q.device_bytes || arena > q.host_bytes) return chunk;
  chunk.is_shared = true;
  chunk.chunk_elements = q.elements;
  chunk.arena_bytes = arena;
  return chunk;
}

std::uint64_t staging_bytes(const SizeQuestion& q, std::uint64_t elements) {
  return q.staged_output ? round_up(elements * q.element.bytes, kMemoryPageBytes) : 0;
}

// The host memory of `lanes` merge lanes, including staging buffers; none if they do not fit the
// devices.
std::optional<std::uint64_t> merge_lanes_bytes(const SizeQuestion& q, unsigned lanes,
                                               std::uint64_t elements) {
  const LaneBytes lane = q.engine->merge_lane(q.element, elements);
  if (lanes_of_device(q, lanes) * lane.device > q.device_bytes) return std::nullopt;
  return lanes * (lane.arena + staging_bytes(q, elements));
}

// Sizes for runs and merging, with all of the memory for the two.
std::optional<Sizes> spilling_sizes(const SizeQuestion& q, std::uint64_t kept_bytes,
                                    std::uint64_t block_bytes) {
  Sizes sizes;
  sizes.run = choose_run_plan(q, block_bytes);
  const std::uint64_t blocks =
      div_up(q.elements, std::max<std::uint64_t>(sizes.run.block_elements / 2, 1));
  sizes.fence_bytes = std::min(capped_product(blocks, kFenceBytes), q.host_bytes);
  sizes.chunk = choose_chunk(q, q.devices * q.engine->chunk_lanes(),
                             sizes.fence_bytes + sizes.run.write_buffers_bytes());
  sizes.chunk.spillers = q.keeps_tier ? q.devices : 1;  // runs to resume from follow each other
  const std::uint64_t least = q.element.is_record ? kLeastRecordChunk : kLeastChunk;
  if (sizes.chunk.chunk_elements < std::clamp<std::uint64_t>(q.elements, 1, least)) {
    return std::nullopt;
  }
  if (div_up(q.elements, sizes.chunk.chunk_elements) > kMostRuns) return std::nullopt;

  // A part should hold at least two blocks of each run, or the blocks at its borders are read too
  // often.
  const std::uint64_t most = q.most_fan_in != 0 ? q.most_fan_in : std::uint64_t{1} << 20;
  sizes.run.fan_in = static_cast<std::uint32_t>(largest(most, [&](std::uint64_t runs) {
    const std::uint64_t least_part = capped_product(2 * runs, sizes.run.block_elements);
    if (least_part > q.host_bytes / q.element.bytes) return false;
    return merge_sizes(q, sizes.run, sizes.fence_bytes, static_cast<std::uint32_t>(runs),
                       least_part)
               .part_elements >= least_part;
  }));
  if (sizes.run.fan_in < 2) return std::nullopt;
  // For a pipe: a size that is likely for a sort with this memory.
  constexpr std::uint64_t kLikelyFactor = 16;
  const std::uint64_t likely =
      q.size_known
          ? q.elements
          : std::min(q.elements, (q.host_bytes + kept_bytes) / q.element.bytes * kLikelyFactor);
  sizes.cost = spill_cost(div_up(likely, sizes.chunk.chunk_elements), sizes.run.fan_in, q.threads,
                          static_cast<double>(kept_bytes) /
                              (static_cast<double>(likely) * static_cast<double>(q.element.bytes)));
  return sizes;
}

// The cheapest blocks: smaller ones let more runs be merged at once, or fit where others do not.
std::optional<Sizes> cheapest_spilling_sizes(const SizeQuestion& q, std::uint64_t kept_bytes) {
  std::optional<Sizes> best;
  for (std::uint64_t block = usual_block_bytes(q); block >= kLeastBlockBytes; block /= 2) {
    const std::optional<Sizes> sizes = spilling_sizes(q, kept_bytes, block);
    if (sizes && (!best || sizes->cost < best->cost)) best = sizes;
  }
  return best;
}

// The input's share for a device, if its size is known.
std::optional<std::uint64_t> share_of_device(const SizeQuestion& q) {
  const auto bytes = input_bytes(q);
  return bytes ? std::optional(div_up(*bytes, q.devices)) : std::nullopt;
}

// Sizes with a tier of host memory, in addition to that of the devices; none if it does not pay or
// does not fit.
std::optional<Sizes> sizes_with_tier(const SizeQuestion& q, std::uint64_t on_device) {
  const std::uint64_t kept =
      q.keeps_tier ? q.engine->host_tier_bytes(q.host_bytes, input_bytes(q)) : 0;
  if (kept == 0) return std::nullopt;
  SizeQuestion beside = q;
  beside.host_bytes -= kept;
  std::optional<Sizes> sizes = cheapest_spilling_sizes(beside, on_device + kept);
  if (!sizes) return std::nullopt;
  sizes->run.kept_buffers = kept / sizes->run.write_buffer_bytes;
  sizes->run.tier_bytes = kept;
  return sizes;
}

}  // namespace

const EngineSizes& sizes_of(EngineKind kind) {
  return kind == EngineKind::kCuda ? cuda_sizes() : cpu_sizes();
}

ElementSize element_size_of(const Plan& plan) {
  const auto& records = plan.job.element.records;
  return {plan.element_bytes, records.has_value(), records && is_wide_key(*records)};
}

std::uint64_t least_device_budget(const Plan& plan) {
  const auto least = std::ranges::min_element(plan.devices, {}, &DevicePlan::budget_bytes);
  return least == plan.devices.end() ? 0 : least->budget_bytes;
}

std::uint64_t sorting_budget(const Plan& plan) {
  const WriteWindows windows = plan_write_windows(plan);
  const std::uint64_t beside = plan.decoding.bytes + plan_encoding(plan).memory_bytes +
                               open_parts(plan) * windows.count * windows.bytes + plan.names_bytes;
  const std::uint64_t budget = buffer_budget(plan.host_budget_bytes, plan.job.least_program_bytes);
  return budget - std::min(budget, beside);
}

SizeQuestion question_of(const Plan& plan) {
  SizeQuestion q;
  q.engine = &sizes_of(plan.engine);
  q.element = element_size_of(plan);
  q.threads = plan.threads;
  q.devices = std::max(static_cast<unsigned>(plan.devices.size()), 1U);
  q.staged_output = plan.output.needs_order;
  // More than only the whole buffers: sizes do not grow steadily with the memory, and a merge must
  // get the memory for which it was chosen.
  q.host_bytes = sorting_budget(plan) - plan.run.tier_bytes;
  const std::uint64_t device = least_device_budget(plan);
  q.device_bytes = device - std::min(device, plan.run.device_bytes());
  return q;
}

InputMergePlan input_merge_sizes(const SizeQuestion& q, std::uint64_t inputs) {
  constexpr std::uint64_t kLeastWindowBytes = 16 * kKiB;
  constexpr std::uint64_t kUsualWindowBytes = 64 * kKiB;
  const std::uint64_t least_window = kLeastWindowBytes / q.element.bytes;  // at least one record
  InputMergePlan merge;
  merge.lanes = q.devices * q.engine->merge_lanes(q.threads);
  const std::uint64_t wanted =
      std::max(q.engine->most_part_bytes(), inputs * kUsualWindowBytes) / q.element.bytes;
  const auto bytes = [&](std::uint64_t elements) -> std::optional<std::uint64_t> {
    const auto lanes = merge_lanes_bytes(q, merge.lanes, elements);
    if (!lanes) return std::nullopt;
    return round_up(elements * q.element.bytes, kMemoryPageBytes) + *lanes;
  };
  merge.part_elements = largest(wanted, [&](std::uint64_t elements) {
    const auto all = bytes(elements);
    return all && *all <= q.host_bytes;
  });
  const std::uint64_t most = q.most_fan_in != 0 ? q.most_fan_in : inputs;
  merge.fan_in = std::min({inputs, most, merge.part_elements / least_window});
  if (merge.fan_in == 0) return merge;
  merge.window_elements = merge.part_elements / merge.fan_in;
  merge.staging_bytes = staging_bytes(q, merge.part_elements);
  merge.arena_bytes = bytes(merge.part_elements).value_or(0);
  return merge;
}

MergePlan merge_sizes(const SizeQuestion& q, const RunPlan& run, std::uint64_t fence_bytes,
                      std::uint32_t runs, std::uint64_t wanted_elements) {
  const std::uint64_t block = block_memory(q, run);
  // A block of each run, held while splitting.
  const std::uint64_t splitter = runs * block + least_scratch(q, run);
  MergePlan merge;
  merge.lanes = q.devices * q.engine->merge_lanes(q.threads);
  // Slices are read in small pieces: several at a time, to hide the disk's latency. Each read has
  // its own buffer, for which there is no room if memory is short.
  merge.loaders = q.host_bytes < 32 * kMiB ? 1 : 4;
  merge.scratch_bytes =
      round_up(std::max(least_scratch(q, run), std::min<std::uint64_t>(kMiB, q.host_bytes / 64)),
               kMemoryPageBytes);
  const std::uint64_t scratch = std::uint64_t{merge.lanes} * merge.loaders * merge.scratch_bytes;
  const std::uint64_t others = splitter + fence_bytes + run.write_buffers_bytes();
  merge.part_elements =
      largest(std::max<std::uint64_t>(wanted_elements, 1), [&](std::uint64_t elements) {
        const auto lanes = merge_lanes_bytes(q, merge.lanes, elements);
        if (!lanes) return false;
        const std::uint64_t arena = *lanes + scratch;
        if (q.most_arena_bytes != 0 && arena > q.most_arena_bytes) return false;
        return others + arena <= q.host_bytes;
      });
  merge.staging_bytes = staging_bytes(q, merge.part_elements);
  const std::uint64_t lane = q.engine->merge_lane(q.element, merge.part_elements).arena;
  merge.arena_bytes = merge.lanes * (lane + merge.staging_bytes) + scratch;
  return merge;
}

double spill_cost(std::uint64_t run_count, std::uint32_t fan_in, unsigned threads,
                  double kept_share) {
  // A disk writes and reads an element in about the time in which a core sorts one, and merging is
  // about as much work.
  constexpr double kSpill = 1;
  double moved = 1;  // all, in the last merge
  auto runs = static_cast<double>(run_count);
  for (const MergeRound& round : plan_rounds(run_count, fan_in)) {
    double merged = 0;
    for (const std::uint32_t group : round.group_sizes) merged += group > 1 ? group : 0;
    moved += merged / runs;
    runs = static_cast<double>(round.group_sizes.size());
  }
  const double spilled = std::max(moved - kept_share, 0.0);
  return (1 + moved) / threads + spilled * kSpill;
}

std::optional<Sizes> choose_sizes(SizeQuestion q) {
  constexpr std::uint64_t kLeastHostBytes = 256 * kKiB;  // the smallest blocks and buffers of all
  if (q.host_bytes < kLeastHostBytes) return std::nullopt;
  if (q.size_known && !q.spills) {
    Sizes sizes;
    sizes.run = choose_run_plan(q, usual_block_bytes(q));
    sizes.chunk = choose_chunk(q, 1, 0);
    if (sizes.chunk.chunk_elements < q.elements) sizes.chunk = shared_chunk(q);
    if (sizes.chunk.chunk_elements >= q.elements) {
      sizes.run.fan_in = 2;
      return sizes;
    }
  }
  const std::uint64_t on_device =
      q.keeps_tier ? q.engine->device_tier_bytes(q.device_bytes, share_of_device(q)) : 0;
  q.device_bytes -= on_device;
  std::optional<Sizes> sizes = sizes_with_tier(q, q.devices * on_device);
  const std::optional<Sizes> without = cheapest_spilling_sizes(q, q.devices * on_device);
  if (!sizes || (without && without->cost < sizes->cost)) sizes = without;
  if (sizes) sizes->run.device_buffers = on_device / sizes->run.write_buffer_bytes;
  return sizes;
}

}  // namespace gsort
