// Runs that outlast the process: their indexes, written behind them and read again. The runs
// themselves are written by run_store.cpp and read by run.cpp.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

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
  const std::uint64_t bytes = kept.index.blocks * kIndexEntryBytes;
  const Arena scratch(round_up(bytes, kDirectAlignment) + RunFiles::kReadSlack,
                      "the index of a run");
  const ConstByteSpan index =
      space_->files.read(0, kept.index.offset, bytes, scratch.bytes(), kept.number);
  if (index.empty()) throw refusal("its index is truncated");
  if (checksum_of_index(index) != kept.index.checksum) {
    throw refusal("the checksum of its index does not match");
  }
  std::vector<BlockEntry> blocks;
  const std::string_view problem =
      parse_index(index, {kept.index.offset, space_->block_bytes + kDirectAlignment}, blocks);
  if (!problem.empty()) throw refusal(problem);
  Run run(space_, kept.number, kept.input.count, std::move(blocks));
  run.require_whole();
  return run;
}

void RunStore::drop(Run run, const IndexPlace& index) {
  space_->release_for_good(run.blocks_, 0, run.blocks_.size());
  space_->files.release(0, index.offset,
                        round_up(index.blocks * kIndexEntryBytes, kDirectAlignment));
}

}  // namespace gsort::io
