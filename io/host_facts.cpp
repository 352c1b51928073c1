#include "io/host_facts.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/units.hpp"
#include "io/file.hpp"
#include "io/sys.hpp"

namespace gsort::io {
namespace {

// The text of a small file of the kernel; empty when it cannot be read, which is no error here.
std::string text_of(const std::string& path) {
  const int fd = sys::open_at(AT_FDCWD, path.c_str(), O_RDONLY, 0);
  if (fd < 0) return {};
  File file(fd, path, ErrorKind::kResource);
  std::string text(std::size_t{64} << 10, '\0');
  try {
    text.resize(file.read_full(std::as_writable_bytes(std::span(text))));
  } catch (const Error&) {
    text.clear();
  }
  return text;
}

std::optional<std::uint64_t> number_at_start(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc()) return std::nullopt;
  return value;
}

// The number behind `name` at the start of a line: "MemAvailable:   24252108 kB".
std::optional<std::uint64_t> field(std::string_view text, std::string_view name) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.starts_with(name)) return number_at_start(line.substr(name.size()));
    at = end + 1;
  }
  return std::nullopt;
}

// A folder of the cgroup file system that holds the limits of one controller, and those above it.
struct Cgroup {
  std::string mount;  // without a slash at the end
  std::string path;   // "" or "/a/b"
  bool unified = false;
};

std::vector<Cgroup> cgroups_with(std::string_view controller) {
  std::vector<Cgroup> found;
  const std::string text = text_of("/proc/self/cgroup");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    const std::size_t first = line.find(':');
    const std::size_t second =
        first == std::string::npos ? std::string::npos : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    std::string path(line.substr(second + 1));
    if (path == "/") path.clear();
    if (names == ",,") {
      found.push_back({"/sys/fs/cgroup", path, true});
    } else if (names.find(fmt::format(",{},", controller)) != std::string::npos) {
      found.push_back({"/sys/fs/cgroup/" + std::string(controller), path, false});
    }
  }
  return found;
}

// Calls visit(folder) for the group and all above it. In a container the path may not exist below
// the mount, the limits then stand in the mount itself; missing files are skipped by the visitor.
template <class Visit>
void for_each_level(const Cgroup& group, const Visit& visit) {
  std::string path = group.path;
  while (true) {
    visit(group.mount + path);
    if (path.empty()) return;
    path.resize(path.rfind('/'));
  }
}

struct MemoryLimit {
  std::uint64_t limit = kUnlimited;
  std::uint64_t left = kUnlimited;
};

// What one cgroup leaves: its limit less the memory that the kernel cannot drop.
MemoryLimit limit_of(const std::string& folder, bool unified) {
  const auto limit =
      number_at_start(text_of(folder + (unified ? "/memory.max" : "/memory.limit_in_bytes")));
  if (!limit || *limit >= kTiB * 1024) return {};  // "max", or v1's "no limit"
  const std::uint64_t used =
      number_at_start(text_of(folder + (unified ? "/memory.current" : "/memory.usage_in_bytes")))
          .value_or(0);
  const std::string stat = text_of(folder + "/memory.stat");
  const std::string_view prefix = unified ? "" : "total_";
  const auto part = [&](const char* name) {
    return field(stat, std::string(prefix) + name + " ").value_or(0);
  };
  const std::uint64_t droppable = part("inactive_file") + part("active_file");
  const std::uint64_t held = used - std::min(used, droppable);
  return {*limit, *limit - std::min(*limit, held)};
}

MemoryLimit cgroup_memory() {
  MemoryLimit least;
  for (const Cgroup& group : cgroups_with("memory")) {
    for_each_level(group, [&](const std::string& folder) {
      const MemoryLimit here = limit_of(folder, group.unified);
      least.limit = std::min(least.limit, here.limit);
      least.left = std::min(least.left, here.left);
    });
  }
  return least;
}

std::uint64_t limit_named(int which) {
  struct rlimit limit = {};
  if (::getrlimit(static_cast<__rlimit_resource_t>(which), &limit) != 0) return kUnlimited;
  return limit.rlim_cur == RLIM_INFINITY ? kUnlimited : std::uint64_t{limit.rlim_cur};
}

std::uint64_t address_space_left() {
  const std::uint64_t limit = limit_named(RLIMIT_AS);
  if (limit == kUnlimited) return kUnlimited;
  const auto pages = number_at_start(text_of("/proc/self/statm")).value_or(0);
  const std::uint64_t used = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return limit - std::min(limit, used);
}

// Whole cores that the cgroups' quotas allow, at least 1.
std::uint64_t quota_cores() {
  std::uint64_t least = kUnlimited;
  const auto take = [&](std::optional<std::uint64_t> quota, std::optional<std::uint64_t> period) {
    if (!quota || !period || *period == 0) return;
    least = std::min(least, std::max<std::uint64_t>(div_up(*quota, *period), 1));
  };
  for (const Cgroup& group : cgroups_with("cpu")) {
    for_each_level(group, [&](const std::string& folder) {
      if (group.unified) {  // "QUOTA PERIOD" or "max PERIOD"
        const std::string text = text_of(folder + "/cpu.max");
        const std::size_t space = text.find(' ');
        if (space != std::string::npos) {
          take(number_at_start(text), number_at_start(std::string_view(text).substr(space)));
        }
      } else {  // -1: no quota, and no number to number_at_start
        take(number_at_start(text_of(folder + "/cpu.cfs_quota_us")),
             number_at_start(text_of(folder + "/cpu.cfs_period_us")));
      }
    });
  }
  return least;
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

// Of the machine and of everything that limits this process.
MemoryLimit memory_of_process() {
  const std::string text = text_of("/proc/meminfo");
  const auto bytes_of = [&](const char* name) {
    const auto kib = field(text, name);
    return kib ? *kib * kKiB : kUnlimited;
  };
  const MemoryLimit group = cgroup_memory();
  return {std::min(bytes_of("MemTotal:"), group.limit),
          std::min({bytes_of("MemAvailable:"), group.left, address_space_left()})};
}

}  // namespace

std::uint64_t available_memory_bytes() {
  return memory_of_process().left;
}

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
  facts.cores = static_cast<unsigned>(std::min<std::uint64_t>(affinity_cores(), quota_cores()));
  const MemoryLimit memory = memory_of_process();
  facts.memory_bytes = memory.limit;
  facts.available_bytes = memory.left;
  facts.open_files = limit_named(RLIMIT_NOFILE);
  return facts;
}

std::optional<FolderFacts> folder_facts(const std::string& path) {
  const int fd = sys::open_at(AT_FDCWD, path.c_str(), O_PATH, 0);
  if (fd < 0) return std::nullopt;
  const File folder(fd, path, ErrorKind::kResource);
  struct statvfs space = {};
  struct stat inode = {};
  struct statfs kind = {};
  if (sys::fstatvfs(fd, &space) != 0 || sys::fstat(fd, &inode) != 0) return std::nullopt;
  FolderFacts facts;
  facts.file_system = inode.st_dev;
  facts.free_bytes = std::uint64_t{space.f_bavail} * space.f_frsize;
  // File systems without a table of inodes say that they have none at all.
  facts.free_files = space.f_files == 0 ? kUnlimited : std::uint64_t{space.f_favail};
  facts.block_bytes = space.f_frsize;
  facts.is_tmpfs = ::fstatfs(fd, &kind) == 0 && kind.f_type == TMPFS_MAGIC;
  return facts;
}

}  // namespace gsort::io
