// Each allocation of each public function fails: the call ends with an Error of the kind kResource
// and leaves everything as it was, or does what it was asked for.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <new>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "library/gsort.h"
#include "library/sort_file.hpp"
#include "library/sort_keys.hpp"
#include "library/sort_pairs.hpp"
#include "support/sorted_copy.hpp"
#include "unit/io/support.hpp"

namespace {

enum class Failing : std::uint8_t { kOne, kAllFromThere };

std::atomic<std::int64_t> allocations_left{-1};  // until one fails; negative: none does
std::atomic<Failing> failing{Failing::kOne};
std::atomic<bool> has_failed{false};

bool fails() {
  const std::int64_t left = allocations_left.load();
  if (left < 0 || (left > 0 && allocations_left.fetch_sub(1) > 0)) return false;
  if (failing == Failing::kOne) allocations_left = -1;
  has_failed = true;
  return true;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (fails()) throw std::bad_alloc();
  const std::size_t whole = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment;
  if (void* const memory = std::aligned_alloc(alignment, whole * alignment)) return memory;
  throw std::bad_alloc();
}

}  // namespace

// These replace the operators of the whole program. Without a sanitizer, the first two forms of new
// would be enough: the C++ library's other forms call them, but those of a sanitizer do not.
// operator delete is not inlined, because GCC would then warn of mismatched calls.
void* operator new(std::size_t bytes) {
  return allocate(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return operator new(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t bytes) {
  return operator new(bytes);
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return operator new(bytes, alignment);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace gsort {
namespace {

using io::test::read_file;
using io::test::TempFolder;
using io::test::write_file;
using test::Bytes;

constexpr KeyFormat kU32{KeyType::kU32};
constexpr std::int64_t kMostAllocations = 100'000;

// Where `call` throws an Error, that. Nothing fails any more when it has returned.
template <class Call>
std::optional<Error> thrown_by(const Call& call) {
  try {
    call();
    allocations_left = -1;
    return std::nullopt;
  } catch (const Error& error) {
    allocations_left = -1;
    return error;
  }
}

// The same for a call in C.
template <class Call>
std::optional<Error> told_by(const Call& call) {
  const gsort_status status = call();
  allocations_left = -1;
  if (status == GSORT_DONE) return std::nullopt;
  const int kind = static_cast<int>(gsort_last_error()) - 1;
  return Error(static_cast<ErrorKind>(kind), gsort_error_message(), gsort_error_hint());
}

// `call` is one of the two above; `wrong_after` says what is wrong then, or nothing.
void fail_each_allocation(Failing which, const std::function<std::optional<Error>()>& call,
                          const std::function<std::string(bool is_done)>& wrong_after) {
  failing = which;
  int errors = 0;
  for (std::int64_t number = 0; number < kMostAllocations; ++number) {
    has_failed = false;
    allocations_left = number;
    const std::optional<Error> error = call();
    ASSERT_EQ(wrong_after(!error), "") << number << (error ? error->what() : "");
    if (error) {
      ++errors;
      ASSERT_EQ(error->kind(), ErrorKind::kResource) << number << ": " << error->what();
    }
    if (has_failed) continue;
    ASSERT_FALSE(error.has_value()) << error->what();
    EXPECT_GT(errors, 0);
    return;
  }
  FAIL() << "every call has failed";
}

enum class Content : std::uint8_t { kSorted, kOther };

// A folder with the input of a sort, and an old file in the place of its output.
class Files {
 public:
  explicit Files(Bytes keys) : sorted_(test::sorted_copy(keys, kU32)), input_(folder_ / "in.u32") {
    write_file(input_, keys);
    put_old();
  }

  [[nodiscard]] const char* const* inputs() const { return inputs_; }
  [[nodiscard]] const std::string& input() const { return input_; }
  [[nodiscard]] const std::string& output() const { return output_; }

  // The old output after an error, the wanted one when it is done; and no other file.
  [[nodiscard]] std::string wrong_after(bool is_done, Content content = Content::kSorted) const {
    const Bytes found = read_file(output_);
    if ((found == kOld) == is_done) return "this is another output";
    if (is_done && content == Content::kSorted && found != sorted_) return "it is not sorted";
    if (folder_.entries().size() != 2) return "a file is left";
    if (is_done) put_old();
    return {};
  }

 private:
  static inline const Bytes kOld = Bytes(7);

  void put_old() const { write_file(output_, kOld); }

  TempFolder folder_;
  Bytes sorted_;
  std::string input_;
  std::string output_ = folder_ / "out.u32";
  const char* inputs_[1] = {input_.c_str()};
};

Bytes keys() {
  return test::generated(kU32, Distribution::kUniform, 2000);
}

const char* const kOptions[] = {"--parallel=2", "-S", "16M", "-T", "/tmp", nullptr};

class AllocationsInC : public testing::TestWithParam<Failing> {
 protected:
  static void fail_in_sort(const Files& files, const char* const* options,
                           gsort_report* report = nullptr, Content content = Content::kSorted) {
    fail_each_allocation(
        GetParam(),
        [&] {
          return told_by([&] {
            return gsort_sort(files.inputs(), 1, files.output().c_str(), options, report);
          });
        },
        [&](bool is_done) { return files.wrong_after(is_done, content); });
  }
};

TEST_P(AllocationsInC, FailInASort) {
  gsort_report report{};
  report.size = sizeof report;
  fail_in_sort(Files(keys()), kOptions, &report);
}

TEST_P(AllocationsInC, FailInAMerge) {
  const Files files(test::sorted_copy(keys(), kU32));
  fail_each_allocation(
      GetParam(),
      [&] {
        return told_by([&] {
          return gsort_merge(files.inputs(), 1, files.output().c_str(), kOptions, nullptr);
        });
      },
      [&](bool is_done) { return files.wrong_after(is_done); });
}

TEST_P(AllocationsInC, FailInACheck) {
  const Files files(test::sorted_copy(keys(), kU32));
  fail_each_allocation(
      GetParam(),
      [&] { return told_by([&] { return gsort_check(*files.inputs(), kOptions, nullptr); }); },
      [](bool) { return std::string(); });
}

// For every kind of output: an old one stays after an error, and no file is left.
TEST_P(AllocationsInC, FailInASortOfEachKind) {
  const std::vector<const char*> kinds[] = {
      {"--format=bin:text"},
      {"--format=bin:npy"},
      {"--compress=gzip", "--verify-encoding"},
      {"--compress=zstd", "--no-verify"},
      {"-u"},
      {"-u", "--count"},
      {"--top=10"},
      {"--argsort"},
      {"--batch-elements=100"},
      {"--record=8", "--key=0:u32"},
  };
  for (std::vector<const char*> words : kinds) {
    SCOPED_TRACE(words.front());
    words.insert(words.end(), std::begin(kOptions), std::end(kOptions));
    fail_in_sort(Files(keys()), words.data(), nullptr, Content::kOther);
    if (HasFailure()) return;
  }
}

TEST_P(AllocationsInC, FailInASortIntoSeveralFiles) {
  const TempFolder folder;
  write_file(folder / "in.u32", keys());
  const std::string input = folder / "in.u32";
  const std::string output = folder / "out-{}";
  const char* const inputs[] = {input.c_str()};
  const char* const options[] = {"--split-output=3", "--parallel=2", "-S", "16M", nullptr};
  fail_each_allocation(
      GetParam(),
      [&] {
        return told_by([&] { return gsort_sort(inputs, 1, output.c_str(), options, nullptr); });
      },
      [&](bool is_done) {
        const std::size_t files = folder.entries().size();
        for (const char* const part : {"out-0", "out-1", "out-2"}) {
          std::filesystem::remove(folder / part);
        }
        return files == (is_done ? 4U : 1U) ? "" : "there are other files";
      });
}

TEST_P(AllocationsInC, FailInASortThatResumes) {
  const TempFolder folder;
  const std::string resume = "--resume=" + (folder / "runs");
  const char* const options[] = {resume.c_str(), "--parallel=2", "-S", "16M", nullptr};
  fail_in_sort(Files(keys()), options);
}

INSTANTIATE_TEST_SUITE_P(OneOrAll, AllocationsInC,
                         testing::Values(Failing::kOne, Failing::kAllFromThere));

TEST(Allocations, FailInSortFile) {
  const Files files(keys());
  Options options;
  options.inputs = {files.input()};
  options.output = files.output();
  options.key.type = KeyType::kU32;
  options.parallel = 2;
  options.buffer_size = "16M";
  fail_each_allocation(
      Failing::kOne, [&] { return thrown_by([&] { sort_file(options); }); },
      [&](bool is_done) { return files.wrong_after(is_done); });
}

// The numbers below `count`, in descending order, or shuffled; then `count` is a power of two.
template <class Key>
std::vector<Key> falling_keys(std::size_t count) {
  std::vector<Key> keys(count);
  std::iota(keys.rbegin(), keys.rend(), Key{0});
  return keys;
}
template <class Key>
std::vector<Key> shuffled_keys(std::size_t count) {
  std::vector<Key> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = static_cast<Key>(i * 40'503 % count);
  return keys;
}

// Descending, so that keys have to be mapped.
template <class Key>
void fail_in_sort_keys(std::size_t count) {
  const std::vector<Key> given = shuffled_keys<Key>(count);
  const std::vector<Key> falling = falling_keys<Key>(count);
  std::vector<Key> keys = given;
  fail_each_allocation(
      Failing::kOne,
      [&] { return thrown_by([&] { sort_keys<Key>(keys, Order::kDescending, 2); }); },
      [&](bool is_done) {
        const bool right = keys == (is_done ? falling : given);
        keys = given;
        return right ? "" : "these are other keys";
      });
}

TEST(Allocations, FailInSortKeys) {
  fail_in_sort_keys<std::uint32_t>(1 << 19);
  fail_in_sort_keys<std::int64_t>(1 << 18);
}

TEST(Allocations, FailInSortKeysOfFewKeys) {
  fail_in_sort_keys<std::int32_t>(2048);
  fail_in_sort_keys<double>(2048);
}

TEST(Allocations, FailInSortKeysByCounting) {
  fail_in_sort_keys<std::uint8_t>(128);
  fail_in_sort_keys<std::int16_t>(1 << 10);
  fail_in_sort_keys<std::uint16_t>(1 << 16);
}

// After an error, keys and values must be unchanged.
template <class Key>
void fail_in_sort_pairs(std::size_t count) {
  const std::vector<Key> given = shuffled_keys<Key>(count);
  const std::vector<Key> falling = falling_keys<Key>(count);
  std::vector<Key> keys = given;
  std::vector<Key> values = given;
  fail_each_allocation(
      Failing::kOne,
      [&] { return thrown_by([&] { sort_pairs<Key, Key>(keys, values, Order::kDescending, 2); }); },
      [&](bool is_done) {
        const auto& wanted = is_done ? falling : given;
        const bool right = keys == wanted && values == wanted;
        keys = values = given;
        return right ? "" : "these are other pairs";
      });
}

TEST(Allocations, FailInSortPairs) {
  fail_in_sort_pairs<std::uint32_t>(1 << 18);
  fail_in_sort_pairs<std::int64_t>(1 << 17);
  fail_in_sort_pairs<float>(2048);
}

TEST(Allocations, FailInSortPairsOfShortKeys) {
  const std::vector<std::uint16_t> given = shuffled_keys<std::uint16_t>(1 << 16);
  const std::vector<std::uint16_t> falling = falling_keys<std::uint16_t>(1 << 16);
  std::vector<std::uint16_t> keys = given;
  std::vector<std::uint32_t> values(given.begin(), given.end());
  fail_each_allocation(
      Failing::kOne,
      [&] {
        return thrown_by(
            [&] { sort_pairs<std::uint16_t, std::uint32_t>(keys, values, Order::kDescending, 2); });
      },
      [&](bool is_done) {
        const bool right = keys == (is_done ? falling : given) &&
                           std::equal(keys.begin(), keys.end(), values.begin(), values.end());
        keys = given;
        values.assign(given.begin(), given.end());
        return right ? "" : "these are other pairs";
      });
}

TEST(Allocations, FailInArgsortKeys) {
  for (const std::uint32_t count : {2048U, 1U << 18}) {
    const std::vector<double> keys = shuffled_keys<double>(count);
    std::vector<std::uint32_t> indices(count);
    fail_each_allocation(
        Failing::kOne,
        [&] {
          return thrown_by([&] { argsort_keys<double, std::uint32_t>(keys, indices, {}, 2); });
        },
        [&](bool is_done) {
          for (std::uint32_t i = 0; is_done && i < count; ++i) {
            if (keys[indices[i]] != i) return "these are other indices";
          }
          return "";
        });
  }
}

TEST(Allocations, AreNotNeededForFewPairs) {
  std::vector<double> keys(64);
  std::iota(keys.rbegin(), keys.rend(), 0);
  std::vector<std::uint32_t> indices(keys.size());
  failing = Failing::kAllFromThere;
  has_failed = false;
  allocations_left = 0;
  argsort_keys<double, std::uint32_t>(keys, indices);
  sort_pairs<double, std::uint32_t>(keys, indices);
  allocations_left = -1;
  EXPECT_FALSE(has_failed);
  EXPECT_EQ(indices.front(), 0U);
  EXPECT_EQ(keys.front(), 0);
}

TEST(Allocations, FailInMergeKeys) {
  std::vector<std::uint32_t> one(1 << 17);
  std::iota(one.begin(), one.end(), 0U);
  std::vector<std::uint32_t> merged(2 * one.size());
  fail_each_allocation(
      Failing::kOne,
      [&] { return thrown_by([&] { merge_keys<std::uint32_t>(one, one, merged, {}, 2); }); },
      [&](bool is_done) {
        for (std::size_t i = 0; is_done && i < merged.size(); ++i) {
          if (merged[i] != i / 2) return "these are other keys";
        }
        return "";
      });
}

}  // namespace
}  // namespace gsort
