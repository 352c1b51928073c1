#include "pipeline/share/formed_shares.hpp"

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/io/support.hpp"

namespace gsort {
namespace {

// The folders of three shares of 100, 101 and 102 elements, as their manifests tell of them.
class SharesInFolders : public testing::Test {
 protected:
  SharesInFolders() {
    std::uint64_t first = 0;
    for (std::uint32_t number = 0; number < 3; ++number) {
      io::Manifest& manifest = manifests_.emplace_back();
      manifest.block_elements = 8 + number % 2;
      manifest.element_bytes = 4;
      manifest.job = "u32";
      manifest.sample = 9;
      manifest.inputs = {{"in", 1212, 5}};
      manifest.runs = {{1, {60, 7, number}, {4096, 8, 1}}, {2, {40 + number, 8, 1}, {8192, 6, 1}}};
      manifest.next_run = 3;
      manifest.share = {number, 3, false, first, 0, ""};
      first += 100 + number;
    }
  }

  // With this order of the folders.
  [[nodiscard]] FormedShares shares(const std::vector<unsigned>& order = {0, 1, 2}) const {
    std::vector<std::string> folders;
    for (const unsigned number : order) {
      folders.push_back(folder_ / std::to_string(number));
      std::filesystem::create_directory(folders.back());
      io::test::write_file(folders.back() + "/gsort.manifest",
                           io::encode_manifest(manifests_[number]));
    }
    return FormedShares(folders);
  }
  void expect_refused(const std::function<void(io::Manifest&)>& change) {
    const io::Manifest whole = manifests_[1];
    change(manifests_[1]);
    const Error error = io::test::error_of([this] { (void)shares(); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage) << error.what();
    manifests_[1] = whole;
  }

  io::test::TempFolder folder_;
  std::vector<io::Manifest> manifests_;
};

TEST_F(SharesInFolders, AreTheSameInAnyOrder) {
  const std::uint64_t number = shares().number();
  for (const std::vector<unsigned>& order : {std::vector{2U, 0U, 1U}, std::vector{1U, 2U, 0U}}) {
    const FormedShares formed = shares(order);
    EXPECT_EQ(formed.input(), (Fingerprint{303, 45, 6}));
    EXPECT_EQ(formed.runs(), 6U);
    EXPECT_EQ(formed.block_elements(), 9U);
    EXPECT_EQ(formed.dtype(), std::nullopt);
    EXPECT_EQ(formed.number(), number);
  }
}

TEST_F(SharesInFolders, AreRefusedIfTheirManifestsTakeTooMuchMemory) {
  const std::uint64_t bytes = shares().manifest_bytes();
  std::vector<std::string> folders;
  for (const char* const number : {"0", "1", "2"}) folders.push_back(folder_ / number);
  EXPECT_EQ(FormedShares(folders, bytes).elements(), 303U);
  const Error error = io::test::error_of([&] { FormedShares(folders, bytes - 1); });
  EXPECT_NE(std::string(error.what()).find("memory"), std::string::npos) << error.what();
}

TEST_F(SharesInFolders, AreRefusedWhereOneIsOfAnotherJob) {
  expect_refused([](io::Manifest& other) { other.job = "i32"; });
  expect_refused([](io::Manifest& other) { other.element_bytes = 8; });
  expect_refused([](io::Manifest& other) { other.inputs[0].bytes += 4; });
  expect_refused([](io::Manifest& other) { ++other.inputs[0].changed_ns; });
  expect_refused([](io::Manifest& other) { other.inputs.push_back({"in2", 0, 5}); });
  expect_refused([](io::Manifest& other) { ++other.sample; });
  expect_refused([](io::Manifest& other) { other.share->shares = 4; });
  expect_refused([](io::Manifest& other) { other.share->has_own_inputs = true; });
  expect_refused([](io::Manifest& other) {
    other.share->dtype_version = 1;
    other.share->dtype = "'<u4'";
  });
}

TEST_F(SharesInFolders, AreRefusedWhereTheyAreNotAll) {
  expect_refused([](io::Manifest& other) { other.share->number = 0; });
  expect_refused([](io::Manifest& other) { ++other.share->first_element; });
  expect_refused([](io::Manifest& other) { other.runs.pop_back(); });
  expect_refused([](io::Manifest& other) { other.share.reset(); });
  for (const std::vector<unsigned>& order :
       {std::vector{0U, 1U}, std::vector{1U, 2U}, std::vector{0U, 1U, 1U, 2U}}) {
    EXPECT_EQ(io::test::error_of([&] { (void)shares(order); }).kind(), ErrorKind::kUsage);
  }
}

// In runs, a number is behind each element.
TEST_F(SharesInFolders, OfAShuffleHaveTheDtypeOfTheirElements) {
  for (io::Manifest& manifest : manifests_) {
    manifest.job = "u32 little endian ascending shuffled by 5; input";
    manifest.element_bytes = 12;
    manifest.share->dtype_version = 1;
    manifest.share->dtype = "'<u4'";
  }
  EXPECT_EQ(shares().dtype()->descr, "'<u4'");
  for (io::Manifest& manifest : manifests_) manifest.element_bytes = 4;
  EXPECT_THROW((void)shares(), Error);
}

TEST_F(SharesInFolders, MayEachHaveInputsOfTheirOwn) {
  for (io::Manifest& manifest : manifests_) {
    manifest.share->has_own_inputs = true;
    manifest.share->first_element = 0;
    manifest.inputs[0].bytes += manifest.share->number;
    manifest.sample += manifest.share->number;
  }
  EXPECT_EQ(shares().elements(), 303U);
}

// Parts are known by it: those of other shares must not be joined with them.
TEST_F(SharesInFolders, HaveAnotherNumberWhereTheyAreOthers) {
  std::set<std::uint64_t> numbers = {shares().number()};
  const std::vector<std::function<void(io::Manifest&)>> changes = {
      [](io::Manifest& all) { all.job = "i32"; },
      [](io::Manifest& all) { all.element_bytes = 8; },
      [](io::Manifest& all) { all.inputs[0].bytes += 4; },
      [](io::Manifest& all) { ++all.inputs[0].changed_ns; },
      [](io::Manifest& all) { ++all.runs[1].input.first; },
      [](io::Manifest& all) { ++all.runs[1].input.second; },
      [](io::Manifest& all) {
        all.share->dtype_version = 1;
        all.share->dtype = "'<u4'";
      }};
  for (const auto& change : changes) {
    const std::vector<io::Manifest> before = manifests_;
    for (io::Manifest& manifest : manifests_) change(manifest);
    EXPECT_TRUE(numbers.insert(shares().number()).second);
    manifests_ = before;
  }
}

}  // namespace
}  // namespace gsort
