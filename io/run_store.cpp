// Where a block of a run is on its way: put() cuts a piece into batches of blocks, each batch is
// encoded into one buffer of the store and appended to a file by one call, and its entries join the
// index. Reading goes the other way: entries that are neighbours on disk are read by one call,
// checked, and copied.
#include "io/run_store.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "io/run_files.hpp"
#include "io/run_format.hpp"

namespace gsort::io {
namespace {

static_assert(sizeof(BlockEntry) == 32, "the plan counts on 32 bytes a block");

BlockIdentity identity_of(const RunFiles& files, std::uint64_t run, const BlockEntry& entry,
                          std::uint64_t count) {
  return {files.store_id,
          run,
          entry.position,
          entry.first_key,
          static_cast<std::uint32_t>(count),
          static_cast<std::uint8_t>(files.key_bytes)};
}

void give_back(RunFiles& files, const std::vector<BlockEntry>& blocks, std::size_t begin,
               std::size_t end) noexcept {
  for (std::size_t i = begin; i < end;) {
    const BlockEntry& first = blocks[i];
    std::uint64_t bytes = 0;
    // Neighbours in one call.
    while (i < end && blocks[i].folder == first.folder &&
           blocks[i].offset == first.offset + bytes) {
      bytes += blocks[i++].stored_bytes;
    }
    files.release(first.folder, first.offset, bytes);
  }
}

}  // namespace

RunStore::RunStore(const std::vector<std::string>& folders, std::size_t key_bytes,
                   const RunStoreOptions& options)
    : files_(std::make_shared<RunFiles>(folders, key_bytes, options)) {}

RunStore::~RunStore() = default;

std::uint64_t RunStore::memory_bytes(const RunStoreOptions& options, std::size_t key_bytes) {
  const std::uint64_t batch = std::max(round_up(options.batch_bytes, kDirectAlignment),
                                       stored_block_bytes(options.block_elements, key_bytes));
  return batch * std::max(options.batch_buffers, 1U);
}

std::uint64_t RunStore::disk_bytes(std::uint64_t elements, std::uint64_t piece_elements) const {
  // Every piece may end with a short block, and every block is padded.
  const std::uint64_t blocks = elements / files_->block_elements +
                               div_up(elements, std::max<std::uint64_t>(piece_elements, 1));
  return elements * files_->key_bytes + blocks * (kBlockHeaderBytes + kDirectAlignment);
}

std::uint64_t RunStore::block_bytes() const {
  return files_->block_bytes;
}
std::uint64_t RunStore::bytes_written() const {
  return files_->bytes_written;
}
std::uint64_t RunStore::bytes_read() const {
  return files_->bytes_read;
}
std::uint64_t RunStore::bytes_in_use() const {
  return files_->bytes_in_use;
}
std::uint64_t RunStore::peak_bytes_in_use() const {
  return files_->peak_bytes_in_use;
}
std::vector<std::string> RunStore::notes() const {
  return files_->notes();
}

class RunWriter::Impl {
 public:
  Impl(std::shared_ptr<RunFiles> files, std::uint64_t expected_elements)
      : files_(std::move(files)), number_(files_->next_run.fetch_add(1)) {
    blocks_.reserve(div_up(expected_elements, files_->block_elements) + 1);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { give_back(*files_, blocks_, 0, blocks_.size()); }

  void put(std::uint64_t position, ConstByteSpan keys) {
    const std::uint64_t key_bytes = files_->key_bytes;
    const std::uint64_t per_batch =
        files_->batch_bytes / files_->block_bytes * files_->block_elements;
    std::uint64_t left = keys.size() / key_bytes;
    while (left > 0) {
      const std::uint64_t taken = std::min(left, per_batch);
      put_batch(position, keys.first(taken * key_bytes));
      keys = keys.subspan(taken * key_bytes);
      position += taken;
      left -= taken;
    }
  }

  Run finish();

  [[nodiscard]] std::uint64_t number() const { return number_; }

 private:
  // Writes keys that fit one batch buffer.
  void put_batch(std::uint64_t position, ConstByteSpan keys) {
    const BufferPool::Lease lease = files_->batches.take();
    const std::size_t step = files_->block_elements * files_->key_bytes;
    std::vector<BlockEntry> entries;
    std::size_t used = 0;
    for (; !keys.empty(); keys = keys.subspan(std::min(step, keys.size()))) {
      const ConstByteSpan payload = keys.first(std::min(step, keys.size()));
      const std::uint64_t count = payload.size() / files_->key_bytes;
      BlockEntry& entry = entries.emplace_back();
      entry.first_key = first_key_of(payload, files_->key_bytes);
      entry.position = position;
      entry.offset = used;
      const std::size_t stored = encode_block(identity_of(*files_, number_, entry, count), payload,
                                              lease.bytes().subspan(used));
      entry.stored_bytes = static_cast<std::uint32_t>(stored);
      used += stored;
      position += count;
    }
    const BatchPlace place = files_->append(lease.bytes().first(used), number_);
    add_entries(entries, place);
    elements_ += position - entries.front().position;
  }

  void add_entries(std::vector<BlockEntry>& entries, const BatchPlace& place) {
    for (BlockEntry& entry : entries) {
      entry.folder = place.folder;
      entry.offset += place.offset;
    }
    const std::lock_guard lock(mutex_);
    blocks_.insert(blocks_.end(), entries.begin(), entries.end());
  }

  std::shared_ptr<RunFiles> files_;
  std::uint64_t number_;
  std::atomic<std::uint64_t> elements_{0};
  std::mutex mutex_;
  std::vector<BlockEntry> blocks_;
};

Run RunWriter::Impl::finish() {
  files_->settle(number_);
  std::sort(blocks_.begin(), blocks_.end(),
            [](const BlockEntry& a, const BlockEntry& b) { return a.position < b.position; });
  // Positions without a gap: the first is 0 and no block is longer than a block may be. That none
  // overlap is then the same as that the sum of counts is right, which the readers' identity check
  // proves again.
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const std::uint64_t end = i + 1 < blocks_.size() ? blocks_[i + 1].position : elements_.load();
    const bool whole = blocks_[i].position == expected && end > blocks_[i].position &&
                       end - blocks_[i].position <= files_->block_elements;
    if (!whole) {
      throw Error(ErrorKind::kCorrupt, fmt::format("finishing run {}", number_),
                  fmt::format("pieces are missing or overlap at element {}", expected));
    }
    expected = end;
  }
  return {files_, number_, elements_, std::exchange(blocks_, {})};
}

RunWriter RunStore::begin_run(std::uint64_t expected_elements) {
  return RunWriter(std::make_unique<RunWriter::Impl>(files_, expected_elements));
}

RunWriter::RunWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RunWriter::RunWriter(RunWriter&&) noexcept = default;
RunWriter& RunWriter::operator=(RunWriter&&) noexcept = default;
RunWriter::~RunWriter() = default;
void RunWriter::put(std::uint64_t position, ConstByteSpan keys) {
  impl_->put(position, keys);
}
Run RunWriter::finish() {
  return impl_->finish();
}
std::uint64_t RunWriter::number() const {
  return impl_->number();
}

}  // namespace gsort::io
