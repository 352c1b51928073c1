#include "io/system/host_facts.hpp"

#include <algorithm>
#include <cctype>
#include <memory>

#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "io/system/control_groups.hpp"
#include "io/system/file.hpp"
#include "io/system/kernel_text.hpp"
#include "io/system/memory.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {
namespace {

std::uint64_t limit_named(int which) {
  struct rlimit limit = {};
  if (::getrlimit(static_cast<__rlimit_resource_t>(which), &limit) != 0) return kUnlimited;
  return limit.rlim_cur == RLIM_INFINITY ? kUnlimited : std::uint64_t{limit.rlim_cur};
}

std::uint64_t bytes_of_pages(std::uint64_t pages) {
  return capped_product(pages, memory_page_bytes());
}

std::uint64_t address_space_left() {
  const std::uint64_t limit = limit_named(RLIMIT_AS);
  if (limit == kUnlimited) return kUnlimited;
  const auto pages = number_at_start(kernel_text("/proc/self/statm")).value_or(0);
  return limit - std::min(limit, bytes_of_pages(pages));
}

unsigned affinity_cores() {
  // More cores than cpu_set_t knows need a larger set; the kernel says EINVAL until it is large
  // enough.
  for (int cores = 1024; cores <= 1 << 20; cores *= 4) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
        CPU_ALLOC(static_cast<std::size_t>(cores)), [](cpu_set_t* old) { CPU_FREE(old); });
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(cores));
    if (set && ::sched_getaffinity(0, bytes, set.get()) == 0) {
      return static_cast<unsigned>(std::max(CPU_COUNT_S(bytes, set.get()), 1));
    }
  }
  return static_cast<unsigned>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L));
}

// The memory of the machine and the limits of this process.
MemoryLimit memory_of_process() {
  const std::string text = kernel_text("/proc/meminfo");
  // If /proc cannot be read, the system call tells less: the free memory, not the available memory.
  const auto bytes_of = [&](const char* name, int pages_name) {
    const auto kib = number_in_line(text, name);
    return kib ? capped_product(*kib, kKiB)
               : bytes_of_pages(static_cast<std::uint64_t>(::sysconf(pages_name)));
  };
  const MemoryLimit group = memory_limit_of_groups();
  return {
      std::min(bytes_of("MemTotal:", _SC_PHYS_PAGES), group.limit),
      std::min({bytes_of("MemAvailable:", _SC_AVPHYS_PAGES), group.left, address_space_left()})};
}

// "0" is one node; "0-1" and "0,2" are several.
bool has_several_nodes(const std::string& sysfs) {
  const std::string online = kernel_text(sysfs + "/devices/system/node/online");
  return online.find_first_of("-,") != std::string::npos;
}

// Only the characters of an address may become part of a path.
bool is_address(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char letter) {
    return std::isxdigit(letter) != 0 || letter == ':' || letter == '.';
  });
}

// The kernel's folder for the device, whose address CUDA writes in capitals; empty for an invalid
// address.
std::string folder_of_pci_device(std::string_view address, const std::string& sysfs) {
  if (!is_address(address)) return "";
  std::string name(address);
  std::ranges::transform(name, name.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  return sysfs + "/bus/pci/devices/" + name;
}

}  // namespace

std::uint64_t most_file_bytes() {
  return limit_named(RLIMIT_FSIZE);
}

std::uint64_t peak_resident_bytes() {
  struct rusage usage = {};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  const std::int64_t kib = usage.ru_maxrss;  // NOLINT(cppcoreguidelines-pro-type-union-access)
  return static_cast<std::uint64_t>(kib) * kKiB;
}

HostFacts host_facts() {
  HostFacts facts;
  facts.cores =
      static_cast<unsigned>(std::min<std::uint64_t>(affinity_cores(), core_limit_of_groups()));
  const MemoryLimit memory = memory_of_process();
  facts.memory_bytes = memory.limit;
  facts.available_bytes = memory.left;
  facts.open_files = limit_named(RLIMIT_NOFILE);
  return facts;
}

namespace {

std::string_view memory_kind_of(std::uint32_t type) {
  if (type == TMPFS_MAGIC) return "tmpfs";
  if (type == RAMFS_MAGIC) return "ramfs";
  return type == HUGETLBFS_MAGIC ? "hugetlbfs" : "";
}

std::optional<FolderFacts> facts_at(const std::string& path, int flags) {
  const int fd = sys::open_at(AT_FDCWD, path.c_str(), O_PATH | flags, 0);
  if (fd < 0) return std::nullopt;
  return facts_of(File(fd, path, ErrorKind::kResource));
}

}  // namespace

std::optional<FolderFacts> facts_of(const File& open) {
  const int fd = open.fd();
  struct statvfs space = {};
  struct stat inode = {};
  struct statfs kind = {};
  if (sys::fstatvfs(fd, &space) != 0 || sys::fstat(fd, &inode) != 0) return std::nullopt;
  FolderFacts facts;
  facts.file_system = inode.st_dev;
  // Network file systems sometimes report almost unlimited free space.
  facts.free_bytes = capped_product(space.f_bavail, space.f_frsize);
  // File systems without a table of inodes report 0 inodes.
  facts.free_files = space.f_files == 0 ? kUnlimited : std::uint64_t{space.f_favail};
  facts.block_bytes = space.f_frsize;
  constexpr std::uint64_t kStatBlockBytes = 512;
  facts.allocated_bytes = static_cast<std::uint64_t>(inode.st_blocks) * kStatBlockBytes;
  if (::fstatfs(fd, &kind) == 0) {
    constexpr std::uint32_t kLustreMagic = 0x0BD00BD0;
    const auto type = static_cast<std::uint32_t>(kind.f_type);
    facts.memory_kind = memory_kind_of(type);
    // Without a limit of its own, it reports no blocks.
    if (facts.is_memory() && space.f_blocks == 0) facts.free_bytes = host_facts().available_bytes;
    facts.is_network =
        type == NFS_SUPER_MAGIC || type == CIFS_SUPER_MAGIC || type == SMB2_SUPER_MAGIC;
    facts.is_lustre = type == kLustreMagic;
  }
  return facts;
}

std::optional<FolderFacts> folder_facts(const std::string& path) {
  return facts_at(path, O_DIRECTORY);
}

std::optional<FolderFacts> file_facts(const std::string& path) {
  return facts_at(path, 0);
}

std::optional<unsigned> node_of_pci_device(std::string_view address, const std::string& sysfs) {
  constexpr std::uint64_t kMostNodes = 1024;  // the most of any Linux
  const std::string folder = folder_of_pci_device(address, sysfs);
  if (folder.empty() || !has_several_nodes(sysfs)) return std::nullopt;
  // The file holds -1 if the firmware does not say; number_at_start returns none for it.
  const auto node = number_at_start(kernel_text(folder + "/numa_node"));
  if (!node || *node >= kMostNodes) return std::nullopt;
  return static_cast<unsigned>(*node);
}

// The speed is the most that the device can, "32.0 GT/s PCIe": links slow down while nothing
// crosses them. The width is that of the slot.
std::optional<double> link_of_pci_device(std::string_view address, const std::string& sysfs) {
  constexpr std::uint64_t kMostTransfers = 1024;  // 10^9 a second, the most of any link so far
  constexpr std::uint64_t kMostWidth = 64;
  const std::string folder = folder_of_pci_device(address, sysfs);
  if (folder.empty()) return std::nullopt;
  const auto speed = number_at_start(kernel_text(folder + "/max_link_speed"));
  const auto width = number_at_start(kernel_text(folder + "/current_link_width"));
  if (!speed || *speed == 0 || *speed > kMostTransfers) return std::nullopt;
  if (!width || *width == 0 || *width > kMostWidth) return std::nullopt;
  return static_cast<double>(*speed * *width) * 1e9 / 8;
}

}  // namespace gsort::io
