// The writing side of runs: put() cuts a piece into blocks and appends them to write buffers;
// finish() makes the index whole. The reading side is in run.cpp.
#include "io/runs/run_store.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "io/runs/run_space.hpp"

namespace gsort::io {
RunStore::RunStore(const std::vector<std::string>& folders, std::size_t element_bytes,
                   const RunStoreOptions& options)
    : space_(std::make_shared<RunSpace>(folders, element_bytes, options)) {}

RunStore::~RunStore() = default;

std::uint64_t RunStore::scratch_bytes() const {
  return round_up(space_->block_bytes, kDirectAlignment) + RunFiles::kReadSlack;
}
std::uint64_t RunStore::key_bytes_put() const {
  return space_->key_bytes_put;
}
std::uint64_t RunStore::bytes_kept() const {
  return space_->write_buffers.bytes_kept();
}
std::uint64_t RunStore::bytes_in_tier() const {
  return space_->tier.bytes_kept();
}
std::uint64_t RunStore::bytes_written() const {
  return space_->files.bytes_written;
}
std::uint64_t RunStore::bytes_read() const {
  return space_->files.bytes_read;
}
std::uint64_t RunStore::bytes_in_use() const {
  return space_->files.bytes_in_use;
}
std::uint64_t RunStore::peak_bytes_in_use() const {
  return space_->files.peak_bytes_in_use;
}
std::vector<std::string> RunStore::notes() const {
  return space_->files.notes();
}

namespace {

// The rest of a piece of plain keys that is cut into blocks.
class PlainPiece {
 public:
  PlainPiece(const RunSpace& space, ConstByteSpan keys) : space_(space), keys_(keys) {}

  [[nodiscard]] bool empty() const { return keys_.empty(); }
  [[nodiscard]] std::uint64_t count() const { return block().size() / space_.element_bytes; }
  [[nodiscard]] std::uint64_t fence() const { return space_.fence_of(block()); }
  std::size_t encode(const BlockIdentity& identity, ByteSpan to) const {
    return encode_block(identity, block(), space_.packing, to);
  }
  void pop() { keys_ = keys_.subspan(block().size()); }

 private:
  [[nodiscard]] ConstByteSpan block() const {
    return keys_.first(std::min(keys_.size(), space_.block_elements * space_.element_bytes));
  }

  const RunSpace& space_;
  ConstByteSpan keys_;
};

// The same for keys in stored form. Packed or not, a payload begins with the first key.
class StoredPiece {
 public:
  StoredPiece(const RunSpace& space, const StoredBlocks& blocks) : space_(space), left_(blocks) {}

  [[nodiscard]] bool empty() const { return left_.count == 0; }
  [[nodiscard]] std::uint64_t count() const { return std::min(left_.count, space_.block_elements); }
  [[nodiscard]] std::uint64_t fence() const { return first_key_of(block(), space_.element_bytes); }
  std::size_t encode(const BlockIdentity& identity, ByteSpan to) const {
    const bool packed = block().size() < count() * space_.element_bytes;
    const Encoding encoding = packed ? Encoding::kPacked : Encoding::kPlain;
    if (!has_right_form(identity, encoding, block())) {
      throw Error(ErrorKind::kCorrupt, "packing keys",
                  fmt::format("{} bytes are not the size of {} keys", block().size(), count()))
          .path("the device's memory")
          .hint("data changed on the GPU or on its bus; use --engine cpu");
    }
    return encode_payload(identity, encoding, block(), to);
  }
  void pop() {
    const std::size_t taken = round_up(block().size(), kPayloadAlignment);
    left_.count -= count();
    left_.block_bytes = left_.block_bytes.subspan(1);
    left_.payloads = left_.payloads.subspan(std::min(left_.payloads.size(), taken));
  }

 private:
  [[nodiscard]] ConstByteSpan block() const {
    return left_.payloads.first(left_.block_bytes.front());
  }

  const RunSpace& space_;
  StoredBlocks left_;
};

}  // namespace

class RunWriter::Impl {
 public:
  Impl(std::shared_ptr<RunSpace> space, std::uint64_t expected_elements)
      : space_(std::move(space)), number_(space_->next_run.fetch_add(1)) {
    index_.reserve(div_up(expected_elements, space_->block_elements) + 1);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    space_->write_buffers.discard(number_);
    const std::vector<BlockEntry> blocks = index_.take();
    space_->release(blocks, 0, blocks.size());
  }

  template <class Piece>
  void put(std::uint64_t position, std::uint64_t count, Piece piece) {
    elements_ += count;
    space_->key_bytes_put += count * space_->element_bytes;
    while (!piece.empty()) {
      WriteBuffer& buffer = space_->write_buffers.open(number_, index_, position);
      try {
        append_blocks(buffer, position, piece);
      } catch (...) {
        space_->write_buffers.drop(buffer);
        throw;
      }
      position = buffer.next_position;
      space_->write_buffers.put_back(buffer, buffer.is_full() || !piece.empty());
    }
  }

  Run finish();

  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] const RunSpace& space() const { return *space_; }

 private:
  // Appends as many blocks as fit, at least one to an empty buffer, and removes them
  // from `piece`.
  template <class Piece>
  void append_blocks(WriteBuffer& buffer, std::uint64_t position, Piece& piece) {
    while (!piece.empty() && !buffer.is_full()) {
      BlockEntry entry;
      entry.first_key = piece.fence();
      entry.position = position;
      entry.offset = buffer.used_bytes;
      const std::size_t stored =
          piece.encode(space_->identity_of(number_, entry, piece.count()), buffer.room());
      if (stored == 0) break;
      entry.stored_bytes = static_cast<std::uint32_t>(stored);
      buffer.entries.push_back(entry);
      buffer.used_bytes += stored;
      position += piece.count();
      piece.pop();
    }
    buffer.next_position = position;
  }

  std::shared_ptr<RunSpace> space_;
  std::uint64_t number_;
  std::atomic<std::uint64_t> elements_{0};
  RunIndex index_;
};

Run RunWriter::Impl::finish() {
  space_->write_buffers.close(number_);
  space_->files.settle(number_);
  std::vector<BlockEntry> blocks = index_.take();
  std::sort(blocks.begin(), blocks.end(),
            [](const BlockEntry& a, const BlockEntry& b) { return a.position < b.position; });
  // From here on the run gives its space back, also if it is not whole.
  Run run(space_, number_, elements_, std::move(blocks));
  if (run.is_whole()) return run;
  throw Error(ErrorKind::kCorrupt, fmt::format("finishing run {}", number_),
              "pieces are missing or overlap")
      .hint("this is a bug in gsort, please report it; the input is unchanged");
}

RunWriter RunStore::begin_run(std::uint64_t expected_elements) {
  return RunWriter(std::make_unique<RunWriter::Impl>(space_, expected_elements));
}

RunWriter::RunWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RunWriter::RunWriter(RunWriter&&) noexcept = default;
RunWriter& RunWriter::operator=(RunWriter&&) noexcept = default;
RunWriter::~RunWriter() = default;
void RunWriter::put(std::uint64_t position, ConstByteSpan keys) {
  const RunSpace& space = impl_->space();
  impl_->put(position, keys.size() / space.element_bytes, PlainPiece(space, keys));
}
void RunWriter::put_blocks(std::uint64_t position, const StoredBlocks& blocks) {
  impl_->put(position, blocks.count, StoredPiece(impl_->space(), blocks));
}
bool RunWriter::takes_blocks() const {
  return is_packable({.element_bytes = static_cast<std::uint32_t>(impl_->space().element_bytes),
                      .records = impl_->space().records.has_value()});
}
std::uint64_t RunWriter::block_elements() const {
  return impl_->space().block_elements;
}
std::size_t RunWriter::element_bytes() const {
  return impl_->space().element_bytes;
}
Packing RunWriter::packing() const {
  return impl_->space().packing;
}
Run RunWriter::finish() {
  return impl_->finish();
}
std::uint64_t RunWriter::number() const {
  return impl_->number();
}

}  // namespace gsort::io
