// merge_slices on the card, against std::sort of a copy taken before the call.
#include "gpu/merge/device_merge.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <string>

#include "base/error.hpp"
#include "device_memory.hpp"
#include "distributions.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/tuning.hpp"
#include "support/error_of.hpp"

namespace gsort::gpu {
namespace {

template <class Key>
class DeviceMerge : public GpuTest {};

using KeyTypes = ::testing::Types<std::uint32_t, std::uint64_t, UInt128>;
TYPED_TEST_SUITE(DeviceMerge, KeyTypes);

template <class Key>
struct Slices {
  std::vector<Key> keys;
  std::vector<std::uint64_t> counts;
};

// Keys of a shape, cut at random places; some slices are empty, some hold one key.
template <class Key>
Slices<Key> make_slices(Shape shape, std::uint32_t slice_count, std::uint64_t mean,
                        std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Slices<Key> slices;
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < slice_count; ++i) {
    const std::uint64_t kind = random() % 8;
    const std::uint64_t count = kind == 0 ? 0 : (kind == 1 ? 1 : random() % (2 * mean + 1));
    slices.counts.push_back(count);
    total += count;
  }
  slices.keys = make_keys<Key>(shape, total, seed);
  auto begin = slices.keys.begin();
  for (const std::uint64_t count : slices.counts) {
    std::sort(begin, begin + static_cast<std::ptrdiff_t>(count));
    begin += static_cast<std::ptrdiff_t>(count);
  }
  return slices;
}

template <class Key>
std::vector<Key> sorted_and_mapped(const std::vector<Key>& keys, KeyMap<Key> map) {
  std::vector<Key> sorted = keys;
  std::sort(sorted.begin(), sorted.end());
  for (Key& key : sorted) key = map.to_raw(key);
  return sorted;
}

template <class Key>
void merge_and_compare(const Slices<Key>& slices, KeyMap<Key> map, std::size_t misalign,
                       const std::string& what) {
  if (is_left_out(slices.keys.size())) return;
  const std::vector<Key> expected = sorted_and_mapped(slices.keys, map);
  const auto slice_count = static_cast<std::uint32_t>(slices.counts.size());
  const DeviceArray<Key> input(slices.keys, misalign);
  const DeviceArray<Key> output(slices.keys.size(), misalign / 2);
  const std::size_t bytes = merge_slices_scratch_bytes<Key>(slices.keys.size(), slice_count);
  const DeviceArray<unsigned char> scratch(bytes, 256 - DeviceArray<char>::kGuard);
  merge_slices<Key>({.input = input.get(),
                     .slice_counts = slices.counts.data(),
                     .slice_count = slice_count,
                     .output = output.get(),
                     .store_map = map,
                     .scratch = {scratch.get(), bytes}});
  ASSERT_TRUE(output.values() == expected)
      << what << ", " << slice_count << " slices, " << expected.size() << " keys";
  ASSERT_TRUE(output.guards_hold() && scratch.guards_hold()) << what;
  ASSERT_TRUE(input.values() == slices.keys) << what << ": the input changed";
}

TYPED_TEST(DeviceMerge, MergesAnyNumberOfSlices) {
  for (const std::uint32_t slice_count :
       {0U, 1U, 2U, 3U, 4U, 5U, 7U, 8U, 9U, 15U, 16U, 17U, 63U, 64U, 65U, 300U, 600U}) {
    for (const std::uint64_t mean : {3U, 100U, 5000U}) {
      if (are_too_many(slice_count * mean / 2)) continue;
      for (const std::uint64_t seed : {1U, 2U}) {
        merge_and_compare(make_slices<TypeParam>(Shape::kUniform, slice_count, mean, seed), {}, 0,
                          "uniform");
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// What is copied as soon as a piece is queued has all keys of the piece.
TYPED_TEST(DeviceMerge, TellsOfEachPieceWhenItIsQueued) {
  for (const std::uint32_t slice_count : {1U, 2U, 3U, 8U, 9U}) {
    for (const std::uint64_t piece_keys : {1U, 9'000U, 1'000'000U}) {
      const auto slices = make_slices<TypeParam>(Shape::kUniform, slice_count, 3'000, 3);
      const std::uint64_t count = slices.keys.size();
      const DeviceArray<TypeParam> input(slices.keys);
      const DeviceArray<TypeParam> output(count);
      const DeviceArray<TypeParam> copies(count);
      const std::size_t bytes = merge_slices_scratch_bytes<TypeParam>(count, slice_count);
      const DeviceArray<unsigned char> scratch(bytes, 256 - DeviceArray<char>::kGuard);
      std::uint64_t told = 0;
      unsigned pieces = 0;
      merge_slices_in_pieces<TypeParam>(
          {.input = input.get(),
           .slice_counts = slices.counts.data(),
           .slice_count = slice_count,
           .output = output.get(),
           .scratch = {scratch.get(), bytes}},
          piece_keys, [&](std::uint64_t begin, std::uint64_t end) {
            EXPECT_EQ(begin, told);
            EXPECT_GT(end, begin);
            told = end;
            ++pieces;
            check_cuda(cudaMemcpyAsync(copies.get() + begin, output.get() + begin,
                                       (end - begin) * sizeof(TypeParam), cudaMemcpyDeviceToDevice,
                                       nullptr),
                       CudaCall::kCopy, "copying a piece");
          });
      EXPECT_EQ(told, count);
      const bool is_cut = slice_count > 2 && slice_count <= 8 && piece_keys < count;
      EXPECT_EQ(pieces > 1, is_cut) << slice_count << " slices, pieces of " << piece_keys;
      EXPECT_TRUE(copies.values() == sorted_and_mapped(slices.keys, {}));
    }
  }
}

// Four passes, and five.
TYPED_TEST(DeviceMerge, MergesAsManySlicesAsManyHostsHave) {
  for (const std::uint32_t slice_count : {1'024U, 10'000U}) {
    merge_and_compare(make_slices<TypeParam>(Shape::kUniform, slice_count, 2, 9), {}, 0, "short");
    if (!are_too_many(slice_count * std::size_t{2'000} / 2)) {
      merge_and_compare(make_slices<TypeParam>(Shape::kUniform, slice_count, 2'000, 9), {}, 0,
                        "long");
    }
    merge_and_compare(make_slices<TypeParam>(Shape::kFewDistinct, slice_count, 2, 9), {}, 0,
                      "few distinct keys");
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(DeviceMerge, MergesEveryShape) {
  for (const NamedShape& named : kShapes) {
    for (const std::uint32_t slice_count : {2U, 4U, 7U, 20U}) {
      for (const std::uint64_t mean : {700U, 60000U}) {
        if (are_too_many(slice_count * mean / 2)) continue;
        merge_and_compare(make_slices<TypeParam>(named.shape, slice_count, mean, 3), {}, 0,
                          std::string(named.name));
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(DeviceMerge, MergesAtAnyAlignmentAndMaps) {
  const auto map = KeyMap<TypeParam>::of({mapped_type<TypeParam>(), true, true});
  for (const std::size_t misalign : {1U, 2U, 3U, 5U, 15U, 31U}) {
    for (const std::uint32_t slice_count : {1U, 2U, 6U, 70U}) {
      if (are_too_many(slice_count * std::size_t{9'000} / 2)) continue;
      merge_and_compare(make_slices<TypeParam>(Shape::kUniform, slice_count, 9000, 4), map,
                        misalign, "misaligned by " + std::to_string(misalign));
      if (this->HasFatalFailure()) return;
    }
  }
}

template <class Key>
std::vector<Key> two_sorted_runs(std::vector<Key> keys, std::uint64_t first) {
  const auto middle = keys.begin() + static_cast<std::ptrdiff_t>(first);
  std::sort(keys.begin(), middle);
  std::sort(middle, keys.end());
  return keys;
}

// Two sorted halves of keys of a shape, which lie in one allocation: a before b, or b before a.
template <class Key>
void merge_arrays_and_compare(Shape shape, std::uint64_t a_count, std::uint64_t b_count,
                              KeyMap<Key> map, std::size_t misalign, bool b_before_a) {
  if (is_left_out(a_count + b_count)) return;
  const std::vector<Key> keys = two_sorted_runs<Key>(
      make_keys<Key>(shape, a_count + b_count, a_count), b_before_a ? b_count : a_count);
  const std::vector<Key> expected = sorted_and_mapped(keys, map);

  const DeviceArray<Key> input(keys, misalign);
  const DeviceArray<Key> output(keys.size(), misalign);
  const std::size_t bytes = merge_arrays_scratch_bytes<Key>(keys.size());
  const DeviceArray<unsigned char> scratch(bytes, 256 - DeviceArray<char>::kGuard);
  const Key* const a = input.get() + (b_before_a ? b_count : 0);
  const Key* const b = input.get() + (b_before_a ? 0 : a_count);
  merge_arrays<Key>({.a = a_count == 0 ? nullptr : a,
                     .a_count = a_count,
                     .b = b_count == 0 ? nullptr : b,
                     .b_count = b_count,
                     .output = output.get(),
                     .store_map = map,
                     .scratch = {scratch.get(), bytes}});
  ASSERT_TRUE(output.values() == expected) << a_count << " + " << b_count << " keys";
  ASSERT_TRUE(output.guards_hold() && scratch.guards_hold());
  ASSERT_TRUE(input.values() == keys) << "the input changed";
}

TYPED_TEST(DeviceMerge, MergesTwoArraysThatLieAnywhere) {
  const auto map = KeyMap<TypeParam>::of({mapped_type<TypeParam>(), true, false});
  const std::uint64_t most = small_tuning_for<TypeParam>(90).most_merged_keys;
  const std::uint64_t tile = small_tuning_for<TypeParam>(90).kernels.merge_tile_keys(2);
  const std::vector<std::array<std::uint64_t, 2>> sizes{
      {0, 1},    {1, 0},        {1, 1},          {7, 3000},   {tile, tile},
      {tile, 1}, {tile - 1, 0}, {40000, 123457}, {0, 100000}, {most / 2, most - most / 2},
      {most, 1}, {1, most},     {most, most},    {500000, 3}, {2 * tile + 1, 5 * tile - 3}};
  for (const auto& [a_count, b_count] : sizes) {
    for (const bool b_before_a : {false, true}) {
      merge_arrays_and_compare<TypeParam>(Shape::kUniform, a_count, b_count, {}, 0, b_before_a);
      if (this->HasFatalFailure()) return;
    }
    merge_arrays_and_compare<TypeParam>(Shape::kUniform, a_count, b_count, map, 3, true);
    if (this->HasFatalFailure()) return;
  }
  for (const NamedShape& named : kShapes) {
    for (const std::uint64_t count : {std::uint64_t{30000}, most}) {
      merge_arrays_and_compare<TypeParam>(named.shape, count, count / 3, {}, 1, true);
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DeviceMerge, RefusesBadTwoArraysBeforeAnyLaunch) {
  const DeviceArray<TypeParam> keys(20000);
  const DeviceArray<TypeParam> output(20000);
  const std::size_t bytes = merge_arrays_scratch_bytes<TypeParam>(20000);
  const DeviceArray<unsigned char> scratch(bytes, 256 - DeviceArray<char>::kGuard);
  const auto refused = [&](const TypeParam* a, const TypeParam* b, TypeParam* out, void* memory,
                           std::size_t memory_bytes, std::uint64_t b_count = 11000) {
    const Error error = test::error_of([&] {
      merge_arrays<TypeParam>({.a = a,
                               .a_count = 9000,
                               .b = b,
                               .b_count = b_count,
                               .output = out,
                               .scratch = {memory, memory_bytes}});
    });
    return error.kind() == ErrorKind::kUsage;
  };
  const TypeParam* const a = keys.get();
  EXPECT_TRUE(refused(nullptr, a, output.get(), scratch.get(), bytes));
  EXPECT_TRUE(refused(a, nullptr, output.get(), scratch.get(), bytes));
  EXPECT_TRUE(refused(a, a, nullptr, scratch.get(), bytes));
  EXPECT_TRUE(refused(a, a + 9000, keys.get() + 7, scratch.get(), bytes));
  EXPECT_TRUE(refused(a, a, output.get(), scratch.get(), bytes - 1));
  EXPECT_TRUE(refused(a, a, output.get(), nullptr, bytes));
  EXPECT_TRUE(refused(a, a, output.get(), scratch.get(), bytes, ~std::uint64_t{0}));
  merge_arrays<TypeParam>({.a_count = 0, .b_count = 0});
}

TYPED_TEST(DeviceMerge, RunsOnSeveralStreamsAtOnce) {
  constexpr int kStreams = 4;
  const auto slices = make_slices<TypeParam>(Shape::kUniform, 30, 20000, 8);
  const std::vector<TypeParam> expected = sorted_and_mapped<TypeParam>(slices.keys, {});
  const auto slice_count = static_cast<std::uint32_t>(slices.counts.size());
  const std::size_t bytes = merge_slices_scratch_bytes<TypeParam>(expected.size(), slice_count);
  const DeviceArray<TypeParam> input(slices.keys);
  std::vector<std::unique_ptr<DeviceArray<TypeParam>>> outputs;
  std::vector<std::unique_ptr<DeviceArray<unsigned char>>> scratches;
  cudaStream_t streams[kStreams];
  for (auto& stream : streams) {
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), CudaCall::kStream,
               "stream");
    outputs.push_back(std::make_unique<DeviceArray<TypeParam>>(expected.size()));
    scratches.push_back(
        std::make_unique<DeviceArray<unsigned char>>(bytes, 256 - DeviceArray<char>::kGuard));
  }
  for (int round = 0; round < kRoundsOfStreams; ++round) {
    for (std::size_t i = 0; i < kStreams; ++i) {
      std::vector<std::uint64_t> counts = slices.counts;  // gone before the device reads anything
      merge_slices<TypeParam>({.input = input.get(),
                               .slice_counts = counts.data(),
                               .slice_count = slice_count,
                               .output = outputs[i]->get(),
                               .scratch = {scratches[i]->get(), bytes},
                               .stream = streams[i]});
      std::fill(counts.begin(), counts.end(), 1);
    }
  }
  for (const auto& output : outputs) EXPECT_TRUE(output->values() == expected);
  for (const auto stream : streams) cudaStreamDestroy(stream);
}

TYPED_TEST(DeviceMerge, RefusesBadArgumentsBeforeAnyLaunch) {
  const std::vector<std::uint64_t> counts{9000, 11000};
  const DeviceArray<TypeParam> keys(20000);
  const DeviceArray<TypeParam> output(20000);
  const std::size_t bytes = merge_slices_scratch_bytes<TypeParam>(20000, 2);
  const DeviceArray<unsigned char> scratch(bytes, 256 - DeviceArray<char>::kGuard);
  const auto refused = [&](const TypeParam* in, const std::uint64_t* table, TypeParam* out,
                           void* memory, std::size_t memory_bytes) {
    const Error error = test::error_of([&] {
      merge_slices<TypeParam>({.input = in,
                               .slice_counts = table,
                               .slice_count = 2,
                               .output = out,
                               .scratch = {memory, memory_bytes}});
    });
    return error.kind() == ErrorKind::kUsage;
  };
  EXPECT_TRUE(refused(nullptr, counts.data(), output.get(), scratch.get(), bytes));
  EXPECT_TRUE(refused(keys.get(), nullptr, output.get(), scratch.get(), bytes));
  EXPECT_TRUE(refused(keys.get(), counts.data(), nullptr, scratch.get(), bytes));
  EXPECT_TRUE(refused(keys.get(), counts.data(), keys.get() + 7, scratch.get(), bytes));
  EXPECT_TRUE(refused(keys.get(), counts.data(), output.get(), scratch.get(), bytes - 1));
  EXPECT_TRUE(refused(keys.get(), counts.data(), output.get(), nullptr, bytes));
  const std::vector<std::uint64_t> huge{~std::uint64_t{0}, 2};
  EXPECT_TRUE(refused(keys.get(), huge.data(), output.get(), scratch.get(), bytes));
}

}  // namespace
}  // namespace gsort::gpu
