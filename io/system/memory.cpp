#include "io/system/memory.hpp"

#include <cerrno>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <sys/mman.h>

#include "base/error.hpp"
#include "base/page.hpp"
#include "base/units.hpp"
#include "io/system/sys.hpp"

namespace gsort::io {

Arena::Arena(std::size_t bytes, std::string_view purpose) {
  if (bytes == 0) return;
  const auto refused = [&](int error_number) {
    return Error::from_errno(ErrorKind::kResource,
                             "reserving " + format_bytes(bytes) + " for " + std::string(purpose),
                             error_number)
        .hint("give less memory with -S");
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

void Arena::discard(ByteSpan part) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(part.data());
  const std::uint64_t skipped = round_up(begin, kDirectAlignment) - begin;
  if (part.size() < skipped) return;
  const std::uint64_t whole = round_down(part.size() - skipped, kDirectAlignment);
  if (whole != 0) sys::madvise(part.data() + skipped, whole, MADV_DONTNEED);
}

bool prefer_node(ByteSpan memory, unsigned node) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::uintptr_t begin = round_up(address, kMemoryPageBytes);
  const std::uintptr_t end = round_down(address + memory.size(), kMemoryPageBytes);
  if (begin >= end) return true;
  return sys::prefer_node(memory.data() + (begin - address), end - begin, node) == 0;
}

}  // namespace gsort::io
