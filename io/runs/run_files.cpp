#include "io/runs/run_files.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "io/system/host_facts.hpp"
#include "io/system/sys.hpp"
#include "io/system/temporary_file.hpp"

namespace gsort::io {
namespace {

// A file in memory takes one write at a time, so several threads write faster to several files.
constexpr unsigned kMostFilesInMemory = 8;  // of a folder

// Whether the error is a lack of space, which another folder may have.
bool means_full(int error_number) {
  return error_number == ENOSPC || error_number == EDQUOT || error_number == ENOMEM;
}

}  // namespace

RunFiles::RunFiles(const std::vector<std::string>& folders, const RunStoreOptions& options)
    : is_persistent_(options.persistent.has_value()),
      syncs_(is_persistent_ || !options.left_in_page_cache) {
  if (folders.empty()) {
    throw Error(ErrorKind::kUsage, "opening temporary folders", "there are none")
        .hint("name one with -T");
  }
  const DirectIo policy = syncs_ ? options.direct_io : DirectIo::kOff;
  const PersistentStore* const persistent = is_persistent_ ? &*options.persistent : nullptr;
  for (const std::string& folder : folders) open_stripe(folder, policy, persistent);
  if (is_persistent_) return;
  // One buffer more than there are threads.
  const unsigned threads = std::min(options.write_buffers, kMostFilesInMemory + 1);
  for (unsigned thread = 2; thread < threads; ++thread) add_files_in_memory(folders.size());
}

// Adds one more file to each folder, if all files stay in memory: next to a disk, these folders
// would get more than their part of the runs. Without these files, runs are only slower.
void RunFiles::add_files_in_memory(std::size_t folders) {
  const auto stays_in_memory = [](const auto& stripe) { return stripe->stays_in_memory; };
  if (!std::ranges::all_of(stripes_, stays_in_memory)) return;
  for (std::size_t i = 0; i < folders; ++i) {
    auto stripe = std::make_unique<Stripe>();
    stripe->name = stripes_[i]->name;
    stripe->stays_in_memory = true;
    stripe->is_memory = stripes_[i]->is_memory;
    try {
      stripe->file = create_unnamed(open_folder(stripe->name, ErrorKind::kTemporary), stripe->name);
    } catch (const Error&) {
      return;
    }
    stripes_.push_back(std::move(stripe));
  }
}

void RunFiles::open_stripe(const std::string& folder_path, DirectIo policy,
                           const PersistentStore* persistent) {
  auto stripe = std::make_unique<Stripe>();
  stripe->name = folder_path;
  if (persistent != nullptr) {
    stripe->file = persistent->file->reopened(O_RDWR);
    if (!stripe->file.is_open()) throw persistent->file->error("opening again", errno);
    stripe->end = persistent->end_bytes;
  } else {
    stripe->file = create_unnamed(open_folder(folder_path, ErrorKind::kTemporary), folder_path);
  }
  const auto facts = folder_facts(folder_path);
  const bool is_memory = facts && facts->is_memory();
  stripe->is_memory = is_memory;
  stripe->stays_in_memory = !syncs_ || (is_memory && policy != DirectIo::kOn);
  if (policy == DirectIo::kOn || (policy == DirectIo::kAuto && !is_memory)) {
    stripe->direct = stripe->file.reopened(O_RDWR | O_DIRECT);
    stripe->write_direct = stripe->direct.is_open();
    if (!stripe->write_direct) {
      add_note(folder_path + ": O_DIRECT is not supported here, using the page cache");
    }
  }
  if (is_memory) {
    add_note(
        fmt::format("{}: in memory ({}); runs there take memory", folder_path, facts->memory_kind));
  } else if (!syncs_) {
    add_note(folder_path + ": runs are left in the page cache, which has room for them");
  }
  stripes_.push_back(std::move(stripe));
}

Error RunFiles::told_for_run(const Error& error, std::string_view doing, std::uint64_t run) const {
  const std::string_view way_out = is_persistent_
                                       ? "free space there, and run the same command again"
                                       : "free space there, or name more folders with -T";
  const int problem = error.error_number();
  Error told =
      Error::from_errno(ErrorKind::kTemporary, fmt::format("{} run {} in", doing, run), problem)
          .path(error.path())
          .hint(means_full(problem) ? way_out : hint_for(problem));
  if (error.offset_bytes()) return std::move(told).at(*error.offset_bytes());
  return told;
}

FilePlace RunFiles::append(ConstByteSpan bytes, std::uint64_t run) {
  const auto count = static_cast<std::uint32_t>(stripes_.size());
  const std::uint32_t first = next_folder_.fetch_add(1, std::memory_order_relaxed);
  std::optional<Error> refusal;
  // Full folders come last, but are still tried: space may have been given back. The second round
  // tries all: a folder that was full in the first may have room again, because of another thread.
  for (const bool try_all : {false, true}) {
    for (std::uint32_t attempt = 0; attempt < count; ++attempt) {
      const std::uint32_t folder = (first + attempt) % count;
      Stripe& stripe = *stripes_[folder];
      if (stripe.full && !try_all) continue;
      const std::uint64_t offset = stripe.end.fetch_add(bytes.size());
      try {
        write(stripe, bytes, offset);
      } catch (const Error& error) {
        punch(stripe, offset, bytes.size());
        refusal = told_for_run(error, "writing", run);
        const int problem = error.error_number();
        const bool may_fit_elsewhere = means_full(problem) || problem == EFBIG;
        if (!may_fit_elsewhere) throw Error(*refusal);
        if (!stripe.full.exchange(true)) add_note(stripe.name + ": full, runs go to other folders");
        continue;
      }
      stripe.full = false;
      count_written(bytes.size());
      return {folder, offset};
    }
  }
  throw Error(*refusal);
}

void RunFiles::write(Stripe& stripe, ConstByteSpan bytes, std::uint64_t offset) {
  if (stripe.is_memory && !memory_watch_.has_room_for(bytes.size())) {
    throw stripe.file.error("writing", ENOMEM);
  }
  std::size_t moved = 0;
  if (stripe.write_direct) {
    if (stripe.direct.write_direct_at(bytes, offset, moved)) return;
    if (stripe.write_direct.exchange(false)) {
      add_note(stripe.name + ": O_DIRECT failed at the first write, using the page cache");
    }
  }
  stripe.file.write_full_at(bytes.subspan(moved), offset + moved);
  if (!syncs_) return;
  stripe.unsynced = true;
  // Starts the writing now, so that settle() finds little left to wait for.
  sys::sync_file_range(stripe.file.fd(), static_cast<off_t>(offset),
                       static_cast<off_t>(bytes.size()), SYNC_FILE_RANGE_WRITE);
}

ConstByteSpan RunFiles::read(std::uint32_t folder, std::uint64_t offset, std::size_t bytes,
                             ByteSpan scratch, std::uint64_t run) {
  Stripe& stripe = *stripes_[folder];
  const std::uint64_t begin = round_down(offset, kDirectAlignment);
  const std::uint64_t end = round_up(offset + bytes, kDirectAlignment);
  const ByteSpan to = scratch.first(end - begin);
  std::size_t moved = 0;
  try {
    // EINVAL leaves a part to the page cache: an address out of step, or a short read in the
    // middle.
    if (!stripe.write_direct || !stripe.direct.read_direct_at(to, begin, moved)) {
      moved += stripe.file.read_full_at(to.subspan(moved), begin + moved);
    }
  } catch (const Error& error) {
    throw told_for_run(error, "reading", run);
  }
  bytes_read.fetch_add(moved, std::memory_order_relaxed);
  if (moved != to.size()) return {};
  return to.subspan(offset - begin, bytes);
}

void RunFiles::punch(Stripe& stripe, std::uint64_t offset, std::uint64_t bytes) noexcept {
  if (sys::fallocate(stripe.file.fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                     static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0) {
    stripe.full = false;
  }
}

void RunFiles::release(std::uint32_t folder, std::uint64_t offset, std::uint64_t bytes) noexcept {
  const std::uint64_t begin = round_down(offset, kDirectAlignment);
  const std::uint64_t end = round_down(offset + bytes, kDirectAlignment);
  if (begin < end) punch(*stripes_[folder], begin, end - begin);
  bytes_in_use.fetch_sub(bytes, std::memory_order_relaxed);
}

void RunFiles::settle(std::uint64_t run) {
  for (const auto& stripe : stripes_) {
    // Direct writes are on the disk, but perhaps not the metadata that says where.
    if (!stripe->unsynced.exchange(false) && !is_persistent_) continue;
    try {
      stripe->file.sync_data();
    } catch (const Error& error) {
      throw told_for_run(error, "syncing", run);
    }
  }
}

const std::string& RunFiles::folder_name(std::uint32_t folder) const {
  return stripes_[folder]->name;
}

std::vector<std::string> RunFiles::notes() const {
  const std::lock_guard lock(notes_mutex_);
  return notes_;
}

void RunFiles::count_written(std::uint64_t bytes) {
  bytes_written.fetch_add(bytes, std::memory_order_relaxed);
  const std::uint64_t now = bytes_in_use.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::uint64_t peak = peak_bytes_in_use.load(std::memory_order_relaxed);
  while (peak < now && !peak_bytes_in_use.compare_exchange_weak(peak, now)) {
  }
}

void RunFiles::add_note(std::string note) {
  const std::lock_guard lock(notes_mutex_);
  if (std::ranges::find(notes_, note) == notes_.end()) notes_.push_back(std::move(note));
}

}  // namespace gsort::io
