// The facts of this machine that the plan needs: cores, memory, space, limits. Every function asks
// the system each time; if the system does not say, the result is the value that limits nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gsort::io {

class File;

inline constexpr std::uint64_t kUnlimited = UINT64_MAX;

struct HostFacts {
  unsigned cores = 1;              // on which this process may run: affinity, cgroup quota
  std::uint64_t memory_bytes = 0;  // of the machine, or of the cgroup if that is less
  // The memory that this process can take now without swapping or being killed: the least of
  // MemAvailable and of what the memory cgroups of this process (v1 and v2, up to the root) and
  // RLIMIT_AS leave. File pages that the kernel can drop count as available.
  std::uint64_t available_bytes = 0;
  std::uint64_t open_files = kUnlimited;  // RLIMIT_NOFILE
};

[[nodiscard]] HostFacts host_facts();

// The largest file that this process may write: RLIMIT_FSIZE.
[[nodiscard]] std::uint64_t most_file_bytes();

// The most memory this process has had resident so far.
[[nodiscard]] std::uint64_t peak_resident_bytes();

// The NUMA node that the PCI device at `address`, such as "0000:17:00.0", is attached to; none if
// the machine has a single node, or the kernel does not say. `sysfs` is another folder in tests.
[[nodiscard]] std::optional<unsigned> node_of_pci_device(std::string_view address,
                                                         const std::string& sysfs = "/sys");

// How many bytes a second the link of the PCI device at `address` can carry each way, by its speed
// and its width; none if the kernel does not say. `sysfs` is another folder in tests.
[[nodiscard]] std::optional<double> link_of_pci_device(std::string_view address,
                                                       const std::string& sysfs = "/sys");

struct FolderFacts {
  std::uint64_t file_system = 0;  // folders with the same number share their space
  std::uint64_t free_bytes = 0;   // for this user
  std::uint64_t free_files =
      kUnlimited;  // inodes; unlimited where the file system makes them as needed
  std::uint64_t block_bytes = 4096;
  std::string_view memory_kind;  // "tmpfs", "ramfs", "hugetlbfs": its space is memory; else empty
  bool is_network = false;  // NFS or SMB: data may be lost if two hosts write to one page at once
  bool is_lustre = false;   // a file that is not striped lies on one target
  std::uint64_t allocated_bytes = 0;  // free for the folder or file itself

  [[nodiscard]] bool is_memory() const { return !memory_kind.empty(); }
};

// The facts of an open folder or file, of the folder at `path`, or of the file there; none if the
// system does not tell.
[[nodiscard]] std::optional<FolderFacts> facts_of(const File& open);
[[nodiscard]] std::optional<FolderFacts> folder_facts(const std::string& path);
[[nodiscard]] std::optional<FolderFacts> file_facts(const std::string& path);

}  // namespace gsort::io
