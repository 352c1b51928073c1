#include "io/system/host_facts.hpp"

#include <cerrno>
#include <filesystem>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "unit/io/support.hpp"

namespace gsort::io {
namespace {

TEST(HostFacts, AreSane) {
  const HostFacts facts = host_facts();
  EXPECT_GE(facts.cores, 1U);
  EXPECT_LE(facts.cores, static_cast<unsigned>(::sysconf(_SC_NPROCESSORS_CONF)));
  EXPECT_GT(facts.memory_bytes, 1U << 20);
  EXPECT_GT(facts.available_bytes, 1U << 20);
  EXPECT_LE(facts.available_bytes, facts.memory_bytes);
  EXPECT_GE(facts.open_files, 3U);
}

TEST(HostFacts, CountOnlyTheCoresOfThisProcess) {
  cpu_set_t saved;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(saved), &saved), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(host_facts().cores, 1U);
  ASSERT_EQ(::sched_setaffinity(0, sizeof(saved), &saved), 0);
}

TEST(HostFacts, KnowTheMemoryWithoutProc) {
  const test::FaultScope fault({sys::Call::kRead, 1, EIO, true});
  const HostFacts facts = host_facts();
  const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES));
  EXPECT_LE(facts.memory_bytes, pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
  EXPECT_LE(facts.available_bytes, facts.memory_bytes);
}

TEST(HostFacts, AreFoundAlthoughOpeningIsInterrupted) {
  const test::FaultScope fault({sys::Call::kOpen, 1, EINTR});
  EXPECT_TRUE(folder_facts("."));
}

TEST(HostFacts, HonourTheLimitOnAddressSpace) {
  struct rlimit saved = {};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &saved), 0);
  if (saved.rlim_cur != RLIM_INFINITY) GTEST_SKIP() << "there is a limit already";
  std::ifstream statm("/proc/self/statm");
  rlim_t used_pages = 0;
  statm >> used_pages;
  constexpr rlim_t kRoom = rlim_t{1} << 30;  // for what the sanitizers need
  const struct rlimit limit = {used_pages * 4096 + kRoom, saved.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
  const std::uint64_t available = host_facts().available_bytes;
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &saved), 0);
  EXPECT_GT(available, 0U);
  EXPECT_LE(available, kRoom);
}

TEST(HostFacts, KnowFolders) {
  const auto here = folder_facts(std::filesystem::temp_directory_path().string());
  ASSERT_TRUE(here);
  EXPECT_GT(here->free_bytes, 0U);
  EXPECT_GT(here->free_files, 0U);
  EXPECT_GE(here->block_bytes, 512U);
  EXPECT_FALSE(folder_facts("/none/such"));
  const auto proc = folder_facts("/proc");
  ASSERT_TRUE(proc);
  EXPECT_NE(proc->file_system, here->file_system);
}

TEST(HostFacts, TellTmpfsApart) {
  const auto memory = folder_facts("/dev/shm");
  if (!memory) GTEST_SKIP() << "no /dev/shm here";
  EXPECT_TRUE(memory->is_memory());
  EXPECT_FALSE(folder_facts("/proc")->is_memory());
}

constexpr const char* kAddress = "0000:17:00.0";

// A sysfs of a machine with such nodes, and a device that says this of its node.
struct FakeMachine {
  FakeMachine(const char* nodes, const char* node) {
    const std::string device = folder.path() + "/bus/pci/devices/0000:ab:00.0";
    for (const std::string& path : {device, folder.path() + "/bus/pci/devices/" + kAddress,
                                    folder.path() + "/devices/system/node"}) {
      std::filesystem::create_directories(path);
    }
    test::write_file(folder.path() + "/devices/system/node/online", test::bytes_of(nodes));
    test::write_file(folder.path() + "/bus/pci/devices/" + kAddress + "/numa_node",
                     test::bytes_of(node));
    test::write_file(device + "/numa_node", test::bytes_of("3\n"));
  }
  [[nodiscard]] std::optional<unsigned> node_of(std::string_view address) const {
    return node_of_pci_device(address, folder.path());
  }
  test::TempFolder folder;
};

TEST(NodeOfPciDevice, KnowsTheNodeOfADevice) {
  EXPECT_EQ(FakeMachine("0-1\n", "1\n").node_of(kAddress), 1U);
  EXPECT_EQ(FakeMachine("0-1\n", "0\n").node_of(kAddress), 0U);
  EXPECT_EQ(FakeMachine("0,2-3\n", "1\n").node_of("0000:AB:00.0"), 3U) << "as CUDA writes it";
}

TEST(NodeOfPciDevice, HasNoNodeWhereNoneIsTold) {
  EXPECT_EQ(FakeMachine("0\n", "0\n").node_of(kAddress), std::nullopt) << "a single node";
  EXPECT_EQ(FakeMachine("", "0\n").node_of(kAddress), std::nullopt);
  EXPECT_EQ(FakeMachine("0-1\n", "-1\n").node_of(kAddress), std::nullopt);
  EXPECT_EQ(FakeMachine("0-1\n", "").node_of(kAddress), std::nullopt);
  EXPECT_EQ(FakeMachine("0-1\n", "4096\n").node_of(kAddress), std::nullopt);
  const FakeMachine machine("0-1\n", "1\n");
  for (const char* const address : {"", "0000:18:00.0", "../devices/0000:17:00.0"}) {
    EXPECT_EQ(machine.node_of(address), std::nullopt) << address;
  }
}

std::optional<double> link_of(const char* speed, const char* width) {
  const FakeMachine machine("0\n", "0\n");
  const std::string device = machine.folder.path() + "/bus/pci/devices/" + kAddress;
  test::write_file(device + "/max_link_speed", test::bytes_of(speed));
  test::write_file(device + "/current_link_width", test::bytes_of(width));
  return link_of_pci_device(kAddress, machine.folder.path());
}

TEST(LinkOfPciDevice, IsAsFastAsItsSpeedAndWidthAllow) {
  EXPECT_EQ(link_of("32.0 GT/s PCIe\n", "16\n"), 64e9);
  EXPECT_EQ(link_of("16.0 GT/s PCIe\n", "8\n"), 16e9);
  EXPECT_EQ(link_of("8 GT/s\n", "4\n"), 4e9);
}

TEST(LinkOfPciDevice, IsNotKnownWhereNothingIsTold) {
  for (const char* speed : {"", "Unknown\n", "0.0 GT/s\n", "99999 GT/s\n"}) {
    EXPECT_EQ(link_of(speed, "16\n"), std::nullopt) << speed;
  }
  for (const char* width : {"", "0\n", "255\n", "x16\n"}) {
    EXPECT_EQ(link_of("32.0 GT/s PCIe\n", width), std::nullopt) << width;
  }
  EXPECT_EQ(FakeMachine("0\n", "0\n").node_of("../x"), std::nullopt);
  EXPECT_EQ(link_of_pci_device("../x", "/sys"), std::nullopt);
}

}  // namespace
}  // namespace gsort::io
