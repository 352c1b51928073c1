#include "plan/disk_space.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "support/error_of.hpp"
#include "support/invented.hpp"

namespace gsort {
namespace {

using test::invented_machine;
using test::options_for;

ErrorKind refused(const Options& options, const Machine& machine) {
  const Error error = test::error_of([&] { (void)test::plan_of(options, machine); });
  EXPECT_FALSE(error.hint().empty()) << error.what();
  return error.kind();
}

TEST(DiskSpace, WritesRunsThroughThePageCacheWhereItHasRoomForThem) {
  const auto goes_through = [](std::uint64_t input_bytes, std::uint64_t memory_bytes) {
    const Plan plan = test::plan_of(options_for(KeyType::kU32, "128M"),
                                    invented_machine(input_bytes, 2, memory_bytes));
    EXPECT_GT(plan.temporary_bytes, 0U);
    return plan.run.through_page_cache;
  };
  EXPECT_TRUE(goes_through(kGiB, 24 * kGiB));
  EXPECT_TRUE(goes_through(kGiB, 5 * kGiB));
  EXPECT_FALSE(goes_through(kGiB, 4 * kGiB));
  EXPECT_FALSE(goes_through(6 * kGiB, 24 * kGiB));
  Machine machine = invented_machine(kGiB, 4, 5 * kGiB);
  machine.output->memory_kind = "tmpfs";  // it takes a part of that memory meanwhile
  EXPECT_FALSE(test::plan_of(options_for(KeyType::kU32, "128M"), machine).run.through_page_cache);
}

TEST(DiskSpace, MakesRoomEarlyForAnOutputInMemoryThatHasIt) {
  const auto makes_room = [](const Options& options, const auto& change) {
    Machine machine = invented_machine(8 * kGiB, 16, 128 * kGiB);
    machine.output->memory_kind = "tmpfs";
    change(machine);
    return test::plan_of(options, machine).output.makes_room_early;
  };
  const auto as_it_is = [](Machine&) {};
  const Options in_memory = options_for(KeyType::kU32);
  const Options in_runs = options_for(KeyType::kU32, "1G");
  EXPECT_TRUE(makes_room(in_memory, as_it_is));
  EXPECT_TRUE(makes_room(in_runs, as_it_is));
  const auto with_memory = [](std::uint64_t bytes, bool runs_are_there = false) {
    return [=](Machine& machine) {
      machine.available_bytes = bytes;
      machine.temporary.front().memory_kind = runs_are_there ? "tmpfs" : "";
    };
  };
  EXPECT_TRUE(makes_room(in_runs, with_memory(19 * kGiB)));
  EXPECT_FALSE(makes_room(in_runs, with_memory(17 * kGiB)));
  EXPECT_TRUE(makes_room(in_runs, with_memory(36 * kGiB, true)));
  EXPECT_FALSE(makes_room(in_runs, with_memory(33 * kGiB, true)));
  EXPECT_FALSE(makes_room(in_memory, [](Machine& machine) { machine.output->memory_kind = ""; }));
  EXPECT_FALSE(makes_room(in_memory, [](Machine& machine) { machine.output.reset(); }));
  EXPECT_FALSE(makes_room(in_memory, [](Machine& machine) { machine.cores = 3; }));
  EXPECT_FALSE(makes_room(in_memory, [](Machine& machine) { machine.input_bytes.reset(); }));
  Options distinct = in_memory;
  distinct.unique = true;
  EXPECT_FALSE(makes_room(distinct, as_it_is));
  Options direct = in_memory;
  direct.direct_io = DirectIo::kOn;
  EXPECT_FALSE(makes_room(direct, as_it_is));
  Options on_device = in_memory;
  on_device.engine = EngineChoice::kCuda;
  EXPECT_TRUE(makes_room(on_device, [](Machine& machine) { test::add_gpu(machine); }));
}

// 192 MiB in a container of 300 MiB.
Machine small_container(bool runs_are_in_memory, bool output_is_in_memory) {
  Machine machine = invented_machine(192 * kMiB, 2, 300 * kMiB);
  machine.available_bytes = 290 * kMiB;
  machine.temporary = {{"/dev/shm", 7, kGiB, runs_are_in_memory ? "tmpfs" : ""}};
  machine.output = Folder{"/dev/shm", 7, kGiB, output_is_in_memory ? "tmpfs" : ""};
  return machine;
}

TEST(DiskSpace, CountsFilesInATmpfsAsMemory) {
  const auto error_of = [](const char* size, bool runs, bool output) {
    return test::error_of([&] {
      (void)test::plan_of(options_for(KeyType::kU64, size), small_container(runs, output));
    });
  };
  const Error runs = error_of("128M", true, false);
  EXPECT_EQ(runs.kind(), ErrorKind::kResource);
  EXPECT_NE(runs.operation().find("(tmpfs) in /dev/shm"), std::string::npos) << runs.operation();
  Machine of_both = small_container(true, true);
  of_both.output = Folder{"/mnt", 8, kGiB, "ramfs"};
  EXPECT_EQ(test::error_of([&] {
              (void)test::plan_of(options_for(KeyType::kU64, "128M"), of_both);
            }).operation(),
            "files in memory (tmpfs, ramfs) in /dev/shm, /mnt");
  EXPECT_EQ(runs.hint(), "use -S 64M, or name a folder on a disk with -T");
  EXPECT_EQ(error_of("128M", false, true).hint(), "use -S 64M, or name a folder on a disk with -o");
  EXPECT_EQ(error_of("24M", true, true).hint(), "name a folder on a disk with -T and -o");
  EXPECT_NO_THROW(
      (void)test::plan_of(options_for(KeyType::kU64, "64M"), small_container(true, false)));
  EXPECT_NO_THROW(
      (void)test::plan_of(options_for(KeyType::kU64, "128M"), small_container(false, false)));
}

// Each process of a host has an equal part of the memory, and an equal part of one output or an
// output of its own.
TEST(DiskSpace, CountsOutputsOfSeveralProcessesOnce) {
  Machine machine = small_container(false, true);
  Plan plan = test::plan_of(options_for(KeyType::kU64, "24M"), machine);
  plan.output.least_bytes = 100 * kMiB;
  machine.processes = 4;
  EXPECT_EQ(files_in_memory(plan, machine), 25 * kMiB);
  plan.job.output_parts = 4;
  EXPECT_EQ(files_in_memory(plan, machine), 100 * kMiB);
}

// Without a given size, the sort takes half of the memory that the output leaves.
TEST(DiskSpace, LeavesMemoryToAnOutputInATmpfs) {
  Machine machine = small_container(false, true);
  const Plan plan = test::plan_of(options_for(KeyType::kU64), machine);
  EXPECT_EQ(plan.host_budget_bytes, 49 * kMiB);
  machine.output->memory_kind = "";
  EXPECT_EQ(test::plan_of(options_for(KeyType::kU64), machine).host_budget_bytes, 145 * kMiB);
}

// Arrays that a caller has in memory are no files.
TEST(DiskSpace, CountsResultsInMemoryOnce) {
  Machine machine = small_container(false, true);
  machine.output->free_bytes = UINT64_MAX;
  EXPECT_NO_THROW((void)test::plan_of(options_for(KeyType::kU64, "128M"), machine));
}

TEST(DiskSpace, RefusesATemporaryFolderWithoutRoom) {
  Machine machine = invented_machine(100 * kGiB, 4, 64 * kGiB);
  machine.temporary = {{"/scratch", 1, 50 * kGiB, ""}};
  EXPECT_EQ(refused(options_for(KeyType::kU32, "1G"), machine), ErrorKind::kResource);
  machine.temporary[0].free_bytes = 300 * kGiB;
  EXPECT_NO_THROW((void)test::plan_of(options_for(KeyType::kU32, "1G"), machine));
}

TEST(DiskSpace, CountsFoldersOfOneFileSystemOnce) {
  Machine machine = invented_machine(100 * kGiB, 4, 64 * kGiB);
  machine.temporary = {{"/a", 1, 80 * kGiB, ""}, {"/b", 1, 80 * kGiB, ""}};
  EXPECT_EQ(refused(options_for(KeyType::kU32, "1G"), machine), ErrorKind::kResource);
  machine.temporary[1].file_system = 3;
  EXPECT_NO_THROW((void)test::plan_of(options_for(KeyType::kU32, "1G"), machine));
}

TEST(DiskSpace, RefusesAnOutputFolderWithoutRoom) {
  Machine machine = invented_machine(10 * kGiB, 4, 64 * kGiB);
  machine.output->free_bytes = 9 * kGiB;
  EXPECT_EQ(refused(options_for(KeyType::kU32), machine), ErrorKind::kResource);
}

}  // namespace
}  // namespace gsort
