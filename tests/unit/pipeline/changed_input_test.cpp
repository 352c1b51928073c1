// Inputs that another program changes while they are sorted: it appends to them just before one
// system call, for each call of a kind in turn. The sort must fail, unless the output is in place.
#include <array>
#include <cstdint>
#include <fstream>
#include <functional>
#include <span>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "io/input/reader.hpp"
#include "io/output/output.hpp"
#include "options/job.hpp"
#include "pipeline/share/form_share.hpp"
#include "pipeline/sort_job.hpp"
#include "support/invented.hpp"
#include "support/sort_run.hpp"
#include "unit/io/support.hpp"
#include "unit/pipeline/share/at_every.hpp"

namespace gsort {
namespace {

using io::sys::Call;

class InputsThatChange : public testing::Test {
 protected:
  // Changes the input before each call of this kind, in a sort of its own. Returns how many failed.
  unsigned errors_at_every(Call call, const std::function<void(const SortContext&)>& sort) {
    unsigned errors = 0;
    test::at_every(
        {call}, [this] { begin(); }, [this] { append(); },
        [&] { errors += fails(sort) ? 1U : 0U; });
    return errors;
  }
  unsigned errors_at_every(Call call, const std::string& output) {
    return errors_at_every(call, [&](const SortContext& context) {
      io::Output opened(output);
      (void)run_sort(context, std::span(&opened, 1));
    });
  }

  // Whether the sort fails if the input is changed after all is written and before the output has
  // its name.
  bool fails_before_the_name(const std::string& output) {
    begin();
    return fails([&](const SortContext& context) {
      io::Output opened(output);
      (void)run_sort(context, std::span(&opened, 1), [this] { append(); });
    });
  }

  void begin() const { io::test::write_file(input_, keys_); }
  void append() const { std::ofstream(input_, std::ios::app) << "tail"; }

  bool fails(const std::function<void(const SortContext&)>& sort) {
    Options options = test::options_for(KeyType::kU32, "16M");
    options.parallel = 1;
    io::Reader reader(
        {input_}, {sizeof(std::uint32_t), {DirectIo::kAuto}, {FileFormat::kBinary, Codec::kNone}});
    Job job = make_job(options, {}, reader.known_size());
    if (is_share_) hold_in_runs(job);
    job.forms_share = is_share_;
    Machine machine = test::invented_machine(reader.known_size(), 1, kTiB);
    machine.temporary.front().path = folder_ / ".";
    const Plan plan = make_plan(job, machine);
    Meter meter;
    try {
      sort({.plan = plan,
            .reader = &reader,
            .make_engine = test::engine_maker("cpu"),
            .meter = &meter});
    } catch (const Error& error) {
      EXPECT_TRUE(io::test::contains(error.what(), "the file grew")) << error.what();
      return true;
    }
    return false;
  }

  bool is_share_ = false;
  const io::test::TempFolder folder_;

 private:
  const test::Bytes keys_ = test::generated({KeyType::kU32}, Distribution::kUniform, 3000);
  const std::string input_ = folder_ / "in";
};

TEST_F(InputsThatChange, WhileTheOutputIsSyncedAreErrors) {
  EXPECT_EQ(errors_at_every(Call::kFsync, folder_ / "out"), 1U);  // not after the rename
  EXPECT_TRUE(fails_before_the_name(folder_ / "out"));
}

TEST_F(InputsThatChange, WhileARedirectedOutputIsSyncedAreErrors) {
  const int out = ::open((folder_ / "out").c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_GE(out, 0);
  EXPECT_EQ(errors_at_every(Call::kFsync, "/dev/fd/" + std::to_string(out)), 1U);
  ::close(out);
}

TEST_F(InputsThatChange, BeforeTheLastByteOfAStreamAreErrors) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const std::string pipe = "/dev/fd/" + std::to_string(ends[1]);
  EXPECT_EQ(errors_at_every(Call::kWrite, pipe), 1U);
  EXPECT_FALSE(fails_before_the_name(pipe));  // the pipe's reader has all bytes by then
  for (const int end : ends) ::close(end);
}

TEST_F(InputsThatChange, WhileRunsThatStayAreFormedAreErrors) {
  is_share_ = true;
  const auto form = [](const SortContext& context) { (void)form_kept_runs(context); };
  EXPECT_GT(errors_at_every(Call::kPread, form), 0U);
}

}  // namespace
}  // namespace gsort
