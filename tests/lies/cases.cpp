#include "lies/cases.hpp"

#include <algorithm>
#include <ostream>
#include <utility>

#include "base/units.hpp"
#include "element/counted_keys.hpp"
#include "io/codecs/decompress.hpp"
#include "lies/seams.hpp"
#include "lies/shares_case.hpp"
#include "plan/rounds.hpp"
#include "support/resumable_sort.hpp"
#include "support/stably_sorted.hpp"
#include "support/std_engine.hpp"
#include "unit/io/memory_stream.hpp"
#include "unit/io/support.hpp"

namespace gsort::test {
namespace {

constexpr std::uint64_t kKeys = 9'000;
constexpr std::uint64_t kBlockBytes = 4096;
constexpr std::uint64_t kArenaBytes = 4 * kMiB;

const std::set<Seam> kOfChunks = {Seam::kReader, Seam::kBlock, Seam::kChunkLane, Seam::kChunkPiece};
const std::set<Seam> kOfMerges = {Seam::kSlices, Seam::kMergedPiece, Seam::kRun, Seam::kSplitBlock};
const std::set<Seam> kOfFiles = {Seam::kRunFileRead, Seam::kRunFileWrite};

std::set<Seam> operator|(std::set<Seam> left, const std::set<Seam>& right) {
  left.insert(right.begin(), right.end());
  return left;
}

// Blocks of a page, so that a chunk has many.
void use_small_blocks(Plan& plan) {
  plan.chunk.block_bytes =
      round_down(kBlockBytes, plan.job.element.records ? plan.element_bytes : kBlockBytes);
  plan.chunk.readers = 1;
  plan.threads = 1;
  plan.arena_bytes = std::max(plan.arena_bytes, kArenaBytes);
}

void use_one_chunk(Plan& plan) {
  use_small_blocks(plan);
  // A block that comes twice finds room.
  plan.chunk.chunk_elements = kKeys + kBlockBytes;
}

// Runs of a sixth of the input, some blocks long.
void use_runs(Plan& plan) {
  use_small_blocks(plan);
  const bool is_known = plan.elements > 0;
  if (is_known) plan.strategy = Spill{};
  plan.chunk.lanes = 2;
  plan.chunk.chunk_elements = div_up(is_known ? plan.elements : kKeys, 6);
  plan.run.block_elements = 200;
  plan.run.write_buffer_bytes =
      round_up(plan.run.block_elements * plan.element_bytes + 64, kBlockBytes);
  plan.run.write_buffers = 3;
  plan.run.kept_buffers = 0;
  plan.run.tier_bytes = 0;
  plan.run.fan_in = std::min(std::max(plan.run.fan_in, 2U), 16U);
  plan.run.count =
      plan.resumed.runs + div_up(plan.elements - plan.resumed.elements, plan.chunk.chunk_elements);
  plan.run.rounds = plan_rounds(plan.run.count, plan.run.fan_in);
}

void use_rounds(Plan& plan) {
  use_runs(plan);
  plan.run.fan_in = 3;
  plan.run.rounds = plan_rounds(plan.run.count, plan.run.fan_in);
}

void keep_runs(Plan& plan) {
  use_runs(plan);
  plan.run.kept_buffers = 1'000;
  plan.run.tier_bytes = plan.run.kept_bytes();
}

SortRequest request_of(const KeyFormat& format, Distribution distribution,
                       void (*change_plan)(Plan&)) {
  SortRequest request;
  request.format = format;
  request.input = generated(format, distribution, kKeys);
  request.budget = "16M";
  request.threads = 1;
  request.change_plan = change_plan;
  request.old_output = old_output();
  return request;
}

constexpr KeyFormat kU32{KeyType::kU32, false, false};
constexpr KeyFormat kF64{KeyType::kF64, true, true};
const RecordFormat kText{12, {{0, 12, {}, false, false}}};
const RecordFormat kRecord{12, {{4, 4, KeyType::kI32, false, false}}};

// Records that differ in their keys alone: no proof tells which of two with one key comes first.
Bytes three_times(const Bytes& keys) {
  Bytes all(3 * keys.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = keys[i / 12 * 4 + i % 4];
  return all;
}

Bytes records() {
  Bytes keys = generated(kU32, Distribution::kUniform, kKeys / 3);
  for (std::size_t at = 28; at < keys.size(); at += 28) std::copy_n(keys.data(), 4, &keys[at]);
  return three_times(keys);  // some are alike
}

SortRequest request_of_records(void (*change_plan)(Plan&)) {
  SortRequest request = request_of(kU32, Distribution::kUniform, change_plan);
  request.records = kRecord;
  request.input = records();
  return request;
}

SortRequest with_repeats(SortRequest request) {
  request.input = generated(request.format, Distribution::kZipf, kKeys);
  request.unique = true;
  return request;
}

SortRequest with_counts(SortRequest request, std::uint64_t min_count) {
  request = with_repeats(std::move(request));
  request.min_count = min_count;
  return request;
}

// Keys with many equal ones, which differ only in their positions.
SortRequest with_positions(SortRequest request) {
  if (!request.records) request.input = generated(request.format, Distribution::kZipf, kKeys);
  request.argsort = true;
  return request;
}

// Some of these f32 become zeros and NaNs of both signs.
Bytes with_equal_floats(Bytes input) {
  for (std::size_t at = 0; at < input.size(); at += 4) {
    std::byte* const key = &input[at];
    if (at % 12 == 0) key[0] = key[1] = key[2] = key[3] = std::byte{0};
    if (at % 20 == 0) key[2] = key[3] = std::byte{0x7f} | (key[3] & std::byte{0x80});
    if (at % 8 == 0) key[3] |= std::byte{0x80};
  }
  return input;
}

SortRequest of_floats(SortRequest request) {
  request.input = with_equal_floats(std::move(request.input));
  return request;
}

// Floats of an array in memory.
SortRequest of_array(SortRequest request) {
  request = of_floats(with_positions(std::move(request)));
  request.from_array = true;
  return request;
}

SortRequest with_top(SortRequest request, std::uint64_t top) {
  request.top = top;
  return request;
}

SortRequest in_arrays(SortRequest request, std::uint64_t elements) {
  request.batch_elements = elements;
  return request;
}

SortRequest as(SortRequest request, std::optional<FileFormat> format, std::optional<Codec> codec) {
  request.output_format = format;
  request.compress = codec;
  request.verify_encoding = true;
  return request;
}

SortRequest through_pipes(SortRequest request, bool from, bool to) {
  request.from_pipe = from;
  request.to_pipe = to;
  return request;
}

SortRequest between_ends(SortRequest request) {
  request.header = io::test::bytes_of("a header");
  request.trailer = io::test::bytes_of("an end");
  return request;
}

// Inputs of different lengths, in order.
SortRequest merging(SortRequest request) {
  for (const std::uint64_t keys : {2'500U, 1U, 4'000U, 0U, 2'499U}) {
    request.merged.push_back(
        sorted_copy(generated(request.format, Distribution::kUniform, keys, keys), request.format));
  }
  return request;
}

// Inputs of distinct keys with their counts; most keys are in several inputs.
SortRequest adding_counts(SortRequest request, std::uint64_t min_count) {
  for (const std::uint64_t keys : {9'000U, 1U, 8'000U, 0U, 4'999U}) {
    const Bytes sorted =
        sorted_copy(generated(request.format, Distribution::kZipf, keys, keys), request.format);
    Bytes pairs;
    for (auto key = sorted.begin(); key != sorted.end();) {
      std::uint64_t count = 0;
      const auto first = key;
      for (; key != sorted.end() && std::equal(first, first + 4, key); key += 4) ++count;
      pairs.insert(pairs.end(), first, first + 4);
      std::ranges::copy(std::as_bytes(std::span(&count, 1)), std::back_inserter(pairs));
    }
    request.merged.push_back(std::move(pairs));
  }
  request.min_count = min_count;
  return request;
}

void use_small_windows(Plan& plan) {
  use_small_blocks(plan);
  std::get<InputMergePlan>(plan.strategy).window_elements = 2 * kBlockBytes / plan.element_bytes;
}

// Inputs of keys of twelve bits: they have some in common, and repeat their own.
SortRequest comparing(SortRequest request, SetOperation operation) {
  request.set_operation = operation;
  for (const std::uint64_t keys : {4'000U, 2'500U, 2'499U}) {
    Bytes input = generated(kU32, Distribution::kUniform, keys, keys);
    for (std::size_t at = 0; at < input.size(); at += 4) {
      input[at + 1] &= std::byte{15};
      input[at + 2] = input[at + 3] = std::byte{0};
    }
    input = sorted_copy(input, kU32);
    request.merged.push_back(request.records ? three_times(input) : input);
  }
  return request;
}

SortRequest comparing_floats(SortRequest request, SetOperation operation) {
  request = comparing(std::move(request), operation);
  for (Bytes& input : request.merged) {
    input = sorted_copy(with_equal_floats(std::move(input)), request.format);
  }
  return request;
}

void use_small_pieces(Plan& plan) {
  use_small_blocks(plan);
  plan.strategy = SetPlan{2 * kBlockBytes, kBlockBytes / 8};
}

void merge_into_runs(Plan& plan) {
  InputMergePlan windows = plan.as<InputMergePlan>();
  windows.fan_in = 2;
  windows.window_elements = 2 * kBlockBytes / plan.element_bytes;
  use_runs(plan);
  plan.strategy = windows;
  plan.run.count = div_up(plan.job.merged_inputs, windows.fan_in);
  plan.run.rounds = plan_rounds(plan.run.count, plan.run.fan_in);
}

// For arrays of which several are read and sorted at once.
void use_small_array_blocks(Plan& plan) {
  use_small_blocks(plan);
  auto& batch = std::get<BatchPlan>(plan.strategy);
  batch.block_elements = 4 * batch.longest_array;
  batch.lanes = 1;
}

// Each array is a sort of its own, with runs if it has `chunk` elements or more.
template <std::uint64_t array, std::uint64_t chunk>
void use_large_arrays(Plan& plan) {
  use_runs(plan);
  plan.job.array_elements = array;
  plan.chunk.chunk_elements = chunk;
}

std::vector<LieCase> make_cases() {
  const auto keys = [](auto change) { return request_of(kU32, Distribution::kUniform, change); };
  const std::set<Seam> spilled = kOfChunks | kOfMerges | kOfFiles;
  const std::set<Seam> stored = {Seam::kBlock, Seam::kMergedPiece, Seam::kStored,
                                 Seam::kSplitBlock};
  const std::set<Seam> merged = {Seam::kReader, Seam::kBlock, Seam::kSlices, Seam::kMergedPiece};
  const std::set<Seam> arrays = {Seam::kReader, Seam::kBlock, Seam::kArrays};
  const std::set<Seam> counted = {Seam::kReader, Seam::kBlock};
  // Where the bytes of the output have no places in advance, pieces wait for what lies before them,
  // which the writer's own must not leave out.
  const std::set<Seam> placed = {Seam::kWriter, Seam::kOutput};
  const std::set<Seam> lines = {Seam::kOutput, Seam::kText};
  const std::set<Seam> members = {Seam::kOutput, Seam::kMember};
  std::vector<LieCase> cases;
  const auto add = [&cases](std::string name, SortRequest request, std::set<Seam> seams) -> auto& {
    LieCase made{std::move(name), std::move(request), std::move(seams)};
    made.request.make_engine = engine_maker("cpu");
    return cases.emplace_back(std::move(made));
  };

  add("one_chunk", keys(use_one_chunk), kOfChunks | placed).may_repeat_blocks = true;
  add("one_chunk_of_f64", request_of(kF64, Distribution::kUniform, use_one_chunk), kOfChunks);
  add("kept_blocks", request_of(kU32, Distribution::kSorted, use_one_chunk), kOfChunks);
  add("spilled", keys(use_runs), spilled | placed);
  add("spilled_f64", request_of(kF64, Distribution::kUniform, use_runs), spilled);
  add("several_rounds", keys(use_rounds), spilled);
  add("runs_in_memory", keys(keep_runs), kOfChunks | kOfMerges);
  for (const KeyType type : {KeyType::kU8, KeyType::kI16}) {
    add("counted_" + std::string(name_of(type)),
        request_of({type, true, false}, Distribution::kUniform, use_small_blocks), counted)
        .may_repeat_blocks = true;
  }
  const auto u16 = request_of({KeyType::kU16}, Distribution::kUniform, use_small_blocks);
  add("counted_from_pipe", through_pipes(u16, true, false), counted);
  add("records", request_of_records(use_one_chunk), kOfChunks);
  add("spilled_records", request_of_records(use_runs), spilled | placed);

  add("unique", with_repeats(keys(use_one_chunk)), kOfChunks | std::set{Seam::kRepeats});
  add("spilled_unique", with_repeats(keys(use_runs)), spilled | std::set{Seam::kRepeats});
  add("unique_records", request_of_records(use_runs), spilled).request.unique = true;
  const std::set<Seam> counts = {Seam::kCounts};
  add("counts", with_counts(keys(use_one_chunk), 1), kOfChunks | counts | placed);
  add("spilled_counts", with_counts(keys(use_runs), 1), spilled | counts);
  add("frequent", with_counts(keys(use_runs), 3), spilled | counts);
  add("counts_to_pipe", through_pipes(with_counts(keys(use_one_chunk), 2), false, true),
      kOfChunks | counts);
  add("counts_of_bytes", with_counts(request_of_records(use_runs), 1), spilled | counts)
      .request.records = kText;
  add("text_of_counts", as(with_counts(keys(use_one_chunk), 1), FileFormat::kText, {}),
      kOfChunks | lines);
  const std::set<Seam> indexes = {Seam::kIndexes, Seam::kOutput};
  add("positions", with_positions(keys(use_one_chunk)), kOfChunks | indexes);
  add("spilled_positions", with_positions(keys(use_runs)), spilled | indexes);
  add("shuffle", keys(use_one_chunk), kOfChunks | indexes).request.shuffle = 5;
  add("shuffle_of_records", request_of_records(use_runs), spilled | indexes).request.shuffle = 5;
  add("positions_of_records", with_positions(request_of_records(use_runs)), spilled | indexes);
  const SortRequest floats = request_of({KeyType::kF32}, Distribution::kUniform, use_one_chunk);
  add("positions_of_array", of_array(floats), {Seam::kArray, Seam::kBlock, Seam::kIndexes});
  const auto spilled_floats = request_of({KeyType::kF32}, Distribution::kUniform, use_runs);
  const std::set<Seam> alike = {Seam::kAlike};
  add("positions_of_floats", of_floats(with_positions(floats)), kOfChunks | indexes | alike);
  add("counts_of_floats", of_floats(with_counts(floats, 1)), kOfChunks | counts | alike);
  add("frequent_floats", of_floats(with_counts(spilled_floats, 3)), spilled | counts | alike);
  add("positions_to_pipe", through_pipes(with_positions(keys(use_runs)), true, true),
      spilled | std::set{Seam::kIndexes})
      .request.budget = "24M";
  add("top", with_top(keys(use_small_blocks), 200), counted).may_repeat_blocks = true;
  add("unique_top", with_top(with_repeats(keys(use_small_blocks)), 200),
      counted | std::set{Seam::kRepeats});
  add("top_of_records", with_top(request_of_records(use_runs), 4'000), spilled);
  const std::set<Seam> numbered = counted | indexes | std::set{Seam::kNumbers};
  add("top_positions", with_top(with_positions(keys(use_small_blocks)), 200), numbered);
  const auto u64 = request_of({KeyType::kU64}, Distribution::kUniform, use_small_blocks);
  add("top_positions_of_u64", with_top(with_positions(u64), 200), numbered);
  add("few_of_records", with_top(request_of_records(use_small_blocks), 200), counted);

  add("merged", merging(keys(use_small_windows)), merged | placed);
  add("merged_f64", merging(request_of(kF64, Distribution::kUniform, use_small_windows)), merged);
  add("merged_into_runs", merging(keys(merge_into_runs)), merged | kOfMerges | kOfFiles);
  add("merged_from_pipe", through_pipes(merging(keys(use_small_windows)), true, false), merged);
  add("merged_to_pipe", through_pipes(merging(keys(use_small_windows)), false, true), merged);

  const std::set<Seam> added = {Seam::kReader, Seam::kSlices, Seam::kMergedPiece, Seam::kCounts};
  add("added_counts", adding_counts(keys(use_small_windows), 1), added | placed);
  add("added_frequent", adding_counts(keys(use_small_windows), 3), added);
  add("added_counts_in_runs", adding_counts(keys(merge_into_runs), 1),
      added | kOfMerges | kOfFiles);
  add("added_counts_to_pipe", through_pipes(adding_counts(keys(use_small_windows), 2), false, true),
      added);
  const std::set<Seam> compared = counted | std::set{Seam::kRepeats, Seam::kMembers};
  const auto intersect = comparing(keys(use_small_pieces), SetOperation::kIntersect);
  const auto subtract = comparing(keys(use_small_pieces), SetOperation::kSubtract);
  add("intersected", intersect, compared | placed);
  add("subtracted", subtract, compared | placed);
  const auto f32 = request_of({KeyType::kF32}, Distribution::kUniform, use_small_pieces);
  add("intersected_floats", comparing_floats(f32, SetOperation::kIntersect), compared | alike);
  const auto less = comparing(request_of_records(use_small_pieces), SetOperation::kSubtract);
  add("subtracted_records", less, counted | std::set{Seam::kMembers});
  add("intersected_to_pipe", through_pipes(intersect, false, true), compared);
  add("subtracted_from_pipe", through_pipes(subtract, true, false), compared);
  add("subtracted_top", with_top(subtract, 100), compared);

  add("arrays", in_arrays(keys(use_small_array_blocks), 100), arrays | placed);
  const auto u8 = request_of({KeyType::kU8}, Distribution::kUniform, use_small_array_blocks);
  add("arrays_of_u8", in_arrays(u8, 500), arrays);
  add("arrays_of_records", in_arrays(request_of_records(use_small_array_blocks), 70), arrays);
  add("arrays_as_sorts", in_arrays(keys(use_large_arrays<2'500, 2'500>), 2'500), kOfChunks);
  add("arrays_as_spilled_sorts", in_arrays(keys(use_large_arrays<5'000, 1'000>), 5'000), spilled);

  add("npy", as(keys(use_runs), FileFormat::kNpy, {}), spilled | placed);
  add("text", as(keys(use_one_chunk), FileFormat::kText, {}), kOfChunks | lines);
  const auto text_of_runs = as(keys(use_runs), FileFormat::kText, {});
  add("spilled_text", text_of_runs, spilled | lines);
  add("zstd", as(keys(use_runs), {}, Codec::kZstd), spilled | members);
  add("gzip_of_text", as(keys(use_one_chunk), FileFormat::kText, Codec::kGzip),
      kOfChunks | lines | members);
  add("parts", keys(use_one_chunk), kOfChunks | placed).request.parts = 3;
  add("spilled_parts", keys(use_runs), spilled | placed).request.parts = 7;
  add("parts_of_text", text_of_runs, spilled | lines).request.parts = 3;
  add("from_pipe", through_pipes(keys(use_one_chunk), true, false), kOfChunks).may_repeat_blocks =
      true;
  add("to_pipe", through_pipes(keys(use_one_chunk), false, true), kOfChunks);
  add("spilled_through_pipes", through_pipes(keys(use_runs), true, true), spilled);
  add("ends", between_ends(keys(use_runs)), spilled | placed);
  add("ends_of_pipes", through_pipes(between_ends(keys(use_runs)), true, true), spilled);

  // Keys that are packed by the engine, in memory of a device, and on disk. The std engine reports
  // lies that break its contract as faults of the test: other engines get these.
  const auto add_stored = [&](std::string name, std::set<Seam> more) -> auto& {
    LieCase& made = add(std::move(name), keys(use_runs), stored | more);
    made.request.make_engine = [](const Plan&, const EngineShape& shape, ByteSpan) {
      return make_std_engine(shape, 500, true);
    };
    return made;
  };
  add_stored("packed_by_the_engine", kOfFiles);
  add("unpacked_by_cpu", request_of(kU32, Distribution::kEqual, use_runs), stored);
  LieCase& tier = add_stored("on_a_device", {Seam::kTier});
  tier.request.device_buffers = 1'000;
  tier.request.make_tier = [](auto&, auto bytes) { return make_lying_tier(bytes); };

  add("resumed", keys(use_runs), spilled).resumes = true;
  add("resumed_in_rounds", keys(use_rounds), spilled).resumes = true;
  add("resumed_reading", keys(use_runs), {Seam::kReader}).resumes = true;
  const std::set<Seam> shared = spilled | std::set{Seam::kOutput};
  add("shares", keys(use_runs), shared).in_shares = true;
  add("shares_of_records", request_of_records(use_runs), shared).in_shares = true;
  add("shares_as_text", text_of_runs, spilled | lines).in_shares = true;
  add("shares_of_distinct", with_repeats(keys(use_rounds)), spilled | std::set{Seam::kRepeats})
      .in_shares = true;
  add("shares_of_frequent", with_counts(keys(use_runs), 3), spilled | counts).in_shares = true;
  add("shares_in_rounds", keys(use_rounds), shared).in_shares = true;
  add("shares_of_records_in_rounds", request_of_records(use_rounds), shared).in_shares = true;
  return cases;
}

EngineMaker lying_engine(const LieCase& lie_case) {
  return [&lie_case](const Plan& plan, const EngineShape& shape, ByteSpan memory) {
    return wrap_engine(lie_case.request.make_engine(plan, shape, memory), lying_hooks(),
                       element_bytes_of(lie_case.request));
  };
}

// Ends while it writes its third run, and in its second merge if there are several, and goes on.
SortResult run_resumed(const LieCase& lie_case) {
  ResumableSort sort({lie_case.request.input}, lie_case.request.format.type);
  sort.options.parallel = 1;
  sort.change_plan = lie_case.request.change_plan;
  sort.hooks = lying_hooks();
  io::test::write_file(*sort.options.output, old_output());
  SortResult result;
  for (const Interruption& interruption : {Interruption{2, {}}, Interruption{{}, 1}, {}}) {
    try {
      result.error = sort.run(interruption).error;
    } catch (const Error& error) {  // of what is there to go on with
      result.error = error;
    }
    if (!result.error || !io::test::contains(result.error->what(), "as the test wanted")) break;
  }
  result.output = sort.output();
  return result;
}

}  // namespace

void PrintTo(const LieCase& lie_case, std::ostream* out) {
  *out << lie_case.name;
}

const std::vector<LieCase>& lie_cases() {
  static const std::vector<LieCase> cases = make_cases();
  return cases;
}

std::size_t element_bytes_of(const SortRequest& request) {
  const std::size_t index = request.shuffle ? 8 : request.argsort ? (request.from_pipe ? 8 : 4) : 0;
  const std::size_t count = request.min_count && !request.unique ? kCountBytes : 0;
  return index + count + (request.records ? request.records->bytes : bytes_of(request.format.type));
}

const Bytes& old_output() {
  static const Bytes bytes = io::test::bytes_of("what was there before");
  return bytes;
}

SortResult run_case(const LieCase& lie_case) {
  let_reader_repeat(lie_case.may_repeat_blocks);
  if (lie_case.resumes) return run_resumed(lie_case);
  SortRequest request = lie_case.request;
  request.make_engine = lying_engine(lie_case);
  if (lie_case.in_shares) return sort_in_shares(request);
  SortResult result = sort_in_folder(request);
  // The members of a compressed output are cut where pieces are.
  if (request.compress && !result.error) {
    io::test::MemoryStream compressed(*result.output);
    try {
      result.output =
          io::test::drain(*io::make_decoder(*request.compress, compressed, "the output"));
    } catch (const Error&) {  // it is left as it is, which is not the truth
    }
  }
  return result;
}

}  // namespace gsort::test
