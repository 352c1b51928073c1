#include "app/shares.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mount.h>

#include "app/prepared_sort.hpp"
#include "io/input/reader.hpp"
#include "pipeline/share/formed_shares.hpp"
#include "pipeline/share/take_part.hpp"
#include "plan/make_plan.hpp"
#include "support/invented.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

struct Unmounting {
  const std::string& path;
  ~Unmounting() { ::umount2(path.c_str(), MNT_DETACH); }
};

// What was written of a part whose process was killed needs no room a second time. Needs the right
// to mount.
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
  Meter meter;
  {
    io::Reader reader({input}, {4, io::DirectIo::kAuto, {}});
    (void)form(options, make_job(options), reader, meter);
  }
  options.form.reset();
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

// Two processes take the same part, and it is joined before the slower one ends.
TEST(Take, LeavesNothingOfAPartThatIsJoinedMeanwhile) {
  const io::test::TempFolder folder;
  const std::string input = folder / "in";
  const std::string output = folder / "out0";
  io::test::write_file(input, std::vector<std::byte>(4000));
  Options options = test::options_for(KeyType::kU32, "64M");
  options.inputs = {input};
  options.form = folder / "runs";
  options.share = {0, 1};
  Meter form_meter;
  io::Reader reader({input}, {4, io::DirectIo::kAuto, {}});
  (void)form(options, make_job(options), reader, form_meter);

  Job job = make_job(options);
  job.resumable = true;
  job.part_elements = 1000;
  Machine machine = test::invented_machine(4000, 1, kTiB);
  PartJob part{output, {0, 1}, job.element};
  part.has_own_file = true;
  const auto take_with = [&](const EngineMaker& maker) {
    FormedShares shares({folder / "runs"});
    machine.resumed = {shares.runs(), shares.elements(), shares.block_elements()};
    Meter meter;
    (void)take_part(part, make_plan(job, machine), maker, shares, meter);
  };
  take_with([&](const Plan& plan, const EngineShape& shape, ByteSpan memory) {
    take_with(make_engine);
    (void)join_own_parts("out", {output});
    return make_engine(plan, shape, memory);
  });
  std::vector<std::string> left = folder.entries();
  std::ranges::sort(left);
  EXPECT_EQ(left, (std::vector<std::string>{".out0.gsort-joined", "in", "out0", "runs"}));
}

}  // namespace
}  // namespace gsort
