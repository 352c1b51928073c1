// Every merge of the textbook on the card, against std::merge of copies taken before: all size
// borders and shapes, ties and empty sides, each with guards around the output.
#include <algorithm>
#include <string>
#include <vector>

#include "bench/textbook/merges.hpp"
#include "gpu/device_memory.hpp"
#include "gpu/distributions.hpp"

namespace gsort::textbook {
namespace {

using gpu::DeviceArray;

template <class Key>
class TextbookMerge : public gpu::GpuTest {
 protected:
  // Bits of the right width as keys of the textbook's type; signed keys get both signs.
  static std::vector<Key> sorted_keys(gpu::Shape shape, std::size_t count, std::uint64_t seed) {
    std::vector<Key> keys;
    for (const std::uint64_t bits : gpu::make_keys<std::uint64_t>(shape, count, seed)) {
      keys.push_back(static_cast<Key>(sizeof(Key) < 8 ? bits >> 32 : bits));
    }
    std::sort(keys.begin(), keys.end());
    return keys;
  }

  static void merge_and_compare(const NamedMerge<Key>& merge, const std::vector<Key>& a,
                                const std::vector<Key>& b, std::size_t misalign = 0) {
    std::vector<Key> expected(a.size() + b.size());
    std::merge(a.begin(), a.end(), b.begin(), b.end(), expected.begin());
    const DeviceArray<Key> a_array(a, misalign);
    const DeviceArray<Key> b_array(b, 2 * misalign);
    const DeviceArray<Key> out(expected.size(), misalign);
    const DeviceArray<std::uint64_t> scratch(merge_scratch_bytes(a.size(), b.size()) / 8);
    merge.launch(
        {{a_array.get(), a.size(), b_array.get(), b.size()}, out.get(), scratch.get(), nullptr});
    ASSERT_TRUE(out.values() == expected) << merge.name << ", " << a.size() << " + " << b.size();
    ASSERT_TRUE(out.guards_hold() && scratch.guards_hold()) << merge.name << ": wrote outside";
    ASSERT_TRUE(a_array.values() == a && b_array.values() == b) << merge.name << ": input changed";
  }
};

using KeyTypes = ::testing::Types<std::int32_t, std::uint64_t, std::uint8_t>;
TYPED_TEST_SUITE(TextbookMerge, KeyTypes);

// Nothing, one, and the borders of warps, threads' ranges, tiles and blocks' ranges.
constexpr std::size_t kSizes[] = {0,    1,    2,    31,   32,   33,   63,   64,    65,    127,
                                  128,  255,  257,  895,  896,  897,  2047, 2048,  2049,  2815,
                                  2817, 4095, 4097, 4351, 4353, 8193, 9999, 32767, 32769, 70001};

TYPED_TEST(TextbookMerge, MergesEverySizeWithEveryOther) {
  for (const NamedMerge<TypeParam>& merge : all_merges<TypeParam>()) {
    for (std::size_t i = 0; i < std::size(kSizes); ++i) {
      const std::size_t a_count = kSizes[i];
      for (const std::size_t b_count : {a_count, std::size_t{0}, kSizes[(7 * i + 3) % 30]}) {
        const auto a = this->sorted_keys(gpu::Shape::kUniform, a_count, i);
        const auto b = this->sorted_keys(gpu::Shape::kUniform, b_count, i + 100);
        this->merge_and_compare(merge, a, b, i % 4);
        this->merge_and_compare(merge, b, a, i % 3);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(TextbookMerge, MergesEveryShape) {
  for (const NamedMerge<TypeParam>& merge : all_merges<TypeParam>()) {
    for (const gpu::NamedShape& named : gpu::kShapes) {
      SCOPED_TRACE(std::string(named.name));
      const auto a = this->sorted_keys(named.shape, 40007, 1);
      const auto b = this->sorted_keys(named.shape, 50021, 2);
      const auto uniform = this->sorted_keys(gpu::Shape::kUniform, 40009, 3);
      this->merge_and_compare(merge, a, b);
      this->merge_and_compare(merge, a, uniform);
      this->merge_and_compare(merge, uniform, a);
      if (this->HasFatalFailure()) return;
    }
  }
}

// Several blocks of each kernel, few enough for the slow checkers of compute-sanitizer.
TYPED_TEST(TextbookMerge, MergesAnUnevenPair) {
  const auto a = this->sorted_keys(gpu::Shape::kUniform, 5003, 1);
  const auto b = this->sorted_keys(gpu::Shape::kFewDistinct, 7001, 2);
  for (const NamedMerge<TypeParam>& merge : all_merges<TypeParam>()) {
    this->merge_and_compare(merge, a, b);
  }
}

TYPED_TEST(TextbookMerge, MergesArraysThatDoNotInterleave) {
  std::vector<TypeParam> low(30000, 1);
  std::vector<TypeParam> high(50000, 2);
  for (const NamedMerge<TypeParam>& merge : all_merges<TypeParam>()) {
    this->merge_and_compare(merge, low, high);
    this->merge_and_compare(merge, high, low);
    if (this->HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace gsort::textbook
