#include "io/system/space.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "io/system/host_facts.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {
namespace {

// A file system, and its space that earlier needs have left.
struct Room {
  std::uint64_t file_system = 0;
  std::uint64_t free_bytes = 0;
  std::uint64_t free_files = 0;
};

Room& room_of(const FolderFacts& facts, std::vector<Room>& rooms) {
  const auto known = std::find_if(rooms.begin(), rooms.end(), [&](const Room& room) {
    return room.file_system == facts.file_system;
  });
  if (known != rooms.end()) return *known;
  return rooms.emplace_back(Room{facts.file_system, facts.free_bytes, facts.free_files});
}

std::string listed(std::span<const std::string> folders) {
  std::string text;
  for (const std::string& folder : folders) text += (text.empty() ? "" : ", ") + folder;
  return text;
}

}  // namespace

void require_writable(std::span<const std::string> folders, const std::string& purpose) {
  for (const std::string& folder : folders) {
    if (sys::access_at(AT_FDCWD, folder.c_str(), W_OK | X_OK) == 0) continue;
    const int reason = errno;
    if (reason != EACCES && reason != EROFS) continue;  // opening it gives a better message
    throw Error::from_errno(ErrorKind::kResource, "making room for " + purpose + " in", reason)
        .path(folder)
        .hint("use another folder");
  }
}

void require_space(std::span<const SpaceNeed> needs) {
  std::vector<Room> rooms;
  for (const SpaceNeed& need : needs) {
    if (need.bytes != 0) require_writable(need.folders, need.purpose);
    std::uint64_t missing = need.bytes;
    std::uint64_t free_bytes = 0;
    bool known = need.bytes != 0;
    for (const std::string& folder : need.folders) {
      const std::optional<FolderFacts> facts = folder_facts(folder);
      if (!facts) {
        known = false;
        continue;
      }
      Room& room = room_of(*facts, rooms);
      if (room.free_files == 0) {
        throw Error(ErrorKind::kResource, "making room for " + need.purpose + " in",
                    "no inode is free")
            .path(folder)
            .hint("remove some files there, or use another folder");
      }
      --room.free_files;
      const std::uint64_t taken = std::min(missing, room.free_bytes);
      free_bytes = capped_sum(free_bytes, room.free_bytes);
      room.free_bytes -= taken;
      missing -= taken;
    }
    if (known && missing != 0) {
      throw Error(ErrorKind::kResource, "making room for " + need.purpose + " in",
                  format_bytes(need.bytes) + " needed, " + format_bytes(free_bytes) + " free")
          .path(listed(need.folders))
          .hint("free " + format_bytes(missing) + " there, or use another folder");
    }
  }
}

bool MemoryWatch::has_room_for(std::uint64_t bytes) {
  constexpr std::int64_t kMostUnlooked = std::int64_t{64} << 20;
  constexpr std::uint64_t kLooks = 256;       // while the room fills: other processes fill it, too
  constexpr std::uint64_t kLeft = 24 * kMiB;  // several threads may look late
  const auto taken = static_cast<std::int64_t>(bytes);
  if (unlooked_bytes_.fetch_sub(taken) > taken) return true;
  const std::uint64_t room = host_facts().available_bytes;
  if (room < kLeft + bytes) return false;
  unlooked_bytes_ =
      std::clamp(static_cast<std::int64_t>(room / kLooks), kLeastUnlooked, kMostUnlooked);
  return true;
}

void MemoryWatch::require_room_for(const File& output, std::uint64_t bytes) {
  if (!is_memory() || has_room_for(bytes)) return;
  throw output.error("writing", ENOMEM)
      .hint(fmt::format("the output is in memory ({}), which is full; write it to a disk", kind_));
}

}  // namespace gsort::io
