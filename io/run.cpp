// Reading a finished run: blocks, ranges, and giving space back. The writing side is in
// run_store.cpp.
#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "io/run_files.hpp"
#include "io/run_format.hpp"
#include "io/run_store.hpp"

namespace gsort::io {

Run::Run(std::shared_ptr<RunFiles> files, std::uint64_t number, std::uint64_t elements,
         std::vector<BlockEntry> blocks)
    : files_(std::move(files)), number_(number), elements_(elements), blocks_(std::move(blocks)) {}

Run::Run(Run&& other) noexcept
    : files_(std::move(other.files_)),
      number_(other.number_),
      elements_(std::exchange(other.elements_, 0)),
      released_(std::exchange(other.released_, 0)),
      blocks_(std::exchange(other.blocks_, {})) {}

Run& Run::operator=(Run&& other) noexcept {
  if (this != &other) {
    release_blocks(blocks_.size());
    files_ = std::move(other.files_);
    number_ = other.number_;
    elements_ = std::exchange(other.elements_, 0);
    released_ = std::exchange(other.released_, 0);
    blocks_ = std::exchange(other.blocks_, {});
  }
  return *this;
}

Run::~Run() {
  release_blocks(blocks_.size());
}

std::size_t Run::block_of(std::uint64_t position) const {
  const auto behind = std::upper_bound(
      blocks_.begin(), blocks_.end(), position,
      [](std::uint64_t wanted, const BlockEntry& block) { return wanted < block.position; });
  return static_cast<std::size_t>(behind - blocks_.begin()) - 1;
}

ConstByteSpan Run::checked(std::size_t block, ConstByteSpan stored) const {
  const BlockEntry& entry = blocks_[block];
  const BlockIdentity expected{files_->store_id,
                               number_,
                               entry.position,
                               entry.first_key,
                               static_cast<std::uint32_t>(end_position(block) - entry.position),
                               static_cast<std::uint8_t>(files_->key_bytes)};
  const BlockCheck check = check_block(expected, stored);
  if (!check.problem.empty()) {
    throw Error(ErrorKind::kCorrupt, fmt::format("reading block {} of run {} in", block, number_),
                std::string(check.problem))
        .path(files_->folder_name(entry.folder))
        .at(entry.offset)
        .hint(
            "the disk or its cache lost or changed data; use another folder (-T) and check the "
            "disk");
  }
  return check.payload;
}

std::size_t Run::neighbours(std::size_t block, std::size_t end, std::uint64_t most_bytes,
                            std::uint64_t& bytes) const {
  const BlockEntry& first = blocks_[block];
  bytes = first.stored_bytes;
  std::size_t behind = block + 1;
  while (behind < end && blocks_[behind].folder == first.folder &&
         blocks_[behind].offset == first.offset + bytes &&
         bytes + blocks_[behind].stored_bytes <= most_bytes) {
    bytes += blocks_[behind++].stored_bytes;
  }
  return behind - block;
}

ConstByteSpan Run::read_block(std::size_t block, ByteSpan scratch) const {
  const BlockEntry& entry = blocks_[block];
  const ByteSpan stored = scratch.first(entry.stored_bytes);
  const bool whole = files_->read(entry.folder, entry.offset, stored, number_);
  return checked(block, whole ? ConstByteSpan(stored) : ConstByteSpan());
}

void Run::read_range(std::uint64_t begin, std::uint64_t end, ByteSpan out, ByteSpan scratch) const {
  if (begin == end) return;
  const std::uint64_t key_bytes = files_->key_bytes;
  const std::size_t behind = block_of(end - 1) + 1;
  for (std::size_t block = block_of(begin); block < behind;) {
    std::uint64_t bytes = 0;
    const std::size_t count = neighbours(block, behind, scratch.size(), bytes);
    const ByteSpan stored = scratch.first(bytes);
    const bool whole = files_->read(blocks_[block].folder, blocks_[block].offset, stored, number_);
    std::size_t at = 0;
    for (const std::size_t last = block + count; block < last; ++block) {
      const std::size_t size = blocks_[block].stored_bytes;
      const ConstByteSpan keys =
          checked(block, whole ? ConstByteSpan(stored.subspan(at, size)) : ConstByteSpan());
      at += size;
      const std::uint64_t from = std::max(begin, first_position(block));
      const std::uint64_t to = std::min(end, end_position(block));
      std::memcpy(out.data() + (from - begin) * key_bytes,
                  keys.data() + (from - first_position(block)) * key_bytes,
                  (to - from) * key_bytes);
    }
  }
}

std::uint64_t Run::scratch_bytes_for_range(std::uint64_t begin, std::uint64_t end) const {
  if (begin == end) return 0;
  const std::size_t behind = block_of(end - 1) + 1;
  std::uint64_t most = 0;
  for (std::size_t block = block_of(begin); block < behind;) {
    std::uint64_t bytes = 0;
    block += neighbours(block, behind, UINT64_MAX, bytes);
    most = std::max(most, bytes);
  }
  return most;
}

void Run::release_before(std::uint64_t position) {
  const bool all = position >= elements_;
  release_blocks(all ? blocks_.size() : block_of(position));
}

void Run::release_blocks(std::size_t end) noexcept {
  while (released_ < end) {
    std::uint64_t bytes = 0;
    const BlockEntry& first = blocks_[released_];
    released_ += neighbours(released_, end, UINT64_MAX, bytes);
    files_->release(first.folder, first.offset, bytes);
  }
}

}  // namespace gsort::io
