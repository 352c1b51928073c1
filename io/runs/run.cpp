// Reading a finished run: blocks, ranges, and giving space back. The writing side is in
// run_store.cpp.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "io/runs/resume_folder.hpp"
#include "io/runs/run_space.hpp"

namespace gsort::io {

Run::Run(std::shared_ptr<RunSpace> space, std::uint64_t number, std::uint64_t elements,
         std::vector<BlockEntry> blocks)
    : space_(std::move(space)), number_(number), elements_(elements), blocks_(std::move(blocks)) {}

Run::Run(Run&& other) noexcept
    : space_(std::move(other.space_)),
      number_(other.number_),
      elements_(std::exchange(other.elements_, 0)),
      released_(std::exchange(other.released_, 0)),
      blocks_(std::exchange(other.blocks_, {})) {}

Run& Run::operator=(Run&& other) noexcept {
  if (this != &other) {
    release_blocks(blocks_.size());
    space_ = std::move(other.space_);
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

// Positions have no gap if the first is 0 and no block is longer than allowed. Then blocks do not
// overlap if the sum of their counts is right; readers check this again by the identities of
// blocks.
bool Run::is_whole() const {
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const std::uint64_t end = fences().end_position(i);
    const bool whole = blocks_[i].position == expected && end > blocks_[i].position &&
                       end - blocks_[i].position <= space_->block_elements;
    if (!whole) return false;
    expected = end;
  }
  return true;
}

BlockIdentity Run::identity_of(std::size_t block) const {
  const BlockEntry& entry = blocks_[block];
  return space_->identity_of(number_, entry, fences().end_position(block) - entry.position);
}

BlockCheck Run::checked(std::size_t block, ConstByteSpan stored) const {
  const BlockEntry& entry = blocks_[block];
  BlockCheck check = check_block(identity_of(block), stored);
  if (!check.problem.empty()) {
    Error error(ErrorKind::kCorrupt, fmt::format("reading block {} of run {} in", block, number_),
                std::string(check.problem));
    if (entry.folder == kInMemory) {
      throw std::move(error).path("memory").hint(
          "faulty memory: data changed in RAM; test the memory");
    }
    if (entry.folder == kInTier) {
      throw std::move(error)
          .path("the device's memory")
          .hint("data changed on the GPU or on its bus; use --engine cpu");
    }
    const std::string& folder = space_->files.folder_name(entry.folder);
    throw std::move(error)
        .path(folder)
        .at(entry.offset)
        .hint(space_->is_persistent
                  ? fmt::format("the file was changed or the disk is faulty; check the disk, and "
                                "remove {} to start again",
                                ResumeFolder::words_for_files_of(folder))
                  : "the disk or its cache lost or changed data; use another folder (-T) and check "
                    "the disk");
  }
  return check;
}

ConstByteSpan Run::read_block(std::size_t block, ByteSpan out, ByteSpan scratch) const {
  const std::uint64_t begin = fences().first_position(block);
  const std::uint64_t end = fences().end_position(block);
  const ByteSpan keys = out.first((end - begin) * space_->element_bytes);
  read_range(begin, end, keys, scratch);
  return keys;
}

template <class F>
void Run::for_each_block(std::uint64_t begin, std::uint64_t end, ByteSpan scratch,
                         const F& f) const {
  if (begin == end) return;
  const std::vector<std::size_t> order =
      storage_order(blocks_, fences().block_of(begin), fences().block_of(end - 1) + 1);
  for (std::size_t at = 0; at < order.size();) {
    const BlockEntry& first = blocks_[order[at]];
    const Extent extent = extent_at(blocks_, order, at, scratch.size() - RunFiles::kReadSlack);
    ConstByteSpan stored = space_->stored(first, extent.bytes, scratch, number_);
    for (const std::size_t last = at + extent.count; at < last; ++at) {
      const std::size_t block = order[at];
      const std::size_t size = stored.empty() ? 0 : blocks_[block].stored_bytes;
      f(block, checked(block, stored.first(size)), std::max(begin, blocks_[block].position),
        std::min(end, fences().end_position(block)));
      stored = stored.subspan(size);
    }
  }
}

void Run::read_range(std::uint64_t begin, std::uint64_t end, ByteSpan out, ByteSpan scratch) const {
  for_each_block(
      begin, end, scratch,
      [&](std::size_t block, const BlockCheck& check, std::uint64_t from, std::uint64_t to) {
        const std::uint64_t first = blocks_[block].position;
        decode_keys(identity_of(block), check, from - first, to - first,
                    out.data() + (from - begin) * space_->element_bytes);
      });
}

void Run::read_stored(std::uint64_t begin, std::uint64_t end, ByteSpan out,
                      std::span<StoredKeys> pieces, ByteSpan scratch) const {
  std::uint64_t used = 0;
  std::size_t next = 0;
  for_each_block(
      begin, end, scratch,
      [&](std::size_t block, const BlockCheck& check, std::uint64_t from, std::uint64_t to) {
        const std::uint64_t first = blocks_[block].position;
        std::ranges::copy(check.payload, out.subspan(used).begin());
        pieces[next++] = {.payload = used,
                          .position = from - begin,
                          .count = static_cast<std::uint32_t>(fences().end_position(block) - first),
                          .begin = static_cast<std::uint32_t>(from - first),
                          .end = static_cast<std::uint32_t>(to - first),
                          .packed = check.encoding == Encoding::kPacked ? 1U : 0U};
        used += round_up(check.payload.size(), kPayloadAlignment);
      });
}

void Run::release_before(std::uint64_t position) {
  const bool all = position >= elements_;
  release_blocks(all ? blocks_.size() : fences().block_of(position));
}

void Run::release_blocks(std::size_t end) noexcept {
  if (released_ >= end) return;
  space_->release(blocks_, released_, end);
  released_ = end;
}

}  // namespace gsort::io
