#include "lies/shares_case.hpp"

#include <filesystem>

#include "io/input/reader.hpp"
#include "options/job.hpp"
#include "pipeline/run_folder.hpp"
#include "pipeline/share/form_share.hpp"
#include "pipeline/share/join_parts.hpp"
#include "pipeline/share/share_range.hpp"
#include "pipeline/share/take_part.hpp"
#include "support/invented.hpp"
#include "unit/io/support.hpp"

namespace gsort::test {
namespace {

constexpr std::uint32_t kShares = 2;
constexpr std::uint32_t kParts = 3;
const InputForm kRaw{FileFormat::kBinary, Codec::kNone};

class SharesCase {
 public:
  explicit SharesCase(const SortRequest& request)
      : request_(request),
        options_(options_for(request.format.type, request.budget)),
        input_(folder_ / "in") {
    options_.key = request.format;
    options_.records = request.records;
    options_.parallel = request.threads;
    options_.output_format = request.output_format;
    options_.verify_encoding = request.verify_encoding;
    options_.unique = request.unique;
    options_.count = request.min_count.has_value();
    options_.min_count = request.min_count;
    has_own_files_ = request.unique || request.output_format;
    for (std::uint32_t part = 0; part < (has_own_files_ ? kParts : 1); ++part) {
      outputs_.push_back(folder_ / ("out" + std::to_string(part)));
    }
    job_ = make_job(options_);
    hold_in_runs(job_);
    job_.resumable = true;
    io::test::write_file(input_, request.input);
    io::test::write_file(outputs_.front(), *request.old_output);
    std::filesystem::create_directory(folder_ / "dir");
  }

  void sort() {
    for (std::uint32_t share = 0; share < kShares; ++share) form(share);
    for (std::uint32_t part = 0; part < kParts; ++part) take(part);
    if (has_own_files_) {
      (void)join_own_parts("out", outputs_);
    } else {
      (void)join_parts(outputs_.front(), kParts);
    }
  }

  // The bytes of all existing parts, one after the other.
  [[nodiscard]] Bytes output() const {
    Bytes all;
    for (const std::string& name : outputs_) {
      if (!std::filesystem::exists(name)) continue;
      const Bytes part = io::test::read_file(name);
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

 private:
  // In a folder of this name the seams take files for temporary ones.
  [[nodiscard]] std::string runs_of(std::uint32_t share) const {
    return folder_ / ("dir/" + std::to_string(share));
  }

  [[nodiscard]] Plan plan_for(const Job& job, const Machine& machine) const {
    Plan plan = make_plan(job, machine);
    request_.change_plan(plan);
    return plan;
  }

  void form(std::uint32_t share) const {
    const std::size_t element_bytes = job_.element.bytes();
    io::Reader reader({input_}, {element_bytes, {DirectIo::kAuto}, kRaw});
    io::Manifest wanted = manifest_of(resumable_job(job_, kRaw), element_bytes, reader);
    wanted.share.emplace();
    wanted.share->number = share;
    wanted.share->shares = kShares;
    const OutputRange mine = share_of(*reader.known_size() / element_bytes, share, kShares);
    reader.begin_at(mine.begin * element_bytes);
    reader.end_at(mine.end * element_bytes);
    Job job = job_;
    job.forms_share = true;
    job.unique = job.count = false;
    job.min_count.reset();
    job.output_form = {};
    const Machine machine =
        invented_machine(mine.elements() * element_bytes, request_.threads, kTiB);
    Meter meter;
    const Plan plan = plan_for(job, machine);
    (void)form_share(
        {.plan = plan, .reader = &reader, .make_engine = request_.make_engine, .meter = &meter},
        {runs_of(share), wanted});
  }

  void take(std::uint32_t part) const {
    std::vector<std::string> folders;
    for (std::uint32_t share = 0; share < kShares; ++share) folders.push_back(runs_of(share));
    FormedShares shares(folders);
    Machine machine =
        invented_machine(shares.elements() * shares.element_bytes(), request_.threads, kTiB);
    machine.resumed = {shares.runs(), shares.elements(), shares.block_elements()};
    const io::OutputPlace place(outputs_[has_own_files_ ? part : 0]);
    PartRecord wanted;
    wanted.part = part;
    wanted.parts = kParts;
    wanted.has_own_file = has_own_files_;
    Job job = job_;
    wanted = planned_part(wanted, place, shares, job);
    job.part_elements = wanted.end - wanted.begin;
    Meter meter;
    machine.temporary.front().path = folder_ / "dir";
    const Plan plan = plan_for(job, machine);
    (void)take_part({.plan = plan, .make_engine = request_.make_engine, .meter = &meter}, place,
                    wanted, shares);
  }

  const SortRequest& request_;
  Options options_;
  Job job_;
  io::test::TempFolder folder_;
  const std::string input_;
  bool has_own_files_ = false;
  std::vector<std::string> outputs_;  // one, or the files of all parts
};

}  // namespace

SortResult sort_in_shares(const SortRequest& request) {
  SharesCase sort(request);
  SortResult result;
  try {
    sort.sort();
  } catch (const Error& error) {
    result.error = error;
  }
  result.output = sort.output();
  return result;
}

}  // namespace gsort::test
