// Team: operations of all processes of a job, built on messages: sums, gatherings, one verdict.
//
// A process that fails tells rank 0, which tells all others; whatever they are waiting for then
// ends with JobEnded, so that all of them unwind and one error is printed. If a process sends no
// message for the time limit, the error names its host: every process sends beats while it waits.
//
// Waiting is polling with pauses, as processes may share cores: a call that blocks inside MPI would
// keep a core busy, and could not see that another process failed. Long work therefore runs in a
// thread of its own, and work() waits for it here.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "cluster/collective.hpp"
#include "cluster/message.hpp"
#include "cluster/peers.hpp"

namespace gsort::cluster {

// The reason why the job ended, the same for all processes.
struct Verdict {
  std::string text;       // as Error::what()
  bool is_known = true;   // to all: rank 0 has answered
  bool can_leave = true;  // all processes have said goodbye
};

struct TeamOptions {
  std::chrono::milliseconds peer_timeout{60'000};
  std::string host = "localhost";  // of this process
  std::string version;             // of its program, which must be the same everywhere
  // Tells the user why the job ended. It comes before the goodbye: when a host is lost, the others
  // end each other as soon as they have waited for its goodbye. May be null.
  std::function<void(const Verdict&)> tell;
  // The job has ended while a thread of work() is running, which cannot be stopped and uses what
  // would be destroyed now. Must not return. Null: the thread is waited for.
  std::function<void(const Verdict&)> leave;
};

// Ends what a process does because the job has failed. Not an Error: it is not to be told.
class JobEnded : public std::exception {
 public:
  explicit JobEnded(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

// The same error as an Error(kResource), for an error of this host that another host may not have:
// Team then names the host.
[[nodiscard]] Error error_of_host(const Error& error);

// Calls `look`, which examines this host, and returns its result. Throws: as `look`, but each
// Error(kUsage) is changed by error_of_host().
template <class Look>
auto on_this_host(const Look& look) {
  try {
    return look();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUsage) throw;
    throw error_of_host(error);
  }
}

// Only the thread that made it may call it. All processes call the functions marked "Together" in
// the same order. All throw JobEnded, Error(kResource) when a process does not answer, and
// Error(kCorrupt) when processes are in different collectives of the same number, or when another
// thread calls.
class Team {
 public:
  static constexpr std::size_t kMostMessagesAStep = 64;

  // The peers outlive it.
  Team(Peers& peers, TeamOptions options);

  [[nodiscard]] unsigned rank() const { return peers_.rank(); }
  [[nodiscard]] unsigned count() const { return peers_.count(); }
  // The most bytes that a message can hold after its envelope.
  [[nodiscard]] std::size_t most_payload_bytes() const {
    return peers_.most_message_bytes() - sizeof(Envelope);
  }
  // "node7 (rank 3)".
  [[nodiscard]] std::string name_of(unsigned rank) const;
  [[nodiscard]] const std::string& host_of(unsigned rank) const { return hosts_[rank]; }
  // The number of processes on this host, including this one.
  [[nodiscard]] unsigned processes_here() const;

  // Once the command has been read.
  void set_peer_timeout(std::chrono::milliseconds timeout) { options_.peer_timeout = timeout; }

  // From now on, until there is no `own`, this process sends it to rank 0 once a second, with its
  // beats. `heard` gets the reports of all in rank 0, its own included.
  using Heard = std::function<void(unsigned from, ConstByteSpan report)>;
  void set_reports(std::function<Message()> own, Heard heard) {
    own_report_ = std::move(own);
    heard_report_ = std::move(heard);
  }

  // Whether all processes have said goodbye, after run_job().
  [[nodiscard]] bool can_leave() const { return can_leave_; }

  // Runs the job of this process. Returns the error that ended it, which is the same in all
  // processes; none if it went well here. To be called once, by all.
  [[nodiscard]] std::optional<Verdict> run_job(const std::function<void()>& job);

  // Together: adds up in place, over all processes, or over those with a lower rank.
  void sum(std::span<std::uint64_t> values);
  void sum_before(std::span<std::uint64_t> values);
  // Together: returns the bytes of all processes by rank, in rank 0; none in the others.
  [[nodiscard]] std::vector<Message> gather(ConstByteSpan bytes);
  // Together: joins the bytes of all processes two by two, neighbours first, so that no process
  // ever holds those of many. Returns the result in rank 0; the others get none.
  using Join = std::function<void(Message& some, ConstByteSpan of_higher_ranks)>;
  [[nodiscard]] Message join(Message own, const Join& join);
  // Together: `own` hands over any number of bytes, piece by piece. In rank 0, `heard` gets them,
  // one process after the other, in the order of ranks, in threads as of work(). At most one piece
  // is on its way at a time.
  using Pieces = std::function<void(const std::function<void(ConstByteSpan)>& put)>;
  void stream(const Pieces& own, const std::function<void(ConstByteSpan)>& heard);
  // Together: returns the bytes of rank 0.
  [[nodiscard]] Message broadcast(ConstByteSpan bytes);
  // Together: replaces each value by the least that any process has.
  void least(std::span<std::uint64_t> values);
  // Together: returns when all have come here.
  void meet();

  // Calls `work` in a thread, and waits for it while the team lives on. Throws: what it throws.
  void work(const std::function<void()>& work);

  // For code that uses messages directly: sends one, takes one that has arrived, and makes one step
  // of the team, after which no message may have arrived. A step receives at most `most_messages`
  // messages; others stay where they are.
  void send(unsigned to, Message message);
  [[nodiscard]] std::size_t unsent(unsigned to) const { return peers_.unsent(to); }
  [[nodiscard]] std::optional<Arrival> take();
  void step(std::size_t most_messages = kMostMessagesAStep);
  // A step if the last one was long ago: for loops of other work. In a step MPI may give up the
  // processor, and get it back 10 ms later where others want it.
  void step_if_due();
  // Sleeps, the longer the more often it was called since rested().
  void pause();
  void rested() { pause_ = kShortestPause; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::microseconds kShortestPause{1};
  static constexpr std::chrono::microseconds kLongestPause{200};

  template <class Done>
  void wait_until(const Done& done);
  void sort_in(Arrival arrival);
  void send_beats(Clock::time_point now);
  void send_report(Clock::time_point now);
  void watch(Clock::time_point now);
  void introduce();
  void require_same_version(unsigned other, const std::string& version) const;
  void end_job(const std::string& text);
  [[nodiscard]] Verdict tell(const Error& error);
  [[nodiscard]] bool say_goodbye(std::chrono::milliseconds longest);
  void require_own_thread() const;
  CollectiveStep begin(Collective kind);
  void require_kind(unsigned other, Collective kind) const;
  // Sends bytes of any length as messages of a step, and takes them.
  void send_whole(unsigned to, CollectiveStep step, ConstByteSpan bytes);
  [[nodiscard]] Message take_whole(unsigned from, CollectiveStep step);
  void sum_up(std::span<std::uint64_t> values, CollectiveStep step);
  void pass_down(Message& bytes, CollectiveStep step);

  Peers& peers_;
  TeamOptions options_;
  std::vector<std::string> hosts_;
  std::thread::id thread_ = std::this_thread::get_id();
  CollectiveStep latest_;
  std::map<std::pair<unsigned, std::uint32_t>, std::deque<Message>> collective_;
  std::deque<Arrival> others_;
  std::vector<Clock::time_point> heard_;
  std::vector<bool> has_left_;
  Clock::time_point beaten_;
  Clock::time_point looked_;
  std::function<Message()> own_report_;
  Heard heard_report_;
  Clock::time_point reported_;
  std::chrono::microseconds pause_ = kShortestPause;
  bool is_over_ = false;          // the job has ended: what arrives is dropped
  bool is_told_ = false;          // rank 0 has said so
  bool is_rank0_silent_ = false;  // for the time limit, once
  bool can_leave_ = false;
};

}  // namespace gsort::cluster
