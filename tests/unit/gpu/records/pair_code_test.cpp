// Codes of pairs, on the CPU: whatever a word leaves out of its key, prefixes are ordered as the
// keys are, and code, word and what was staged give the key back.
#include "gpu/records/pair_code.hpp"

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace gsort::gpu {
namespace {

constexpr unsigned kTilePairs = 2048;

template <class Key>
class PrefixCodes : public ::testing::Test {
 protected:
  using Code = PrefixCodeFor<Key, kTilePairs>;
  static constexpr unsigned kKeyBits = 8 * sizeof(Key);

  // A code for keys from least to least + span.
  Code code_of(Key least, Key span) {
    staged_.assign(kTilePairs, 0);
    return Code::of({least, static_cast<Key>(least + span)},
                    reinterpret_cast<unsigned char*>(staged_.data()));
  }
  // Keys of that range: its ends, steps of all sizes from both, random ones.
  static std::vector<Key> keys_of(Key least, Key span) {
    std::vector<Key> keys{least, static_cast<Key>(least + span)};
    std::mt19937_64 random(span);
    for (unsigned bit = 0; bit < kKeyBits && (span >> bit) != 0; ++bit) {
      const auto step = static_cast<Key>(Key{1} << bit);
      for (const Key off : {step, static_cast<Key>(step - 1)}) {
        keys.push_back(static_cast<Key>(least + off));
        keys.push_back(static_cast<Key>(least + span - off));
      }
    }
    for (int i = 0; i < 50; ++i) {
      const auto off = static_cast<Key>(random());
      keys.push_back(static_cast<Key>(
          least + (span == std::numeric_limits<Key>::max() ? off : off % (span + 1))));
    }
    return keys;
  }
  // Ranges of every width, at the least keys, at the greatest, and between.
  template <class Visit>
  void visit_ranges(const Visit& visit) {
    for (unsigned width = 0; width <= kKeyBits; ++width) {
      const auto most = static_cast<Key>(width == kKeyBits ? std::numeric_limits<Key>::max()
                                                           : (Key{1} << width) - 1);
      for (const Key span : {most, static_cast<Key>(most / 2 + 1)}) {
        const auto highest = static_cast<Key>(std::numeric_limits<Key>::max() - span);
        for (const Key least : {Key{0}, static_cast<Key>(highest / 3), highest}) {
          visit(least, span);
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }

  std::vector<Key> staged_;
};

using KeyTypes = ::testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(PrefixCodes, KeyTypes);

TYPED_TEST(PrefixCodes, GiveKeysAndIndicesBack) {
  this->visit_ranges([&](TypeParam least, TypeParam span) {
    const auto code = this->code_of(least, span);
    unsigned index = 0;
    for (const TypeParam key : this->keys_of(least, span)) {
      for (const unsigned at : {index++, kTilePairs - 1}) {
        code.stage(key, at);
        const auto word = code.word_of(key, at);
        ASSERT_EQ(code.index_of(word), at);
        ASSERT_EQ(code.key_of(word), key) << least << " + " << span;
      }
    }
  });
}

TYPED_TEST(PrefixCodes, OrderWordsByKeysUnlessTheyShareAPrefix) {
  this->visit_ranges([&](TypeParam least, TypeParam span) {
    const auto code = this->code_of(least, span);
    const auto keys = this->keys_of(least, span);
    for (unsigned i = 0; i < keys.size(); ++i) code.stage(keys[i], i);
    for (unsigned i = 0; i < keys.size(); ++i) {
      for (unsigned j = 0; j < keys.size(); ++j) {
        if (i == j) continue;
        const auto a = code.word_of(keys[i], i);
        const auto b = code.word_of(keys[j], j);
        const bool behind = keys[i] != keys[j] ? keys[i] > keys[j] : i > j;
        if (!code.share_prefix(a, b) || !code.may_misplace()) {
          ASSERT_EQ(a > b, behind) << keys[i] << ", " << keys[j];
        } else {
          ASSERT_EQ(code.goes_behind(a, b), behind) << keys[i] << ", " << keys[j];
          ASSERT_EQ(a > b, i > j);
        }
        ASSERT_TRUE(keys[i] != keys[j] || code.share_prefix(a, b));
      }
    }
  });
}

// The condition for fast passes: as many upper bits as a word has room for.
TYPED_TEST(PrefixCodes, LeaveOutNoMoreThanTheyMust) {
  constexpr unsigned kPrefixBits = 32 - 11;
  this->visit_ranges([&](TypeParam least, TypeParam span) {
    const auto code = this->code_of(least, span);
    unsigned width = 0;
    while (width < 8 * sizeof(TypeParam) && (span >> width) != 0) ++width;
    ASSERT_EQ(code.left_out, width > kPrefixBits ? width - kPrefixBits : 0);
    ASSERT_EQ(code.may_misplace(), width > kPrefixBits);
  });
}

TYPED_TEST(PrefixCodes, PutFillsBehindAllPairs) {
  constexpr auto kFill = ~std::uint32_t{0};
  this->visit_ranges([&](TypeParam least, TypeParam span) {
    const auto code = this->code_of(least, span);
    ASSERT_LT(code.word_of(static_cast<TypeParam>(least + span), kTilePairs - 2), kFill);
    ASSERT_LE(code.word_of(static_cast<TypeParam>(least + span), kTilePairs - 1), kFill);
  });
}

}  // namespace
}  // namespace gsort::gpu
