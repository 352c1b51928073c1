#include "io/input/residency.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/units.hpp"
#include "io/system/host_facts.hpp"
#include "io/system/memory.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {
namespace {

constexpr std::uint64_t kPlaces = 256;

bool kernel_will_tell(const File& file) {
  const std::string self = fmt::format("/proc/self/fd/{}", file.fd());
  return file.facts().st_uid == ::geteuid() || sys::access_at(AT_FDCWD, self.c_str(), W_OK) == 0;
}

}  // namespace

bool is_mostly_cached(const File& file, std::uint64_t offset, std::uint64_t bytes) {
  if (!kernel_will_tell(file)) return bytes < host_facts().memory_bytes / 2;
  // The mapping is never read, so a file that shrinks does no harm.
  const std::uint64_t end = offset + bytes;
  void* const mapping = sys::mmap(end, PROT_READ, MAP_SHARED, file.fd(), 0);
  if (mapping == MAP_FAILED) return false;
  const std::uint64_t page_bytes = memory_page_bytes();
  const std::uint64_t pages = div_up(end, page_bytes);
  const std::uint64_t first = offset / page_bytes;
  const std::uint64_t places = pages - first < kPlaces ? pages - first : kPlaces;
  std::uint64_t cached = 0;
  for (std::uint64_t i = 0; i < places; ++i) {
    // In this order the product cannot overflow, and the last place is not past the end.
    const std::uint64_t page = first + (pages - first) / places * i;
    unsigned char resident = 0;
    auto* const at = static_cast<std::byte*>(mapping) + page * page_bytes;
    if (sys::mincore(at, page_bytes, &resident) == 0) cached += resident & 1U;
  }
  sys::munmap(mapping, end);
  return cached * 2 >= places;
}

}  // namespace gsort::io
