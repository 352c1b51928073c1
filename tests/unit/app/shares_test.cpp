#include "app/shares.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <sys/mount.h>

#include "app/prepared_sort.hpp"
#include "io/input/reader.hpp"
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

}  // namespace
}  // namespace gsort
