#include "cluster/cluster_sort.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "app/own_files.hpp"
#include "app/prepared_sort.hpp"
#include "base/checked.hpp"
#include "base/units.hpp"
#include "cluster/cluster_plan.hpp"
#include "cluster/cuts/assign_shares.hpp"
#include "cluster/cuts/run_blocks.hpp"
#include "cluster/exchange.hpp"
#include "cluster/input/same_sort.hpp"
#include "cluster/lone_sort.hpp"
#include "cluster/output/counted_result.hpp"
#include "cluster/output/deferred_parts.hpp"
#include "cluster/output/element_before.hpp"
#include "cluster/output/left_out.hpp"
#include "cluster/output/rank_output.hpp"
#include "cluster/output/shared_output.hpp"
#include "cluster/output/spilled_run.hpp"
#include "cluster/proof_message.hpp"
#include "cluster/rank_report.hpp"
#include "cluster/runs/devices.hpp"
#include "cluster/runs/own_runs.hpp"
#include "cluster/runs/room.hpp"
#include "cluster/runs/sizes_here.hpp"
#include "cluster/turns.hpp"
#include "io/output/shared_file.hpp"
#include "io/system/host_facts.hpp"
#include "io/system/memory.hpp"
#include "io/system/space.hpp"
#include "pipeline/count_keys.hpp"
#include "pipeline/output/output_chain.hpp"
#include "pipeline/output/result.hpp"
#include "pipeline/survey.hpp"
#include "plan/budget.hpp"
#include "plan/engine_choice.hpp"

namespace gsort::cluster {
namespace {

// The program and MPI take about 20 MiB (tools/bench/results/2-cores-cluster.txt), Open MPI 5 two
// more.
constexpr std::uint64_t kLeastProgramBytes = 24 * kMiB;

std::vector<std::byte> header_of(const Job& job, const io::Reader& reader, std::uint64_t elements) {
  if (has_header(job.output_form.format)) return header_of_output(job, elements);
  return {reader.header().begin(), reader.header().end()};
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class ClusterSort {
 public:
  ClusterSort(Team& team, const Options& options, std::function<void()>& on_leave,
              JobProgress* progress)
      : team_(team),
        options_(options),
        request_(request_of(options)),
        on_leave_(on_leave),
        progress_(progress),
        own_(team, request_, meter_) {}

  // Describes what run() would do; empty in all ranks but 0.
  std::string explained() {
    look_at_inputs();
    const std::string folder = io::folder_of(output_name());
    take_share(folder);
    HostPlan own = host_plan(plan_, machine_);
    own.distinct_bytes = more_runs_.distinct_bytes;
    own.deferred_bytes = more_runs_.deferred_bytes.value_or(0);
    ClusterPlan all;
    all.elements = outcome_.elements;
    all.output_elements = result_;
    all.element_bytes = job_.element.bytes();
    all.file_element_bytes = job_.input_bytes();
    all.is_counted = plan_.is<CountKeys>();
    all.merges_twice = counts_distinct() && !all.is_counted;
    const auto facts = io::folder_facts(folder);
    if (!request_.parts && facts && facts->is_lustre) all.lustre_folder = folder;
    for (const Message& host : team_.gather(std::as_bytes(std::span(&own, 1)))) {
      all.names.push_back(team_.host_of(static_cast<unsigned>(all.hosts.size())));
      all.hosts.push_back(MessageReader(host).take<HostPlan>());
    }
    team_.meet();
    return all.hosts.empty() ? std::string() : explain(all, request_.explain);
  }

  ClusterOutcome run() {
    look_at_inputs();
    if (progress_ != nullptr) reports_.emplace(team_, meter_, sorted_bytes_, *progress_);
    open_output();
    plan_.is<CountKeys>() ? count() : form_and_merge();
    prove_and_name();
    return std::move(outcome_);
  }

 private:
  // Everything that can be known before anything is read or changed.
  void look_at_inputs() {
    job_ = open_same_inputs(team_, options_, reader_, outcome_.note);
    if (job_.numbered) reader_->number_elements(job_.numbering());
    outcome_.elements = *reader_->known_size() / job_.element.bytes();
    if (request_.inputs_here) team_.sum(std::span(&outcome_.elements, 1));
    sorted_bytes_ = checked_product(outcome_.elements, job_.element.bytes());
    outcome_.bytes = outcome_.elements * job_.input_bytes();
    result_ = std::min(outcome_.elements, job_.top.value_or(outcome_.elements));
    asked_ = job_;
    job_.top = std::nullopt;  // each process keeps all of its share: it may have the first ones
    on_this_host([this] { refuse_losing_inputs(request_, asked_, *reader_); });
    own_.share_out(job_, outcome_.elements, *reader_);
  }

  void open_output() {
    if (request_.parts) {
      output_ = std::make_unique<RankOutput>(team_, request_, on_leave_, meter_);
    } else {
      output_ = std::make_unique<SharedOutput>(team_, output_name(), on_leave_, meter_);
    }
    if (output_->output() != nullptr) {
      on_this_host([this] { refuse_losing_inputs(request_, job_, *output_->output(), *reader_); });
    }
    take_share(output_->folder());
    on_this_host([this] { require_temporary_folders(request_, machine_, plan_); });
    if (plan_.temporary_bytes > 0) io::require_writable(plan_.temporary_folders, "runs");
    require_room_on_hosts(team_, room_needs(plan_, machine_, output_bytes()));
    begin_proof();
    header_ = header_of(job_, *reader_, result_);
    (void)part_sizes();  // or no border is where it must be
    if (!counts_distinct()) begin_output();
    team_.meet();
  }

  [[nodiscard]] std::uint64_t output_bytes() const {
    return least_output_of(request_, job_, result_, team_.rank(), team_.count());
  }

  // With -u, all but files of which each has what its process keeps: how many elements come out,
  // and where each is, is known when all processes have merged.
  [[nodiscard]] bool counts_distinct() const {
    return asked_.unique && (!request_.parts || asked_.top) && !sorts_alone(team_, request_);
  }
  [[nodiscard]] std::uint64_t most_distinct() const {
    return counts_distinct() ? outcome_.elements / team_.count() + 1 : 0;
  }
  [[nodiscard]] std::uint64_t most_deferred() const {
    // With --resume, what is deleted from a folder keeps its place there.
    const bool defers = job_.needs_order() && team_.count() > kNeverRotate && !request_.resume;
    return defers ? (counts_distinct() ? outcome_.elements : result_) / team_.count() + 1 : 0;
  }
  // The most elements in additional runs, which hold distinct elements or deferred parts.
  [[nodiscard]] std::uint64_t most_kept() const { return most_distinct() + most_deferred(); }

  void begin_output() {                                             // its elements are known
    header_ = team_.broadcast(header_of(job_, *reader_, result_));  // any process may write it
    const Message trailer = team_.broadcast(reader_->trailer());
    team_.work([&] { output_->begin(plan_, result_, header_, trailer); });
  }

  [[nodiscard]] std::string output_name() const {
    return request_.outputs().at(request_.parts ? team_.rank() : 0);
  }

  void form_and_merge() {
    form();
    order_ = own_.order(job_);
    if (counts_distinct()) return merge_distinct();
    plan_the_exchange(runs_);
    cut();
    exchange_and_merge();
  }

  // Merges into a run of distinct elements first. When all know how long these are, they are
  // exchanged as runs are, which gives equal shares of the output.
  void merge_distinct() {
    result_ = outcome_.elements;
    plan_the_exchange(runs_);
    cut();
    keep_distinct();
    order_ = {};
    const std::vector<io::Run>& runs = own_.runs();
    std::uint64_t begin = runs.empty() ? 0 : runs.front().elements();
    std::uint64_t all[] = {begin, runs.size()};
    team_.sum_before(std::span(&begin, 1));
    team_.sum(all);
    put_distinct_out(all[0]);
    plan_the_exchange(all[1]);
    parts_.emplace(part_sizes());
    cuts_ = cuts_of_lone_run(runs, begin, parts_->borders());
    exchange_and_merge();
  }

  void keep_distinct() {
    const std::uint64_t most = own_output().elements();
    std::optional<SpilledRun> distinct;
    team_.work([&] { distinct.emplace(own_.store(plan_), most, job_.element, meter_); });
    const std::vector<std::byte> before = element_before();
    Result result(job_, *proof_, *distinct,
                  {.begin = own_output().begin, .before = before, .is_proven_later = true});
    begin_phase(Phase::kMerge, most);
    merge_into(result.sink());
    own_.clear();
    team_.work([&] { own_.put(distinct->finish()); });
  }

  // From here on it is a sort of distinct elements.
  void put_distinct_out(std::uint64_t distinct) {
    result_ = std::min(distinct, asked_.top.value_or(distinct));
    job_.unique = false;
    begin_output();
  }

  void begin_proof() {
    proof_.emplace(job_.proven_element(), job_.handling.verify, nullptr,
                   job_.unique ? OrderKind::kStrict : OrderKind::kAscending);
  }
  void begin_phase(Phase phase, std::uint64_t elements) {
    meter_.begin_phase(phase, elements * job_.element.bytes());
  }
  [[nodiscard]] OutputRange own_output() const {
    return {parts_->begin_of(team_.rank()), parts_->end_of(team_.rank())};
  }

  // Plans for this process. The output's folder is empty where another process makes it.
  void take_share(const std::string& output_folder) {
    job_.forms_share = !is_counted(job_) && !sorts_alone(team_, request_);
    if (job_.forms_share) job_.least_program_bytes = kLeastProgramBytes;
    machine_ = survey(own_.folders(), output_folder, *reader_);
    machine_.input_bytes = own_.elements() * job_.element.bytes();
    machine_.resumed = own_.resumed();
    machine_.names_bytes += own_.manifest_memory_bytes();
    divide_memory(machine_, team_.processes_here());
    look_for_dealt_gpus(team_, job_, machine_);
    Job job = job_;
    if (counts_distinct()) {  // when the output begins, it is known how many there are
      job.unique = false;
      machine_.output = std::nullopt;
    }
    plan_share(job);
    if (job.forms_share) require_planned_exchange(team_, plan_, machine_, all_elements());
  }

  [[nodiscard]] PlannedExchange all_elements() const {
    return {team_.count(), counts_distinct() ? outcome_.elements : result_, most_kept()};
  }

  void plan_share(const Job& job) {
    plan_ = plan_of_host(job, machine_, output_bytes(),
                         job.forms_share ? suits_exchange(all_elements()) : SuitsPlan());
    more_runs_ = add_runs(plan_, machine_, most_distinct(), most_deferred());
  }

  void form() {
    const auto begin = now();
    begin_phase(Phase::kRead, own_.to_read());
    SortContext door{.plan = plan_, .reader = &*reader_};
    if (!request_.resume) {
      plan_without_failed(door, machine_, [this] {
        plan_share(Job(plan_.job));
        begin_proof();
      });
    }
    door.again = Planned::kAfterLackOfMemory;  // another process has taken memory of a device
    team_.work([&] {
      own_.form(door, proof_);
      if (more_runs_.deferred_bytes) (void)own_.store(plan_);  // plans the scratch that it uses
    });
    outcome_.own.runs = runs_ = own_.runs().size();
    team_.sum(std::span(&runs_, 1));
    outcome_.own.form_seconds = now() - begin;
  }

  // Narrow keys do not move: counts are added up, and each process writes a range of the result.
  void count() {
    std::optional<io::Arena> arena;
    KeyCounts counts;
    const auto begin = now();
    begin_phase(Phase::kRead, own_.to_read());
    team_.work([&] {
      arena.emplace(plan_.arena_bytes, "counting");
      const BlockReader blocks = blocks_of(*reader_, *proof_, &meter_);
      counts = read_counts(plan_, blocks, nullptr, arena->bytes());
      own_.require_all_read(*proof_);
    });
    team_.sum(counts);
    const auto counted = now();
    outcome_.own.form_seconds = counted - begin;
    const Job job = job_;  // put_distinct_out() changes it
    Starts starts;
    if (counts_distinct()) {
      starts = starts_of_distinct(counts, job.element.key);
      put_distinct_out(starts.size() - 1);
    }
    sizes_.part_elements = std::max<std::uint64_t>(result_, 1);
    parts_.emplace(part_sizes());
    begin_phase(Phase::kWrite, own_output().elements());
    team_.work([&] {
      const CountedResult result{plan_, counts, *proof_, *output_, arena->bytes()};
      result.put(job, starts, own_output());
      result.leave_out(job, starts, result_, team_.rank(), team_.count());
    });
    outcome_.own.exchange_seconds = now() - counted;
  }

  void plan_the_exchange(std::uint64_t runs) {
    ExchangeQuestion q = exchange_question(plan_, own_.elements() + most_kept(), team_.count());
    q.elements = result_;
    q.runs_here = own_.runs().size();
    q.runs = runs;
    q.run_scratch_bytes = own_.scratch_bytes();
    sizes_ = require_exchange(team_, q);
  }

  // Files of their own have no neighbours.
  [[nodiscard]] PartSizes part_sizes() const {
    const PartSizes sizes{result_, team_.count(), sizes_.part_elements};
    if (request_.parts) return sizes;
    return aligned_in_file(sizes, {job_.result_bytes(), header_.size(), output_->is_on_network()});
  }

  void cut() {
    const auto begin = now();
    parts_.emplace(part_sizes());
    RunBlocks blocks(runs_to_cut(plan_, own_.runs(), own_.scratch_bytes()), sizes_.slots);
    cuts_ = find_cuts(team_, blocks, outcome_.elements, parts_->borders(),
                      cut_threads(plan_.threads), &outcome_.cuts, order_);
    outcome_.cut_seconds = now() - begin;
  }

  void exchange_and_merge() {
    if (!request_.parts) assign_shares(team_, *parts_, cuts_);
    const auto before = job_.unique ? element_before() : std::vector<std::byte>();
    const std::uint64_t begin = own_output().begin;
    Result result(job_, *proof_, *output_, {begin, job_.unique ? 0 : begin, before});
    begin_phase(Phase::kMerge, own_output().elements());
    merge_into(result.sink());
  }

  std::vector<std::byte> element_before() {
    const io::Arena scratch(sizes_.scratch_bytes, "loading");
    return cluster::element_before(team_, own_.runs(), *parts_, cuts_, job_.element,
                                   scratch.bytes());
  }

  void merge_into(PieceSink& sink) {
    const auto begin = now();
    std::optional<DeferredParts> deferred;
    const unsigned lanes_with_room = more_runs_.deferred_bytes ? sizes_.lanes : 0;
    if (most_deferred() > 0 && should_rotate(team_, *parts_, cuts_, lanes_with_room)) {
      const OutputRange range = deferred_range(*parts_, team_.rank());
      outcome_.own.deferred_bytes += range.elements() * plan_.element_bytes;
      team_.work([&] { deferred.emplace(own_.store(plan_), range, job_.element, meter_, sink); });
    }
    std::optional<io::Arena> arena;
    std::optional<io::Arena> scratch;
    SortContext merging{.plan = plan_, .make_engine = make_engine, .meter = &meter_};
    std::unique_ptr<Engine> engine;
    std::vector<std::unique_ptr<MergeLane>> lanes;
    team_.work([&] {
      arena.emplace(sizes_.arena_bytes, "merging");
      scratch.emplace(sizes_.workers * sizes_.scratch_bytes, "loading");
      engine = start_engine(merging, arena->bytes());
      lanes = engine->make_merge_lanes(sizes_.lanes, sizes_.part_elements);
    });
    ExchangeContext context{
        .runs = runs_to_exchange(own_.runs()),
        .parts = *parts_,
        .cuts = cuts_,
        .element_bytes = plan_.element_bytes,
        .packs = job_.handling.packing != Packing::kOff && !job_.element.records,
        .lanes = lanes,
        .scratch = {},
        .backlog = sizes_.backlog,
        .in_order = job_.needs_order() && !deferred,
        .order = order_.runs,
        .meter = &meter_};
    for (unsigned worker = 0; worker < sizes_.workers; ++worker) {
      context.scratch.push_back(
          scratch->bytes().subspan(worker * sizes_.scratch_bytes, sizes_.scratch_bytes));
    }
    exchange(team_, context, deferred ? *deferred : sink, outcome_.own);
    if (deferred) team_.work([&] { deferred->put_rest(context.scratch); });
    team_.work([&] {
      prove_left_out(own_.runs(), cuts_.back(), job_.element, context.scratch, *proof_, &meter_);
    });
    outcome_.own.exchange_seconds += now() - begin;
  }

  // All processes have synced before rank 0 gives the name.
  void prove_and_name() {
    const auto begin = now();
    begin_phase(Phase::kSync, 0);
    team_.work([this] {
      output_->finish(*parts_, proof_->output().count);
      own_.expect_commit();
    });
    outcome_.own.sync_seconds = now() - begin;
    Proof whole = proof_of(asked_, nullptr);
    for (const Message& share : team_.gather(to_message(own_summary()))) {
      whole.add_share(to_summary(share));
    }
    if (team_.rank() == 0) {
      whole.finish();
      if (!job_.unique && whole.output().count != result_) {
        throw Error(ErrorKind::kCorrupt, "verifying the output", "elements are missing");
      }
    }
    report();
    output_->put_in_place(team_, *parts_, [this] { reader_->check_unchanged(); });
    outcome_.note += own_.remove();
  }

  // With -u, positions are those of the own file until now.
  [[nodiscard]] ProofSummary own_summary() {
    std::uint64_t begin = proof_->output().count;
    team_.sum_before(std::span(&begin, 1));
    return job_.unique ? moved(proof_->summary(), begin) : proof_->summary();
  }

  void report() {
    RankReport& own = outcome_.own;
    own_.report(own);
    own.share = parts_->share(team_.rank());
    own.output_elements = proof_->output().count;
    own.lost_nan_payloads = output_->lost_nan_payloads();
    own.devices = plan_.devices.size();
    own.peak_resident_bytes = io::peak_resident_bytes();
    outcome_.ranks = gather_reports(team_, own);
    for (const RankReport& rank : outcome_.ranks) add_up(outcome_, rank);
  }

  Team& team_;
  const Options& options_;  // for the job alone
  const Request& request_;
  std::function<void()>& on_leave_;
  JobProgress* progress_;
  ClusterOutcome outcome_{request_.trace.has_value()};
  Meter& meter_ = *outcome_.meter;
  std::optional<ProgressReports> reports_;
  std::optional<io::Reader> reader_;
  Job asked_;
  Job job_;                         // of this process; without -u when keys are distinct
  std::uint64_t sorted_bytes_ = 0;  // of the input, with numbers of its elements
  std::uint64_t result_ = 0;        // elements of the output
  std::uint64_t runs_ = 0;          // of all processes
  std::vector<std::byte> header_;
  Machine machine_;
  Plan plan_;
  MoreRuns more_runs_;  // of its temporary files
  std::unique_ptr<ClusterOutput> output_;
  std::optional<Proof> proof_;
  OwnRuns own_;
  RunOrder order_;
  ExchangePlan sizes_;
  std::optional<PartTable> parts_;
  std::vector<Cuts> cuts_;
};

}  // namespace

std::string explain_on_cluster(Team& team, const Options& options) {
  std::function<void()> nothing;
  return ClusterSort(team, options, nothing, nullptr).explained();
}

ClusterOutcome sort_on_cluster(Team& team, const Options& options, std::function<void()>& on_leave,
                               JobProgress* progress) {
  const double begin = now();
  ClusterOutcome outcome = sorts_alone(team, request_of(options))
                               ? sort_alone(team, options, progress)
                               : ClusterSort(team, options, on_leave, progress).run();
  outcome.seconds = now() - begin;
  return outcome;
}

}  // namespace gsort::cluster
