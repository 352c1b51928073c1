#include "io/system/control_groups.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "io/system/kernel_text.hpp"

namespace gsort::io {
namespace {

// A folder of the cgroup file system that holds the limits of one controller, and those above it.
struct Cgroup {
  std::string mount;  // without a slash at the end
  std::string path;   // "" or "/a/b"
  bool unified = false;
};

std::vector<Cgroup> cgroups_with(std::string_view controller, const GroupPlaces& places) {
  std::vector<Cgroup> found;
  const std::string text = kernel_text(places.list);
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
    if (!path.starts_with('/')) continue;
    if (path == "/") path.clear();
    if (names == ",,") {
      found.push_back({places.mount, path, true});
    } else if (names.find(fmt::format(",{},", controller)) != std::string::npos) {
      found.push_back({fmt::format("{}/{}", places.mount, controller), path, false});
    }
  }
  return found;
}

// Calls visit(folder) for the group and all above it. In a container the path may not exist below
// the mount; then the mount itself has the limits. The visitor skips missing files.
template <class Visit>
void for_each_level(const Cgroup& group, const Visit& visit) {
  std::string path = group.path;
  while (true) {
    visit(group.mount + path);
    if (path.empty()) return;
    path.resize(path.rfind('/'));
  }
}

// The memory that one cgroup leaves: its limit minus the memory that the kernel cannot drop.
MemoryLimit limit_of(const std::string& folder, bool unified) {
  const auto number_in = [&](const char* name) {
    return number_at_start(kernel_text(folder + name)).value_or(kUnlimited);  // "max" is none
  };
  const std::uint64_t limit = unified
                                  ? std::min(number_in("/memory.max"), number_in("/memory.high"))
                                  : number_in("/memory.limit_in_bytes");
  if (limit >= kTiB * 1024) return {};  // means "none" in version 1
  const std::uint64_t used =
      number_at_start(
          kernel_text(folder + (unified ? "/memory.current" : "/memory.usage_in_bytes")))
          .value_or(0);
  const std::string stat = kernel_text(folder + "/memory.stat");
  const std::string_view prefix = unified ? "" : "total_";
  const auto part = [&](const char* name) {
    return number_in_line(stat, std::string(prefix) + name + " ").value_or(0);
  };
  const std::uint64_t droppable = capped_sum(part("inactive_file"), part("active_file"));
  const std::uint64_t held = used - std::min(used, droppable);
  return {limit, limit - std::min(limit, held)};
}

}  // namespace

MemoryLimit memory_limit_of_groups(const GroupPlaces& places) {
  MemoryLimit least;
  for (const Cgroup& group : cgroups_with("memory", places)) {
    for_each_level(group, [&](const std::string& folder) {
      const MemoryLimit here = limit_of(folder, group.unified);
      least.limit = std::min(least.limit, here.limit);
      least.left = std::min(least.left, here.left);
    });
  }
  return least;
}

std::uint64_t core_limit_of_groups(const GroupPlaces& places) {
  std::uint64_t least = kUnlimited;
  const auto take = [&](std::optional<std::uint64_t> quota, std::optional<std::uint64_t> period) {
    if (!quota || !period || *period == 0) return;
    least = std::min(least, std::max<std::uint64_t>(div_up(*quota, *period), 1));
  };
  for (const Cgroup& group : cgroups_with("cpu", places)) {
    for_each_level(group, [&](const std::string& folder) {
      if (group.unified) {  // "QUOTA PERIOD" or "max PERIOD"
        const std::string text = kernel_text(folder + "/cpu.max");
        const std::size_t space = text.find(' ');
        if (space != std::string::npos) {
          take(number_at_start(text), number_at_start(std::string_view(text).substr(space)));
        }
      } else {  // -1: no quota; number_at_start returns none
        take(number_at_start(kernel_text(folder + "/cpu.cfs_quota_us")),
             number_at_start(kernel_text(folder + "/cpu.cfs_period_us")));
      }
    });
  }
  return least;
}

}  // namespace gsort::io
