#include "pipeline/run_folder.hpp"

#include <exception>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/error.hpp"
#include "base/quoted.hpp"
#include "base/units.hpp"
#include "io/system/sys.hpp"

namespace gsort {
namespace {

// The checksum of elements drawn evenly from all inputs: it finds a file that was changed and given
// its old time, or another file, which size and time do not show.
std::uint64_t sample_of(const io::Reader& reader) {
  constexpr std::size_t kSampleBytes = std::size_t{256} << 10;
  const auto size = reader.known_size();
  if (!size) return 0;
  std::vector<std::byte> sample(kSampleBytes);
  return XXH3_64bits(sample.data(), reader.sample(sample, 0, *size));
}

std::vector<io::ManifestInput> inputs_of(const io::Reader& reader) {
  std::vector<io::ManifestInput> inputs;
  for (std::size_t i = 0; i < reader.inputs(); ++i) {
    const auto state = reader.state_of(i);
    if (!state) {
      throw Error(ErrorKind::kUsage, "resuming with",
                  "it is not a regular file, so it cannot be read a second time")
          .path(reader.path_of(i))
          .hint("put it into a file, or leave out --resume");
    }
    inputs.push_back({reader.path_of(i), state->bytes, state->changed_ns});
  }
  return inputs;
}

// Empty if there is no change.
std::string change_of_inputs(const io::Manifest& found, const io::Manifest& wanted) {
  for (std::size_t i = 0; i < found.inputs.size(); ++i) {
    const io::ManifestInput& then = found.inputs[i];
    const io::ManifestInput& now = wanted.inputs[i];
    if (then.bytes == now.bytes && then.changed_ns == now.changed_ns) continue;
    return then.bytes != now.bytes ? fmt::format("{} had {} bytes, and {} has {}", then.path,
                                                 then.bytes, now.path, now.bytes)
                                   : fmt::format("{} has changed since", now.path);
  }
  if (found.sample != wanted.sample) return "the inputs hold other elements than before";
  return {};
}

}  // namespace

Fingerprint fingerprint_of(std::span<const io::ManifestRun> runs) {
  return std::accumulate(
      runs.begin(), runs.end(), Fingerprint{},
      [](Fingerprint sum, const io::ManifestRun& run) { return sum += run.input; });
}

std::string without_slash(std::string folder) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return folder;
}

bool have_same_inputs(const io::Manifest& a, const io::Manifest& b) {
  return a.inputs.size() == b.inputs.size() && change_of_inputs(a, b).empty();
}

void require_same_job(const io::ResumeFolder& folder, const io::Manifest& wanted) {
  const io::Manifest& found = *folder.found();
  if (found.share) throw folder.refusal("it holds runs of --form");
  if (found.has_places && !wanted.has_places) throw folder.refusal("it holds runs of gsort-mpi");
  if (!found.has_places && wanted.has_places) throw folder.refusal("it holds runs of gsort");
  if (found.job != wanted.job || found.element_bytes != wanted.element_bytes) {
    throw folder.refusal(fmt::format("the saved sort differs: it was '{}', this one is '{}'",
                                     found.job, wanted.job));
  }
  if (found.inputs.size() != wanted.inputs.size()) {
    throw folder.refusal(fmt::format("the saved sort is of {}, this one of {}",
                                     counted(found.inputs.size(), "input"), wanted.inputs.size()));
  }
  const std::string change = change_of_inputs(found, wanted);
  if (change.empty()) return;
  if (!found.is_committing) throw folder.refusal(change);
  throw folder.refusal("the output was about to be put in place, and " + change)
      .hint(fmt::format("if the output has replaced that input, the sort is complete: remove {}; "
                        "otherwise remove both files to start again, or name another folder",
                        io::ResumeFolder::words_for_files_of(folder.path())));
}

io::Manifest manifest_of(const std::string& job, std::uint64_t element_bytes,
                         const io::Reader& reader) {
  io::Manifest manifest;
  manifest.job = job;
  manifest.element_bytes = static_cast<std::uint32_t>(element_bytes);
  manifest.inputs = inputs_of(reader);
  manifest.sample = sample_of(reader);
  return manifest;
}

io::RunStore& KeptStores::open(const Plan& plan, io::ResumeFolder& folder) {
  folder.open_runs();
  const io::Manifest& manifest = *folder.found();
  io::RunStoreOptions options;
  options.block_elements = manifest.block_elements;
  options.write_buffers = 1;
  options.write_buffer_bytes = 1;  // nothing is written
  options.direct_io = plan.job.handling.direct_io;
  if (plan.job.element.records) options.records.emplace(*plan.job.element.records);
  options.persistent =
      io::PersistentStore{&folder.runs(), folder.runs_end(), manifest.store, manifest.next_run};
  io::RunStore& store =
      stores_.emplace_back(std::vector<std::string>{folder.path()}, plan.element_bytes, options);
  if (largest_ == nullptr || store.scratch_bytes() > largest_->scratch_bytes()) largest_ = &store;
  return store;
}

void KeptStores::close() {
  stores_.clear();
  largest_ = nullptr;
}

std::uint64_t KeptStores::bytes_read() const {
  std::uint64_t bytes = 0;
  for (const io::RunStore& store : stores_) bytes += store.bytes_read();
  return bytes;
}

RunFolder::RunFolder(io::WantedFolder wanted, io::ResumeAccess access, io::Reader& reader)
    : reader_(reader), folder_(wanted.path, access, wanted.most_manifest_bytes) {
  io::require_readable(wanted);
  manifest_ = std::move(wanted.manifest);
  const std::optional<io::Manifest>& found = folder_.found();
  if (!found) {
    manifest_.store = io::sys::random_number();
    return;
  }
  require_same_job(folder_, manifest_);
  const auto size = reader.known_size();
  found_ = {found->runs.size(), fingerprint_of(found->runs).count, 0};
  if (size && found_.elements > *size / manifest_.element_bytes) {
    throw folder_.refusal("its contents are inconsistent");
  }
  manifest_.folder_is_made = found->folder_is_made;
  manifest_.store = found->store;
  // Skips the number of the unfinished run: blocks of it may be on the disk.
  manifest_.next_run = found->next_run + 1;
  manifest_.block_elements = found->block_elements;
  manifest_.runs = found->runs;
  if (found_.runs > 0) found_.block_elements = found->block_elements;
}

RunFolder::~RunFolder() {
  if (!has_begun_ || !manifest_.runs.empty()) return;
  try {
    finish();
  } catch (const std::exception&) {  // no memory: the folder stays for the next sort
  }
}

io::PersistentStore RunFolder::begin(std::uint64_t block_elements) {
  if (!has_begun_) {
    manifest_.block_elements = block_elements;
    has_begun_ = !folder_.found();  // then all files are of this process, even if this fails
    folder_.begin(manifest_);
    has_begun_ = true;
  }
  return {&folder_.runs(), folder_.runs_end(), manifest_.store, manifest_.next_run};
}

std::vector<io::Run> RunFolder::take_up(io::RunStore& store, Proof& proof) {
  std::vector<io::Run> runs;
  for (const io::ManifestRun& kept : manifest_.runs) runs.push_back(store.find(kept));
  const Fingerprint elements = fingerprint_of(manifest_.runs);
  skip(elements.count, proof);
  proof.add_input_of_before(elements);
  notes_.push_back(fmt::format("{}: continuing after {} of {}", folder_.path(),
                               counted(runs.size(), "run"), counted(elements.count, "element")));
  return runs;
}

void RunFolder::skip(std::uint64_t elements, Proof& proof) {
  const std::uint64_t end = elements * manifest_.element_bytes;
  if (reader_.known_size()) return reader_.begin_at(end);
  constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
  std::vector<std::byte> buffer(kBufferBytes);
  Fingerprint seen;
  while (reader_.position() < end) {
    const auto block = reader_.next(buffer, end);
    if (!block) break;
    seen += proof.look(std::span(buffer).first(block->bytes));
  }
  if (seen != fingerprint_of(manifest_.runs)) {
    throw folder_.refusal("the inputs hold other elements than before");
  }
}

void RunFolder::add(io::RunStore& store, const io::Run& run, const Fingerprint& elements) {
  manifest_.runs.push_back({run.number(), elements, store.keep(run), next_element_});
  if (manifest_.has_places) next_element_ += elements.count;
  manifest_.next_run = run.number() + 1;
  folder_.save(manifest_);
}

void RunFolder::replace(io::RunStore& store, std::size_t first, std::span<io::Run> group,
                        const io::Run& merged) {
  const auto begin = manifest_.runs.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = begin + static_cast<std::ptrdiff_t>(group.size());
  const std::vector<io::ManifestRun> old(begin, end);
  *begin = {merged.number(), fingerprint_of(old), store.keep(merged)};
  manifest_.runs.erase(begin + 1, end);
  manifest_.next_run = merged.number() + 1;
  folder_.save(manifest_);
  for (std::size_t i = 0; i < group.size(); ++i) store.drop(std::move(group[i]), old[i].index);
}

void RunFolder::expect_commit() {
  if (!has_begun_) return;
  manifest_.is_committing = true;
  folder_.save(manifest_);
}

void RunFolder::complete(const io::ManifestShare& share) {
  manifest_.share = share;
  folder_.save(manifest_);
  has_begun_ = false;  // nothing is removed
}

void RunFolder::remove() {
  has_begun_ = false;
  manifest_.share.reset();
  folder_.remove(manifest_);
}

void RunFolder::discard() {
  has_begun_ = false;
  folder_.discard();
}

void RunFolder::finish() {
  if (!has_begun_ && !folder_.found()) return;
  try {
    remove();
  } catch (const Error& error) {
    notes_.emplace_back(error.what());
  }
}

}  // namespace gsort
