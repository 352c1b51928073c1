#include "io/system/memory.hpp"

#include <cerrno>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {

Arena::Arena(std::size_t bytes, std::string_view purpose, std::string_view hint) {
  if (bytes == 0) return;
  const auto refused = [&](int error_number) {
    return Error::from_errno(ErrorKind::kResource,
                             "reserving " + format_bytes(bytes) + " for " + std::string(purpose),
                             error_number)
        .hint(std::string(hint));
  };
  if (bytes > std::numeric_limits<std::size_t>::max() / 2) throw refused(ENOMEM);
  // mmap aligns to small pages only, so one huge page more is mapped and the start moved up.
  mapping_bytes_ = round_up(bytes, kDirectAlignment) + kHugePageBytes;
  void* const mapping =
      sys::mmap(mapping_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw refused(errno);
  mapping_ = mapping;
  auto* const low = static_cast<std::byte*>(mapping);
  const auto address = reinterpret_cast<std::uintptr_t>(low);
  bytes_ = ByteSpan(low + (round_up(address, kHugePageBytes) - address), bytes);
  sys::madvise(bytes_.data(), bytes_.size(), MADV_HUGEPAGE);  // a refusal costs time only
}

Arena::Arena(Arena&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})),
      mapping_(std::exchange(other.mapping_, nullptr)),
      mapping_bytes_(std::exchange(other.mapping_bytes_, 0)) {}

Arena& Arena::operator=(Arena&& other) noexcept {
  if (this != &other) {
    release();
    bytes_ = std::exchange(other.bytes_, {});
    mapping_ = std::exchange(other.mapping_, nullptr);
    mapping_bytes_ = std::exchange(other.mapping_bytes_, 0);
  }
  return *this;
}

Arena::~Arena() {
  release();
}

void Arena::release() noexcept {
  if (mapping_ != nullptr) sys::munmap(mapping_, mapping_bytes_);
}

std::uint64_t memory_page_bytes() noexcept {
  return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

ByteSpan whole_pages_of(ByteSpan memory, std::uint64_t page_bytes) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::uint64_t skipped = round_up(address, page_bytes) - address;
  if (memory.size() < skipped) return {};
  return memory.subspan(skipped, round_down(memory.size() - skipped, page_bytes));
}

bool prefer_node(ByteSpan memory, unsigned node) noexcept {
  const ByteSpan pages = whole_pages_of(memory, memory_page_bytes());
  return pages.empty() || sys::prefer_node(pages.data(), pages.size(), node) == 0;
}

}  // namespace gsort::io
