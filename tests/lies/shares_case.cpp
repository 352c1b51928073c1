#include "lies/shares_case.hpp"

#include <filesystem>

#include "io/input/reader.hpp"
#include "options/resume_options.hpp"
#include "pipeline/resumption.hpp"
#include "pipeline/share/form_share.hpp"
#include "pipeline/share/join_parts.hpp"
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
        input_(folder_ / "in"),
        output_(folder_ / "out") {
    options_.key = request.format;
    options_.records = request.records;
    options_.parallel = request.threads;
    job_ = make_job(options_);
    job_.element = format_in_runs(job_.element);
    job_.resumable = true;
    io::test::write_file(input_, request.input);
    io::test::write_file(output_, *request.old_output);
    std::filesystem::create_directory(folder_ / "dir");
  }

  void sort() {
    for (std::uint32_t share = 0; share < kShares; ++share) form(share);
    for (std::uint32_t part = 0; part < kParts; ++part) take(part);
    (void)join_parts(output_, kParts);
  }

  [[nodiscard]] Bytes output() const { return io::test::read_file(output_); }

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
    io::Reader reader({input_}, {element_bytes, DirectIo::kAuto, kRaw});
    const ShareJob wanted{runs_of(share),
                          {share, kShares},
                          false,
                          manifest_of(resumable_job(job_, kRaw, true), element_bytes, reader)};
    const OutputRange mine = share_of(*reader.known_size() / element_bytes, wanted.share);
    reader.begin_at(mine.begin * element_bytes);
    reader.end_at(mine.end * element_bytes);
    Job job = job_;
    job.forms_share = true;
    const Machine machine =
        invented_machine(mine.elements() * element_bytes, request_.threads, kTiB);
    Meter meter;
    (void)form_share(wanted, plan_for(job, machine), request_.make_engine, reader, meter);
  }

  void take(std::uint32_t part) const {
    std::vector<std::string> folders;
    for (std::uint32_t share = 0; share < kShares; ++share) folders.push_back(runs_of(share));
    FormedShares shares(folders);
    Machine machine =
        invented_machine(shares.elements() * shares.element_bytes(), request_.threads, kTiB);
    machine.resumed = {shares.runs(), shares.elements(), shares.block_elements()};
    PartJob wanted{output_, {part, kParts}};
    wanted.temporary_folders = {folder_ / "dir"};
    Job job = job_;
    job.part_elements = range_of_part(wanted, shares, 0).elements();
    Meter meter;
    (void)take_part(wanted, plan_for(job, machine), request_.make_engine, shares, meter);
  }

  const SortRequest& request_;
  Options options_;
  Job job_;
  io::test::TempFolder folder_;
  const std::string input_;
  const std::string output_;
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
