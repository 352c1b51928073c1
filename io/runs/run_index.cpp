// Runs that outlast the process: their indexes, written behind them and read again. The runs
// themselves are written by run_store.cpp and read by run.cpp.
#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "io/runs/resume_folder.hpp"
#include "io/runs/run_space.hpp"
#include "io/system/memory.hpp"

namespace gsort::io {

IndexPlace RunStore::keep(const Run& run) {
  const std::vector<std::byte> index = encode_index(run.blocks_);
  const Arena padded(round_up(index.size(), kDirectAlignment), "the index of a run");
  std::copy(index.begin(), index.end(), padded.bytes().begin());
  const FilePlace place = space_->files.append(padded.bytes(), run.number());
  space_->files.settle(run.number());
  return {place.offset, run.blocks_.size(), checksum_of_index(index)};
}

Run RunStore::find(const ManifestRun& kept) {
  const auto refusal = [&](std::string_view reason) {
    return Error(ErrorKind::kTemporary, fmt::format("resuming run {} from", kept.number),
                 std::string(reason))
        .path(space_->files.folder_name(0))
        .at(kept.index.offset)
        .hint(fmt::format("the file was changed or the disk is faulty; check the disk, and remove "
                          "{} to start again",
                          ResumeFolder::words_for_files_of(space_->files.folder_name(0))));
  };
  // Reads one piece at a time: a sparse file may claim an index of any size.
  constexpr std::uint64_t kPieceBytes = kMiB;
  const std::uint64_t bytes = kept.index.blocks * kIndexEntryBytes;
  const IndexBounds bounds{kept.index.offset, space_->block_bytes + kDirectAlignment};
  const Arena scratch(
      round_up(std::min(bytes, kPieceBytes), kDirectAlignment) + RunFiles::kReadSlack,
      "the index of a run");
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> checksum(XXH3_createState(),
                                                                          &XXH3_freeState);
  if (!checksum || XXH3_64bits_reset(checksum.get()) != XXH_OK) throw std::bad_alloc();
  std::vector<BlockEntry> blocks;
  std::string_view problem;
  std::uint64_t done = 0;
  while (done < bytes && problem.empty()) {
    const std::uint64_t piece = std::min(bytes - done, kPieceBytes);
    const ConstByteSpan index =
        space_->files.read(0, kept.index.offset + done, piece, scratch.bytes(), kept.number);
    if (index.empty()) throw refusal("its index is truncated");
    XXH3_64bits_update(checksum.get(), index.data(), index.size());
    problem = parse_index(index, bounds, blocks);
    done += piece;
  }
  if (done == bytes && XXH3_64bits_digest(checksum.get()) != kept.index.checksum) {
    throw refusal("the checksum of its index does not match");
  }
  if (!problem.empty()) throw refusal(problem);
  Run run(space_, kept.number, kept.input.count, std::move(blocks));
  if (!run.is_whole()) throw refusal("its index does not hold all of its elements");
  return run;
}

void RunStore::drop(Run run, const IndexPlace& index) {
  space_->release_for_good(run.blocks_, 0, run.blocks_.size());
  space_->files.release(0, index.offset,
                        round_up(index.blocks * kIndexEntryBytes, kDirectAlignment));
}

}  // namespace gsort::io
