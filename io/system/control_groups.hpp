// The limits that control groups (cgroups) set for this process, as in a container: version 2, with
// one folder for the files of all controllers, and version 1, with a folder for each controller.
// The limits of all parent groups count, too.
#pragma once

#include <cstdint>
#include <string>

#include "io/system/host_facts.hpp"

namespace gsort::io {

// The kernel's files; tests use others.
struct GroupPlaces {
  std::string list = "/proc/self/cgroup";
  std::string mount = "/sys/fs/cgroup";
};

struct MemoryLimit {
  std::uint64_t limit = kUnlimited;
  std::uint64_t left = kUnlimited;  // the limit minus the memory that the kernel cannot drop
};
[[nodiscard]] MemoryLimit memory_limit_of_groups(const GroupPlaces& places = {});

// The whole cores that the quotas allow, at least 1; kUnlimited without a quota.
[[nodiscard]] std::uint64_t core_limit_of_groups(const GroupPlaces& places = {});

}  // namespace gsort::io
