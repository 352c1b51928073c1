// gsort-mpi: one process on each host: parse, sort together, report, exit code. The only place that
// exits, like main.cpp of gsort.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <unistd.h>

#include "app/answers.hpp"
#include "app/console.hpp"
#include "app/observer.hpp"
#include "app/own_files.hpp"
#include "base/current_error.hpp"
#include "base/quoted.hpp"
#include "cluster/cluster_sort.hpp"
#include "cluster/input/check.hpp"
#include "cluster/lone_peers.hpp"
#include "cluster/mpi_peers.hpp"
#include "cluster/rank_report.hpp"
#include "cluster/runs/room.hpp"
#include "cluster/team.hpp"
#include "io/input/name_list.hpp"
#include "io/output/output.hpp"
#include "io/system/process.hpp"
#include "io/system/temporary_file.hpp"
#include "options/option_spec.hpp"
#include "options/options.hpp"
#include "options/pages/help.hpp"
#include "report/style.hpp"
#include "report/summary.hpp"
#include "report/trace.hpp"

namespace gsort {
namespace {

constexpr int kRefuted = 1;  // --check found disorder, or --expect other elements
constexpr int kTrouble = 2;
constexpr const char* kVariables[] = {"GSORT_OPTIONS", "GSORT_TYPE"};

// The inputs of option parsing: those of rank 0 count for all processes.
struct Command {
  std::vector<std::string> words;
  std::map<std::string, std::string> variables;
};

Command own_command(int argc, const char* const* argv) {
  Command command{{argv, argv + argc}, {}};
  for (const char* const name : kVariables) {
    if (const char* const value = std::getenv(name)) command.variables[name] = value;
  }
  return command;
}

template <cluster::Is<Command> Any, class Visit>
void visit_fields(Any& command, Visit& visit) {
  visit(command.words, command.variables);
}

Options options_of(const Command& command, unsigned processes = 1) {
  std::vector<const char*> argv;
  for (const std::string& word : command.words) argv.push_back(word.c_str());
  const Environment environment = [&](const char* name) -> const char* {
    if (std::string_view(name) == "TMPDIR") return std::getenv(name);  // of this host
    const auto found = command.variables.find(name);
    return found == command.variables.end() ? nullptr : found->second.c_str();
  };
  Options options = parse_options(static_cast<int>(argv.size()), argv.data(), environment,
                                  io::read_name_list, Program::kCluster);
  if (options.parts) options.split_output = processes;
  return options;
}

// All words except the inputs that each process may have for itself.
std::vector<std::string> common_words(const Command& command, bool inputs_here) {
  std::vector<std::string> words(command.words.begin() + 1, command.words.end());
  return inputs_here ? option_words(words, Program::kCluster) : words;
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

// A launcher may not pass rank 0's variables on: variables that are not set do not count.
void require_same_command(const cluster::Team& team, const Command& first, const Command& own,
                          bool inputs_here) {
  std::string wanted = joined(common_words(first, inputs_here));
  std::string found = joined(cluster::on_this_host([&] { return common_words(own, inputs_here); }));
  std::string what = "the options";
  for (const auto& [name, value] : own.variables) {
    const auto of_first = first.variables.find(name);
    if (wanted != found || (of_first != first.variables.end() && of_first->second == value)) {
      continue;
    }
    what = "the variable " + name;
    wanted = of_first == first.variables.end() ? "" : of_first->second;
    found = value;
  }
  if (wanted == found) return;
  throw Error(ErrorKind::kUsage, "comparing " + what,
              fmt::format("'{}' on {}, '{}' on {}", wanted, team.name_of(0), found,
                          team.name_of(team.rank())))
      .hint(inputs_here ? "give all processes the same options; only their inputs may differ"
                        : "give all processes the same command; TMPDIR may differ between hosts");
}

std::string resumed_runs_of(const cluster::ClusterOutcome& outcome, const Options& options) {
  if (outcome.resumed_runs == 0) return {};
  return fmt::format("gsort-mpi: {}: continuing after {} of {}\n", *options.resume,
                     counted(outcome.resumed_runs, "run"),
                     counted(outcome.resumed_elements, "element"));
}

// Collective: writes the work of each thread of each process. Rank 0 has the file. Each process has
// its own clock, which begins with its sort.
void write_trace_of_all(cluster::Team& team, Meter& meter, std::optional<io::Output>& output) {
  std::uint64_t written = 0;
  const WriteText write = [&](std::string_view text) {
    output->write_next(std::as_bytes(std::span(text)));
    written += text.size();
  };
  meter.end_phase();
  const std::vector<PhaseRecord> phases = meter.phases();
  const std::vector<TrackRecord> tracks = meter.tracks();
  const TraceRequest own{.phases = phases,
                         .tracks = tracks,
                         .process = "gsort-mpi, " + team.name_of(team.rank()),
                         .number = team.rank() + 1};
  std::uint64_t lost = meter.lost_spans();
  team.sum(std::span(&lost, 1));
  try {
    if (output) begin_trace(lost, write);
    team.stream(
        [&](const auto& put) {
          write_trace_events(own,
                             [&](std::string_view text) { put(std::as_bytes(std::span(text))); });
        },
        [&](ConstByteSpan piece) {
          write({reinterpret_cast<const char*>(piece.data()), piece.size()});
        });
    if (!output) return;
    team.work([&] {
      end_trace(write);
      output->commit(written);
    });
  } catch (const Error& error) {
    throw Error(error).hint(kInPlace);
  }
}

// The variables of Open MPI, MPICH and Slurm.
constexpr std::array kRankVariables = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};

bool has_variable(std::span<const char* const> names) {
  return std::ranges::any_of(names, [](const char* name) { return std::getenv(name) != nullptr; });
}

// Whether a launcher of MPI jobs has started this process.
bool is_launched() {
  return has_variable(kRankVariables);
}

// No launcher has started this process, not even one without MPI, as MPI reports.
bool is_alone() {
  constexpr std::array kOthers = {"PMI_FD",      "PMI_PORT",       "SLURM_PROCID",
                                  "PALS_RANKID", "FLUX_TASK_RANK", "JSM_NAMESPACE_RANK"};
  return !is_launched() && !has_variable(kOthers);
}

// Help, the version and pages need no MPI, which may not work where a package is built.
bool show_without_mpi(int argc, const char* const* argv) {
  if (is_launched()) return false;
  try {
    const Options options = options_of(own_command(argc, argv));
    if (options.show == Show::kNone) return false;
    print(stdout, text_of(options.show, Program::kCluster));
    return true;
  } catch (const Error&) {  // rank 0 reports it
    return false;
  }
}

// MPI has a connection to every other process.
void raise_limit_of_open_files() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &files);  // the needs of a process are compared with the limit
}

// The message of rank 0 if MPI does not start, or does not end; empty in the others.
std::string late_text;

extern "C" void end_late(int /*signal*/) {
  (void)!::write(STDERR_FILENO, late_text.data(), late_text.size());
  ::_exit(kTrouble);
}

// From this process's own command: rank 0's is unknown before MPI has started.
unsigned peer_timeout_of(int argc, const char* const* argv) {
  try {
    return options_of(own_command(argc, argv)).peer_timeout_seconds;
  } catch (const Error&) {  // rank 0 reports it
    return Options().peer_timeout_seconds;
  }
}

// Limits the time that MPI takes to start: it may wait for a host forever.
class StartLimit {
 public:
  StartLimit(int argc, const char* const* argv) {
    constexpr unsigned kLeastSeconds = 10;  // on a busy machine MPI takes a few
    constexpr unsigned kForRank0 = 5;       // to report it: a launcher ends all processes with the
                                            // first one
    const unsigned seconds = std::max(peer_timeout_of(argc, argv), kLeastSeconds);
    const Error late = Error(ErrorKind::kResource, "starting MPI",
                             fmt::format("it has not started for {} seconds", seconds))
                           .hint(
                               "check the hosts and the network between them; --peer-timeout "
                               "sets how long to wait");
    if (!has_another_rank()) late_text = error_text(late.what(), stderr_color(ColorMode::kAuto));
    std::signal(SIGALRM, end_late);
    ::alarm(has_another_rank() ? seconds + kForRank0 : seconds);
  }
  ~StartLimit() {
    ::alarm(0);
    late_text.clear();
  }
  StartLimit(const StartLimit&) = delete;
  StartLimit& operator=(const StartLimit&) = delete;

 private:
  static bool has_another_rank() {
    return std::ranges::any_of(kRankVariables, [](const char* name) {
      const char* const rank = std::getenv(name);
      return rank != nullptr && std::string_view(rank) != "0";
    });
  }
};

cluster::MpiPeers start_mpi(int argc, const char* const* argv) {
  const StartLimit limit(argc, argv);
  return cluster::MpiPeers();
}

// The work of one process.
class Process {
 public:
  explicit Process(cluster::Peers& peers) : peers_(peers) {}

  int run(int argc, const char* const* argv) {
    cluster::TeamOptions team_options;
    team_options.host = peers_.host();
    team_options.version = version_text(Program::kCluster);
    team_options.tell = [this](const cluster::Verdict& verdict) { tell(verdict); };
    team_options.leave = [this](const cluster::Verdict& verdict) { leave_at_once(verdict); };
    cluster::Team team(peers_, team_options);
    const auto verdict = team.run_job([&] {
      work(team, own_command(argc, argv));
      team.meet();  // a process that leaves does not wait long for rank 0, which may be writing a
                    // report
    });
    if (!team.can_leave() && verdict) peers_.abort(kTrouble);
    if (!team.can_leave()) std::_Exit(status_);  // the output is in place, or the answer given
    leave(verdict.has_value());
    return verdict ? kTrouble : status_;
  }

 private:
  void work(cluster::Team& team, const Command& own) {
    const auto first = cluster::value_in<Command>(team.broadcast(cluster::message_of(own)));
    Options options = options_of(first, team.count());
    if (options.inputs_here) {
      options.inputs = cluster::on_this_host([&] { return options_of(own).inputs; });
    }
    require_same_command(team, first, own, options.inputs_here);
    color_ = options.color;
    if (options.show != Show::kNone) {
      if (team.rank() == 0) print(stdout, text_of(options.show, Program::kCluster));
      return;
    }
    peer_timeout_seconds_ = options.peer_timeout_seconds;
    team.set_peer_timeout(std::chrono::seconds(peer_timeout_seconds_));
    cluster::require_open_files(team, options);
    if (options.check != CheckMode::kNone || options.fingerprint) {
      check(team, options);
      return;
    }
    if (options.explain != ExplainMode::kNone) {
      print(stdout, explain_on_cluster(team, options));
      return;
    }
    if (options.stats || options.trace) {  // inputs may be of this process only
      cluster::on_this_host([&] { refuse_shared_reports(options); });
    }
    // Opened first, so that an error with it appears before anything is sorted.
    std::optional<io::Output> stats;
    std::optional<io::Output> trace;
    const io::OutputOptions as_report{.is_report = true};
    if (team.rank() == 0 && options.stats) stats.emplace(*options.stats, as_report);
    if (team.rank() == 0 && options.trace) trace.emplace(*options.trace, as_report);
    const bool is_watched = begin_progress(team, options);
    const cluster::ClusterOutcome outcome =
        sort_on_cluster(team, options, on_leave_, is_watched ? &job_progress_ : nullptr);
    if (progress_) progress_->done(outcome.bytes);
    progress_.reset();
    if (options.trace) write_trace_of_all(team, *outcome.meter, trace);
    if (team.rank() != 0) return;
    if (stats) {
      team.work([&] {
        write_report(*stats,
                     [&](const WriteText& write) { write(cluster_stats(team, outcome, options)); });
      });
    }
    put_to_stderr(outcome.note);
    if (options.verbosity >= 0) put_to_stderr(lost_device_lines(outcome.lost_devices));
    if (options.verbosity <= 0) return;
    put_to_stderr(resumed_runs_of(outcome, options));
    put_to_stderr(statistic_lines("gsort-mpi", outcome));
    put_to_stderr(cluster_summary(outcome, team.count()));
  }

  // Collective. Returns whether rank 0 shows the progress of all.
  bool begin_progress(cluster::Team& team, const Options& options) {
    Progress::Request request = progress_request(options);
    request.take_request = [] { return false; };
    const auto own = std::byte(request.form != Progress::Form::kSilent);
    const bool is_watched = team.broadcast(std::span(&own, 1)).at(0) != std::byte{0};
    if (is_watched && team.rank() == 0) progress_.emplace(progress_source(), std::move(request));
    return is_watched;
  }

  Progress::Source progress_source() {
    return {[this] { return job_progress_.phase(clock_.now_ns()); },
            [this] { return static_cast<double>(clock_.now_ns()) * 1e-9; },
            [this] { return job_progress_.slowest(); }};
  }

  // Rank 0 gives the answer, also by its status.
  void check(cluster::Team& team, Options options) {
    const cluster::ClusterCheck found = check_on_cluster(team, options);
    if (team.rank() != 0) return;
    put_to_stderr(found.note);
    if (options.inputs_here) options.inputs = {fmt::format("inputs of {} processes", team.count())};
    const bool is_right = options.fingerprint
                              ? answer_fingerprint(options, found.outcome.fingerprint)
                              : answer_check(options, found.job, found.outcome);
    if (!is_right) status_ = kRefuted;
  }

  // Rank 0 reports for all, unless it cannot be reached.
  void tell(const cluster::Verdict& verdict) {
    progress_.reset();  // clears its line
    if (peers_.rank() != 0 && verdict.is_known) return;
    const std::string text = error_text(verdict.text.c_str(), stderr_color(color_));
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
  }

  // For a process in which a thread cannot be stopped.
  [[noreturn]] void leave_at_once(const cluster::Verdict& verdict) {
    if (on_leave_) on_leave_();
    if (!verdict.can_leave) peers_.abort(kTrouble);
    leave(true);
    std::_Exit(kTrouble);
  }

  // MPI waits for all processes, forever if one of them dies now.
  void leave(bool has_failed) {
    const Error late =
        Error(ErrorKind::kResource, "ending all processes",
              fmt::format("one of them has not ended for {} seconds", peer_timeout_seconds_))
            .hint(has_failed ? "check the hosts and the network between them"
                             : "what was asked for is done: see the output");
    if (peers_.rank() == 0) late_text = error_text(late.what(), stderr_color(color_));
    std::signal(SIGALRM, end_late);
    ::alarm(peer_timeout_seconds_);
    peers_.leave();
    ::alarm(0);
  }

  cluster::Peers& peers_;
  unsigned peer_timeout_seconds_ = Options().peer_timeout_seconds;
  ColorMode color_ = ColorMode::kAuto;
  int status_ = 0;
  std::function<void()> on_leave_;
  cluster::JobProgress job_progress_;
  Meter clock_;
  std::optional<Progress> progress_;  // of all, in rank 0
};

}  // namespace
}  // namespace gsort

int main(int argc, char** argv) {
  try {
    gsort::io::take_process();
    gsort::raise_limit_of_open_files();
    gsort::io::remove_names_on_signals();
    if (gsort::show_without_mpi(argc, argv)) return 0;
    if (gsort::is_alone()) {
      gsort::cluster::LonePeers peers;
      return gsort::Process(peers).run(argc, argv);
    }
    gsort::cluster::MpiPeers peers = gsort::start_mpi(argc, argv);
    return gsort::Process(peers).run(argc, argv);
  } catch (...) {
    const std::string text = gsort::error_text(gsort::current_error().what(), false);
    std::fputs(text.c_str(), stderr);
    return gsort::kTrouble;
  }
}
