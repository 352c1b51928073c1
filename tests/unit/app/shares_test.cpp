#include "app/shares.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mount.h>

#include "app/prepared_sort.hpp"
#include "io/input/reader.hpp"
#include "io/system/sys.hpp"
#include "pipeline/share/formed_shares.hpp"
#include "pipeline/share/join_parts.hpp"
#include "support/invented.hpp"
#include "support/some_of.hpp"
#include "unit/app/at_once.hpp"
#include "unit/io/support.hpp"
#include "unit/pipeline/share/at_every.hpp"

namespace gsort {
namespace {

ShareDone form_share(const Options& options, io::DirectIo direct_io = io::DirectIo::kAuto) {
  Meter meter;
  io::Reader reader(options.inputs, {4, {direct_io}, {}});
  return form(options, make_job(options), reader, meter);
}

struct Unmounting {
  const std::string& path;
  ~Unmounting() { ::umount2(path.c_str(), MNT_DETACH); }
};

// The written bytes of a part whose process was killed need no room again. Needs the right to
// mount.
TEST(Take, AgainNeedsRoomForWhatIsMissingOnly) {
  const io::test::TempFolder disk;
  if (::mount("none", disk.path().c_str(), "tmpfs", 0, "size=5M") != 0) {
    GTEST_SKIP() << "mounting a small file system is not permitted here";
  }
  const Unmounting at_the_end{disk.path()};
  const io::test::TempFolder folder;
  const std::string input = folder / "in";
  io::test::write_file(input, std::vector<std::byte>(std::size_t{4} << 20));
  Options options = test::options_for(KeyType::kU32, "64M");
  options.inputs = {input};
  options.form = folder / "runs";
  options.share = {0, 1};
  (void)form_share(options);
  options.form.reset();
  Meter meter;
  options.from = {folder / "runs"};
  options.output = disk / "out";
  for (const unsigned part : {0U, 1U, 1U}) {
    options.take = {part, 2};
    EXPECT_FALSE(take(options, meter).was_there);
    for (const std::string& name : disk.entries()) {
      if (name.ends_with("-1-of-2")) std::filesystem::remove(disk / name);
    }
  }
}

TEST(FormedShare, SaysHowItsInputsWereRead) {
  const io::test::TempFolder folder;
  io::test::write_file(folder / "in", std::vector<std::byte>(4000));
  Options options = test::options_for(KeyType::kU32, "16M");
  options.inputs = {folder / "in"};
  options.form = folder / "runs";
  options.share = {0, 1};
  const std::vector<std::string> notes = form_share(options, io::DirectIo::kOn).outcome.notes;
  ASSERT_FALSE(notes.empty());
  EXPECT_TRUE(notes.front().starts_with(options.inputs.front())) << notes.front();
}

// A share, and two parts: in one file, or the distinct keys in files of their own.
class SmallSort {
 public:
  static constexpr unsigned kSteps = 4;  // form, take, take, join

  explicit SmallSort(bool has_own_files) : has_own_files_(has_own_files) {
    for (std::uint32_t i = 0; i < 600; ++i) keys_.push_back(i * 7919 % 251);
    io::test::write_file(folder_ / "in", std::as_bytes(std::span(keys_)));
    std::filesystem::create_directory(folder_ / "shares");
    std::ranges::sort(keys_);
    if (has_own_files) keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  }

  // Returns whether there was nothing to do.
  bool run(unsigned step) const {
    Options options = test::options_for(KeyType::kU32, "16M");
    options.parallel = 2;
    if (step == 0) {
      options.inputs = {folder_ / "in"};
      options.form = folder_ / "shares/0";
      options.share = {0, 1};
      return form_share(options).was_there;
    }
    options.output = folder_ / (has_own_files_ ? "out{}" : "out");
    if (has_own_files_) options.split_output = 2;
    options.unique = has_own_files_;
    options.join = 2;
    if (step == kSteps - 1) return join(options).count == keys_.size();
    options.take = {step - 1, 2};
    options.from = {folder_ / "shares/0"};
    Meter meter;
    return take(options, meter).was_there;
  }

  void run_from(unsigned step) const {
    for (; step < kSteps; ++step) run(step);
  }

  void expect_done() const {
    std::vector<std::string> wanted = {"in", "shares"};
    io::test::Bytes bytes;
    for (const char* const name : {"out", "out0", "out1"}) {
      if (has_own_files_ == (std::string(name) == "out")) continue;
      wanted.insert(wanted.end(), {name, std::string(".") + name + ".gsort-joined"});
      const io::test::Bytes part = io::test::read_file(folder_ / name);
      bytes.insert(bytes.end(), part.begin(), part.end());
    }
    EXPECT_TRUE(std::ranges::equal(bytes, std::as_bytes(std::span(keys_))));
    std::vector<std::string> left = folder_.entries();
    std::ranges::sort(left);
    std::ranges::sort(wanted);
    EXPECT_EQ(left, wanted);
    std::vector<std::string> formed;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "shares")) {
      formed.push_back(entry.path().filename());
    }
    EXPECT_EQ(formed, std::vector<std::string>{"0"});
  }

 private:
  const bool has_own_files_;
  const io::test::TempFolder folder_;
  std::vector<std::uint32_t> keys_;
};

enum class Others : std::uint8_t { kDoNothing, kDoTheSame, kDoTheRest };

// At every call of a process, others do the same or all the rest, and it dies there or goes on.
class SharesAtOnce
    : public testing::TestWithParam<std::tuple<std::pair<bool, unsigned>, Others, bool>> {
 protected:
  static constexpr std::array kCalls = {io::sys::Call::kOpen,   io::sys::Call::kRename,
                                        io::sys::Call::kLink,   io::sys::Call::kUnlink,
                                        io::sys::Call::kPwrite, io::sys::Call::kMkdir};

  static void SetUpTestSuite() { test::use_folders_in_memory(); }

  // Returns whether the process has such a call.
  static bool come_at(test::Moment moment, const SmallSort& sort) {
    const auto process = [&] { sort.run(step()); };
    const auto be_others = [&] {
      if (others() == Others::kDoTheSame) sort.run(step());
      if (others() == Others::kDoTheRest) sort.run_from(step());
    };
    return (it_dies() ? test::dies : test::goes_on)(moment, process, be_others);
  }

  static bool has_own_files() { return std::get<0>(GetParam()).first; }
  static unsigned step() { return std::get<0>(GetParam()).second; }
  static Others others() { return std::get<1>(GetParam()); }
  static bool it_dies() { return std::get<2>(GetParam()); }
};
// Whether each part has its own file, and the step.
const auto kFilesAndSteps =
    testing::Values(std::pair(false, 0U), std::pair(false, 1U), std::pair(false, 3U),
                    std::pair(true, 1U), std::pair(true, 3U));
INSTANTIATE_TEST_SUITE_P(Goes, SharesAtOnce,
                         testing::Combine(kFilesAndSteps,
                                          testing::Values(Others::kDoTheSame, Others::kDoTheRest),
                                          testing::Values(false)));
INSTANTIATE_TEST_SUITE_P(Dies, SharesAtOnce,
                         testing::Combine(kFilesAndSteps,
                                          testing::Values(Others::kDoNothing, Others::kDoTheRest),
                                          testing::Values(true)));

TEST_P(SharesAtOnce, LeaveTheWholeOutputAndNothingElse) {
#ifdef __SANITIZE_THREAD__
  if (it_dies()) GTEST_SKIP() << "ThreadSanitizer allows no threads in a process that is forked";
#endif
  test::SomeOf calls(2);
  for (const io::sys::Call call : kCalls) {
    if (!calls.takes()) continue;
    for (std::uint64_t nth = 1; !HasFailure(); ++nth) {
      SCOPED_TRACE(std::string(io::sys::name_of(call)) + " " + std::to_string(nth));
      const SmallSort sort(has_own_files());
      for (unsigned before = 0; before < step(); ++before) sort.run(before);
      if (!come_at({call, nth}, sort)) break;
      if (it_dies()) sort.run_from(step());
      if (others() == Others::kDoTheSame) sort.run_from(step() + 1);
      sort.expect_done();
      for (unsigned again = 0; again < SmallSort::kSteps; ++again) {
        EXPECT_TRUE(sort.run(again)) << again;
      }
      sort.expect_done();
    }
  }
}

// The options of --take and --join of the only part of the only share, which this forms.
Options options_to_take_all(const io::test::TempFolder& folder,
                            const io::test::Bytes& input = io::test::random_bytes(4000)) {
  io::test::write_file(folder / "in", input);
  Options options = test::options_for(KeyType::kU32, "16M");
  options.inputs = {folder / "in"};
  options.form = folder / "runs";
  options.share = {0, 1};
  (void)form_share(options);
  options.form.reset();
  options.from = {folder / "runs"};
  options.take = {0, 1};
  options.join = 1;
  return options;
}

TEST(Take, CountsWhatWasReadToFindAPartEmpty) {
  const io::test::TempFolder folder;
  const io::test::Bytes one_key(4'000);  // in the first part
  Options options = options_to_take_all(folder, one_key);
  options.unique = true;
  options.join.reset();
  options.split_output = 2;
  options.take = {1, 2};
  options.output = folder / "out{}";
  Meter meter;
  const Outcome outcome = take(options, meter).outcome;
  EXPECT_EQ(outcome.elements, 0U);
  EXPECT_GT(outcome.loaded_bytes, 0U);
}

// Another folder gets the name of the one that is renamed.
TEST(Take, LeavesAllInOneFolderThoughThatIsRenamedMeanwhile) {
  const io::test::TempFolder folder;
  const std::string there = folder / "there";
  const std::string moved = folder / "moved";
  Options options = options_to_take_all(folder);
  for (const bool has_own_file : {false, true}) {
    options.output = there + (has_own_file ? "/out{}" : "/out");
    if (has_own_file) options.split_output = 1;
    int failed = 0;
    test::at_every(
        {io::sys::Call::kOpen, io::sys::Call::kStat, io::sys::Call::kFsync, io::sys::Call::kLink},
        [&] {
          std::filesystem::remove_all(there);
          std::filesystem::remove_all(moved);
          std::filesystem::create_directory(there);
        },
        [&] {
          std::filesystem::rename(there, moved);
          std::filesystem::create_directory(there);
        },
        [&] {
          Meter meter;
          try {
            (void)take(options, meter);
          } catch (const Error& error) {
            EXPECT_EQ(error.reason(), "its folder was moved or removed during the sort");
            EXPECT_TRUE(std::filesystem::is_empty(there));
            ++failed;
          }
          if (!std::filesystem::exists(moved)) return;
          EXPECT_TRUE(std::filesystem::is_empty(there) || std::filesystem::is_empty(moved));
          if (std::filesystem::is_empty(there)) {
            std::filesystem::remove(there);
            std::filesystem::rename(moved, there);
          }
          (void)take(options, meter);
          EXPECT_EQ(join(options).count, 1000U);
        });
    EXPECT_GT(failed, 10);
  }
}

TEST(Take, FailsIfTheFolderOfTheOutputIsMovedMeanwhile) {
  const io::test::TempFolder folder;
  const std::string there = folder / "there";
  Options options = options_to_take_all(folder);
  for (const bool has_own_file : {false, true}) {
    options.output = there + (has_own_file ? "/out{}" : "/out");
    if (has_own_file) options.split_output = 1;
    std::filesystem::create_directory(there);
    const io::test::FaultScope at({io::sys::Call::kFsync, 1, 0, false, [&] {
                                     std::filesystem::rename(
                                         there, folder / ("moved" + std::to_string(has_own_file)));
                                   }});
    Meter meter;
    const Error error = io::test::error_of([&] { (void)take(options, meter); });
    EXPECT_EQ(error.reason(), "its folder was moved or removed during the sort");
  }
}

// Shares may be formed with unlike memory.
TEST(Take, ReadsBlocksOfTheLargestShare) {
  const io::test::TempFolder folder;
  const std::string input = folder / "in";
  std::vector<std::uint32_t> keys(1 << 20);
  std::ranges::generate(keys, std::mt19937(1));
  io::test::write_file(input, std::as_bytes(std::span(keys)));
  Options options = test::options_for(KeyType::kU32, "");
  options.inputs = {input};
  for (const auto& [share, memory] : {std::pair(0U, "8M"), {1U, "64M"}, {2U, "8M"}}) {
    options.buffer_size = memory;
    options.form = folder / std::to_string(share);
    options.share = {share, 3};
    options.from.push_back(*options.form);
    (void)form_share(options);
  }
  const auto block_of = [&](unsigned share) {
    return io::ResumeFolder(options.from[share], io::ResumeAccess::kRead).found()->block_elements;
  };
  ASSERT_LT(block_of(0), block_of(1));
  FormedShares shares(options.from);
  Plan plan;
  plan.element_bytes = 4;
  io::RunStoreOptions largest;
  largest.block_elements = block_of(1);
  KeptStores stores;
  EXPECT_EQ(shares.open_runs(plan, stores).size(), shares.runs());
  EXPECT_EQ(stores.largest()->scratch_bytes(),
            io::RunStore({folder.path()}, 4, largest).scratch_bytes());
  options.form.reset();
  options.output = folder / "out";
  for (const unsigned part : {0U, 1U}) {
    options.take = {part, 2};
    for (const bool is_there : {false, true}) {
      Meter meter;
      EXPECT_EQ(take(options, meter).was_there, is_there);
    }
  }
  (void)join_parts(*options.output, 2);
  std::ranges::sort(keys);
  EXPECT_TRUE(
      std::ranges::equal(io::test::read_file(*options.output), std::as_bytes(std::span(keys))));
}

class Form : public testing::Test {
 protected:
  Form() { io::test::write_file(folder_ / "in", io::test::random_bytes(4000)); }

  // Returns the error, if any.
  [[nodiscard]] std::string form_runs() const {
    Options options = test::options_for(KeyType::kU32, "16M");
    options.inputs = {folder_ / "in"};
    options.form = folder_ / "f";
    options.share = {0, 1};
    try {
      (void)form_share(options);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

  const io::test::TempFolder folder_;
};

TEST_F(Form, LeavesWhatGsortDidNotMake) {
  const std::vector<std::string> folders = {"data", ".f.gsort-", ".f.gsort-0",
                                            ".f.gsort-0123456789abcdef"};
  for (const std::string& name : folders) {
    std::filesystem::create_directory(folder_ / name);
    io::test::write_file(folder_ / name + "/notes", {});
  }
  for (const char* const name : {"/gsort.manifest", "/gsort.runs"}) {
    io::test::write_file(folder_ / "data" + name, {});
  }
  std::filesystem::create_directory_symlink("data", folder_ / ".f.gsort-1");
  std::filesystem::create_directory_symlink("data", folder_ / ".f.gsort-1123456789abcdef");
  for (const bool was_formed : {false, true}) {
    EXPECT_EQ(form_runs(), "") << was_formed;
    for (const std::string& name : folders) {
      EXPECT_TRUE(std::filesystem::exists(folder_ / name + "/notes")) << name << was_formed;
    }
    EXPECT_TRUE(std::filesystem::exists(folder_ / "data/gsort.runs"));
    EXPECT_TRUE(std::filesystem::exists(folder_ / "data/gsort.manifest"));
  }
}

TEST_F(Form, LeavesNothingOrAllOfItWhereACallFails) {
  using io::sys::Call;
  for (const Call call : {Call::kPwrite, Call::kFsync}) {
    const bool is_full = call == Call::kPwrite;  // from then on
    bool has_failed = true;
    for (std::uint64_t nth = 1; has_failed; ++nth) {
      SCOPED_TRACE(std::string(io::sys::name_of(call)) + " " + std::to_string(nth));
      {
        const io::test::FaultScope fault({call, nth, is_full ? ENOSPC : EIO, is_full});
        const std::string error = form_runs();
        has_failed = io::sys::counted_calls() >= nth;
        EXPECT_TRUE(!is_full || !has_failed || !error.empty());
      }
      std::vector<std::string> left = folder_.entries();
      std::ranges::sort(left);
      EXPECT_TRUE(left == std::vector<std::string>{"in"} ||
                  left == (std::vector<std::string>{"f", "in"}))
          << left.back();
      if (left.front() == "f") {
        EXPECT_TRUE(
            io::ResumeFolder(folder_ / "f", io::ResumeAccess::kRead).found()->share.has_value());
      }
      std::filesystem::remove_all(folder_ / "f");
    }
  }
}

// Manifests with a right checksum, as anybody can write them.
TEST(Take, RefusesSharesThatCannotBe) {
  const io::test::TempFolder folder;
  io::test::write_file(folder / "in", io::test::random_bytes(4000));
  Options options = test::options_for(KeyType::kU32, "16M");
  options.inputs = {folder / "in"};
  options.form = folder / "runs";
  options.share = {0, 1};
  (void)form_share(options);
  const io::Manifest formed =
      io::ResumeFolder(*options.form, io::ResumeAccess::kRead).found().value();
  options.from = {*options.form};
  options.form.reset();
  options.take = {0, 1};
  options.output = folder / "out";
  Meter meter;
  const auto take_of = [&](const auto& change) {
    io::Manifest forged = formed;
    change(forged);
    io::test::write_file(folder / "runs/gsort.manifest", io::encode_manifest(forged));
    return io::test::error_of([&] { (void)take(options, meter); }).kind();
  };
  const auto with_job = [&](const std::string& elements, std::uint32_t bytes) {
    return take_of([&](io::Manifest& forged) {
      forged.job = elements + " little endian ascending; verified";
      forged.element_bytes = bytes;
      forged.block_elements =
          std::min<std::uint64_t>(forged.block_elements, UINT32_MAX / (bytes + 1));
    });
  };
  EXPECT_EQ(with_job("records of 4 bytes, u32 of 4 at 4294967295", 4), ErrorKind::kTemporary);
  EXPECT_EQ(with_job("records of 0 bytes, u32 of 4 at 0", 4), ErrorKind::kTemporary);
  EXPECT_EQ(with_job("records of 4 bytes, bytes of 4294967295 at 0", 4), ErrorKind::kTemporary);
  EXPECT_EQ(with_job("records of 400000 bytes, bytes of 400000 at 0", 400000),
            ErrorKind::kTemporary);
  EXPECT_EQ(with_job("u64", 4), ErrorKind::kTemporary);
  EXPECT_EQ(with_job("u32", 8), ErrorKind::kTemporary);
  for (const char* const dtype : {"'<u4", "'<u8'", "[('a', '<u4'), ('b', '<u4')]", "'<O'"}) {
    EXPECT_EQ(take_of([&](io::Manifest& forged) {
                forged.share->dtype = dtype;
                forged.share->dtype_version = 1;
              }),
              ErrorKind::kTemporary)
        << dtype;
  }
  // -S is too small.
  EXPECT_EQ(take_of([](io::Manifest& forged) { forged.block_elements = UINT32_MAX / 4; }),
            ErrorKind::kUsage);
  EXPECT_FALSE(std::filesystem::exists(*options.output));
  io::test::write_file(folder / "runs/gsort.manifest", io::encode_manifest(formed));
  EXPECT_FALSE(take(options, meter).was_there);
}

}  // namespace
}  // namespace gsort
