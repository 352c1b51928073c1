#include "pipeline/share/take_part.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "form/counted_file.hpp"
#include "form/npy.hpp"
#include "io/output/shared_file.hpp"
#include "io/runs/run_store.hpp"
#include "io/system/host_facts.hpp"
#include "io/system/memory.hpp"
#include "io/system/space.hpp"
#include "pipeline/merge_runs.hpp"
#include "pipeline/proof/proof.hpp"
#include "pipeline/share/join_parts.hpp"
#include "pipeline/share/part_record.hpp"

namespace gsort {
namespace {

Error not_of_one_job(const std::string& folder, const std::string& reason) {
  return Error(ErrorKind::kUsage, fmt::format("--from '{}'", folder), reason)
      .hint("--from names the folders of all shares of one input, each once");
}

// Writes pieces to their places in the shared file.
class SharedFileSink final : public PieceSink {
 public:
  SharedFileSink(const io::SharedFile& file, std::uint64_t header_bytes,
                 std::uint64_t element_bytes, Meter& meter)
      : file_(file), header_bytes_(header_bytes), element_bytes_(element_bytes), meter_(meter) {}
  void put(std::uint64_t position, ConstByteSpan elements) override {
    Span span(&meter_, Stage::kWrite);
    span.add_bytes(elements.size());
    file_.write_at(header_bytes_ + position * element_bytes_, elements);
  }

 private:
  const io::SharedFile& file_;
  std::uint64_t header_bytes_;
  std::uint64_t element_bytes_;
  Meter& meter_;
};

// The runs of all shares, open to be read.
class RunsOfShares {
 public:
  RunsOfShares(FormedShares& shares, const Plan& plan) {
    for (io::ResumeFolder& folder : shares.folders()) {
      folder.open_runs();
      const io::Manifest& manifest = *folder.found();
      io::RunStoreOptions options;
      options.block_elements = manifest.block_elements;
      options.write_buffers = 1;
      options.write_buffer_bytes = 1;  // nothing is written
      if (plan.job.element.records) options.records.emplace(*plan.job.element.records);
      options.persistent =
          io::PersistentStore{&folder.runs(), folder.runs_end(), manifest.store, manifest.next_run};
      io::RunStore& store = stores_.emplace_back(std::vector<std::string>{folder.path()},
                                                 plan.element_bytes, options);
      if (largest_ == nullptr || store.scratch_bytes() > largest_->scratch_bytes()) {
        largest_ = &store;
      }
      for (const io::ManifestRun& run : manifest.runs) runs_.push_back(store.find(run));
    }
  }

  [[nodiscard]] std::span<const io::Run> runs() const { return runs_; }
  // That with the largest blocks.
  [[nodiscard]] io::RunStore& store() const { return *largest_; }
  [[nodiscard]] std::uint64_t bytes_read() const {
    std::uint64_t bytes = 0;
    for (const io::RunStore& store : stores_) bytes += store.bytes_read();
    return bytes;
  }

 private:
  std::list<io::RunStore> stores_;
  io::RunStore* largest_ = nullptr;
  std::vector<io::Run> runs_;
};

std::uint64_t number_of_job(const FormedShares& shares, const ShareNumber& part,
                            const OutputForm& form, std::uint64_t header_bytes) {
  const std::string text =
      fmt::format("{} {} {} {}", shares.number(), part.of, name_of(form.format), header_bytes);
  return XXH3_64bits(text.data(), text.size());
}

PartRecord record_of(const PartJob& job, const FormedShares& shares, const OutputForm& form,
                     std::uint64_t header_bytes) {
  PartRecord record;
  record.job = number_of_job(shares, job.part, form, header_bytes);
  record.part = job.part.number;
  record.parts = job.part.of;
  record.elements = shares.elements();
  record.file_bytes =
      checked_sum(header_bytes, checked_product(shares.elements(), shares.element_bytes()));
  record.verified = job.verify;
  record.input = shares.input();
  const OutputRange range = range_of_part(job, shares, header_bytes);
  record.begin = range.begin;
  record.end = range.end;
  return record;
}

// Of the whole output. Of a file that the file system compresses, fewer bytes are allocated than
// parts were written.
std::uint64_t bytes_written(const io::OutputPlace& place, const PartRecord& record) {
  const io::SharedFile file(place, shared_name(place.name, record.job),
                            io::SharedFile::Access::kLook);
  if (!file.exists()) return 0;
  std::uint64_t parts = 0;
  PartRecord other = record;
  for (other.part = 0; other.part < record.parts; ++other.part) {
    if (io::read_record(place, record_name(place.name, other))) ++parts;
  }
  const std::uint64_t in_parts = record.file_bytes / record.parts * parts;
  return std::min(record.file_bytes, std::max(file.allocated_bytes(), in_parts));
}

// For what is missing of the whole output: other parts may be written at the same time.
void require_room(const io::OutputPlace& place, const PartRecord& record) {
  const io::SpaceNeed need{std::span(&place.folder, 1),
                           record.file_bytes - bytes_written(place, record),
                           "the parts that are not written yet"};
  io::require_space(std::span(&need, 1));
}

// What the proof says of the part's elements. Throws: Error(kCorrupt) where they are not all there.
void take_proof(const Proof& proof, PartRecord& record) {
  const ProofSummary summary = proof.summary();
  record.output = summary.output;
  if (record.begin == record.end) return;
  const auto& stretches = summary.stretches;
  const bool is_whole = stretches.size() == 1 && stretches.begin()->first == record.begin &&
                        stretches.begin()->second.end == record.end;
  if (!is_whole) {
    throw Error(ErrorKind::kCorrupt, fmt::format("verifying part {}", record.part),
                "elements of it are missing")
        .hint("run this --take again; if it fails again, form the shares again");
  }
  record.first = stretches.begin()->second.first;
  record.last = stretches.begin()->second.last;
}

void merge_part_of(const PartRecord& record, const Plan& plan, const EngineMaker& make_engine,
                   FormedShares& shares, Meter& meter, PieceSink& sink, Outcome& outcome) {
  const RunsOfShares runs(shares, plan);
  const io::Arena arena(plan.arena_bytes, "merging");
  const auto engine = make_engine(plan, engine_shape_of(plan, &meter), arena.bytes());
  const RunViews views = views_of(runs.runs());
  merge_range({plan, *engine, runs.store(), arena.bytes(), &meter},
              {views, {record.begin, record.end}, KeyForm::kRaw, nullptr}, sink);
  outcome.loaded_bytes = runs.bytes_read();
  outcome.runs = runs.runs().size();
}

}  // namespace

FormedShares::FormedShares(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    const io::ResumeFolder& share = folders_.emplace_back(folder, io::ResumeAccess::kRead);
    if (share.found() && share.found()->share) continue;
    throw not_of_one_job(folder, "it holds no runs of --form");
  }
  folders_.sort([](const io::ResumeFolder& a, const io::ResumeFolder& b) {
    return a.found()->share->number < b.found()->share->number;
  });
  require_all_of_one_job();
  for (const io::ResumeFolder& folder : folders_) {
    for (const io::ManifestRun& run : folder.found()->runs) input_ += run.input;
  }
}

void FormedShares::require_all_of_one_job() const {
  const io::ManifestShare& wanted = *first().share;
  std::uint64_t elements = 0;
  std::uint32_t number = 0;
  for (const io::ResumeFolder& folder : folders_) {
    const io::Manifest& found = *folder.found();
    const io::ManifestShare& share = *found.share;
    const bool same_inputs =
        wanted.has_own_inputs || (found.inputs == first().inputs && found.sample == first().sample);
    if (found.job != first().job || found.element_bytes != first().element_bytes ||
        share.dtype != wanted.dtype || share.shares != wanted.shares ||
        share.has_own_inputs != wanted.has_own_inputs || !same_inputs) {
      throw not_of_one_job(folder.path(), "it belongs to another job than the other folders");
    }
    if (share.number != number++) {
      throw not_of_one_job(folder.path(),
                           fmt::format("it holds share {}, but share {} of {} is missing",
                                       share.number, number - 1, wanted.shares));
    }
    if (!wanted.has_own_inputs && share.first_element != elements) {
      throw not_of_one_job(folder.path(), "it does not begin where the share before it ends");
    }
    for (const io::ManifestRun& run : found.runs) {
      elements = checked_sum(elements, run.input.count);
    }
  }
  if (number == wanted.shares) return;
  throw not_of_one_job(folders_.back().path(),
                       fmt::format("it holds share {}, but share {} of {} is missing", number - 1,
                                   number, wanted.shares));
}

std::optional<StoredDtype> FormedShares::dtype() const {
  const io::ManifestShare& share = *first().share;
  if (share.dtype_version == 0) return std::nullopt;
  return StoredDtype{share.dtype, static_cast<int>(share.dtype_version)};
}

std::uint64_t FormedShares::runs() const {
  std::uint64_t runs = 0;
  for (const io::ResumeFolder& folder : folders_) runs += folder.found()->runs.size();
  return runs;
}

std::uint64_t FormedShares::block_elements() const {
  std::uint64_t most = 1;
  for (const io::ResumeFolder& folder : folders_) {
    most = std::max(most, folder.found()->block_elements);
  }
  return most;
}

std::uint64_t FormedShares::number() const {
  std::string text =
      fmt::format("{} {} {}", first().job, first().element_bytes, first().share->dtype);
  for (const io::ResumeFolder& folder : folders_) {
    for (const io::ManifestInput& input : folder.found()->inputs) {
      text += fmt::format(" {} {}", input.bytes, input.changed_ns);
    }
    Fingerprint sum;
    for (const io::ManifestRun& run : folder.found()->runs) sum += run.input;
    text += fmt::format(" {} {} {};", sum.count, sum.first, sum.second);
  }
  return XXH3_64bits(text.data(), text.size());
}

std::vector<std::byte> header_of_output(const Job& job, std::uint64_t elements) {
  if (job.output_form.format == FileFormat::kSosd) return io::make_sosd_header(elements);
  if (job.output_form.format != FileFormat::kNpy) return {};
  return io::make_npy_header(job.dtype.value_or(io::npy_dtype_of(job.element.key)), elements);
}

OutputRange range_of_part(const PartJob& job, const FormedShares& shares,
                          std::uint64_t header_bytes) {
  const auto border = [&](std::uint64_t number) {
    return part_border(shares.elements(), number, job.part.of, shares.element_bytes(),
                       header_bytes);
  };
  return {border(job.part.number), border(std::uint64_t{job.part.number} + 1)};
}

bool is_taken(const PartJob& job, const FormedShares& shares, const OutputForm& form,
              std::uint64_t header_bytes) {
  const io::OutputPlace place = io::place_of_output(job.output);
  const PartRecord wanted = record_of(job, shares, form, header_bytes);
  if (is_joined(place, wanted)) return true;
  const auto text = io::read_record(place, record_name(place.name, wanted));
  const auto found = text ? parse_part(*text) : std::nullopt;
  if (!found || found->input != wanted.input) return false;
  const io::SharedFile file(place, shared_name(place.name, wanted.job),
                            io::SharedFile::Access::kLook);
  return file.exists() && file.number() == found->file_number && file.bytes() == found->file_bytes;
}

Outcome take_part(const PartJob& job, const Plan& plan, const EngineMaker& make_engine,
                  FormedShares& shares, Meter& meter) {
  const std::uint64_t begin_ns = meter.now_ns();
  const std::vector<std::byte> header = header_of_output(plan.job, shares.elements());
  PartRecord record = record_of(job, shares, plan.job.output_form, header.size());
  const io::OutputPlace place = io::place_of_output(job.output);
  require_room(place, record);
  io::SharedFile file(place, shared_name(place.name, record.job), io::SharedFile::Access::kWrite);
  file.grow_to(record.file_bytes);
  record.file_number = file.number();
  Outcome outcome;
  Proof proof(plan.job.element, job.verify, &meter);
  SharedFileSink writing(file, header.size(), plan.element_bytes, meter);
  ProvingSink proving(proof, writing);
  meter.begin_phase(Phase::kMerge, (record.end - record.begin) * plan.element_bytes, 0);
  if (record.part == 0 && !header.empty()) file.write_at(0, header);
  if (record.begin < record.end) {
    merge_part_of(record, plan, make_engine, shares, meter, proving, outcome);
  }
  take_proof(proof, record);
  meter.begin_phase(Phase::kSync, 0, 0);
  const auto offset_of = [&](std::uint64_t element) {
    return header.size() + element * plan.element_bytes;
  };
  const std::uint64_t begin = record.part == 0 ? 0 : offset_of(record.begin);
  file.finish(begin, offset_of(record.end));
  io::write_record(place, record_name(place.name, record), encode_part(record));
  meter.end_phase();
  outcome.phases = meter.phases();
  outcome.elements = outcome.output_elements = record.end - record.begin;
  outcome.bytes = outcome.elements * plan.element_bytes;
  outcome.verified = job.verify;
  outcome.fingerprint = record.output;
  outcome.total_seconds = static_cast<double>(meter.now_ns() - begin_ns) * 1e-9;
  outcome.peak_memory_bytes = io::peak_resident_bytes();
  return outcome;
}

}  // namespace gsort
