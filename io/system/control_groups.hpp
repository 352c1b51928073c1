// What the control groups (cgroups) of this process allow it, as in a container: version 2, where
// one folder has the files of all controllers, and version 1, where each controller has its own.
// The limits of all groups above count, too.
#pragma once

#include <cstdint>
#include <string>

#include "io/system/host_facts.hpp"

namespace gsort::io {

// Where the kernel says it; others for tests.
struct GroupPlaces {
  std::string list = "/proc/self/cgroup";
  std::string mount = "/sys/fs/cgroup";
};

struct MemoryLimit {
  std::uint64_t limit = kUnlimited;
  std::uint64_t left = kUnlimited;  // the limit less what the kernel cannot drop
};
[[nodiscard]] MemoryLimit memory_limit_of_groups(const GroupPlaces& places = {});

// Whole cores that the quotas allow, at least 1; kUnlimited without one.
[[nodiscard]] std::uint64_t core_limit_of_groups(const GroupPlaces& places = {});

}  // namespace gsort::io
