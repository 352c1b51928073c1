#include "cluster/team.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include <fmt/format.h>

#include "base/current_error.hpp"
#include "base/thread.hpp"
#include "pipeline/proof/damage_hint.hpp"

namespace gsort::cluster {
namespace {

constexpr int kBeatsATimeout = 8;
constexpr int kStepsATimeout = 64;  // at least
constexpr std::chrono::seconds kBetweenReports{1};
// How long a process waits for the others before it leaves without them. If the job has failed,
// they may be in a system call. If not, a link may be down for some seconds, and TCP tries again
// later.
constexpr std::chrono::milliseconds kGoodbye{3'000};
constexpr std::chrono::milliseconds kGoodbyeOfSuccess{10'000};
// The highest byte of a collective's size holds its kind.
constexpr unsigned kSizeBits = 56;

ConstByteSpan bytes_of(std::span<const std::uint64_t> values) {
  return std::as_bytes(values);
}

ConstByteSpan bytes_of(const std::string& text, std::size_t most) {
  return std::as_bytes(std::span(text)).first(std::min(text.size(), most));
}

std::string text_of(ConstByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Message message_of(const Envelope& envelope, ConstByteSpan payload = {}) {
  MessageWriter writer(envelope);
  writer.put_bytes(payload);
  return writer.take();
}

void add_to(std::span<std::uint64_t> values, ConstByteSpan others) {
  if (others.size() != values.size_bytes()) throw_malformed();
  MessageReader reader(others);
  for (std::uint64_t& value : values) value += reader.take<std::uint64_t>();
}

}  // namespace

Error error_of_host(const Error& error) {
  return Error(ErrorKind::kResource, error.operation(), error.reason())
      .path(error.path())
      .hint(error.hint());
}

Team::Team(Peers& peers, TeamOptions options)
    : peers_(peers),
      options_(std::move(options)),
      hosts_(peers.count(), "a host that is not known yet"),
      heard_(peers.count(), Clock::now()),
      has_left_(peers.count(), false),
      beaten_(Clock::now()),
      looked_(Clock::now()) {
  hosts_[rank()] = options_.host;
}

std::string Team::name_of(unsigned rank) const {
  return fmt::format("{} (rank {})", hosts_[rank], rank);
}

unsigned Team::processes_here() const {
  return static_cast<unsigned>(std::ranges::count(hosts_, options_.host));
}

std::optional<Verdict> Team::run_job(const std::function<void()>& job) {
  std::optional<Verdict> verdict;
  try {
    introduce();
    job();
  } catch (const JobEnded& ended) {
    verdict.emplace(Verdict{ended.what()});
  } catch (...) {
    verdict.emplace(tell(current_error()));
  }
  if (verdict && options_.tell) options_.tell(*verdict);
  can_leave_ = say_goodbye(
      verdict ? kGoodbye : std::clamp(options_.peer_timeout, kGoodbye, kGoodbyeOfSuccess));
  if (verdict) verdict->can_leave = can_leave_;
  return verdict;
}

// Before the options are parsed: another version may not know them.
void Team::introduce() {
  MessageWriter writer;
  unsigned from = 0;
  const std::string own = options_.host + '\0' + options_.version;
  for (const Message& other : gather(std::as_bytes(std::span(own)))) {
    const std::string text = text_of(other);
    const std::size_t end = std::min(text.find('\0'), text.size());
    hosts_[from] = text.substr(0, end);
    require_same_version(from, text.substr(std::min(end + 1, text.size())));
    writer.put_text(hosts_[from]);
    ++from;
  }
  const Message all = broadcast(writer.take());
  MessageReader reader(all);
  for (std::string& host : hosts_) host = reader.take_text();
}

void Team::require_same_version(unsigned other, const std::string& version) const {
  if (version == options_.version) return;
  throw Error(ErrorKind::kUsage, "comparing the program's version",
              fmt::format("{} on {}, {} on {}", options_.version, name_of(rank()),
                          version.empty() ? "an older one" : version, name_of(other)))
      .hint("install the same gsort-mpi on all hosts");
}

// Tells rank 0 about a failure here; rank 0 tells the others. If rank 0 has heard of another
// failure before, that one is the verdict.
Verdict Team::tell(const Error& error) {
  const bool is_of_a_host = count() > 1 && error.kind() != ErrorKind::kUsage;
  const std::string text =
      is_of_a_host ? fmt::format("on {}: {}", name_of(rank()), error.what()) : error.what();
  if (rank() == 0) {
    end_job(text);
    return {text};
  }
  try {
    send(0, message_of({MessageKind::kError}, bytes_of(text, most_payload_bytes())));
    if (is_rank0_silent_) return {text, false};
    const auto limit = Clock::now() + options_.peer_timeout + kGoodbye;
    wait_until([&] { return has_left_[0] || Clock::now() > limit; });
  } catch (const JobEnded& ended) {
    return {ended.what()};
  } catch (...) {  // rank 0 does not answer
  }
  return {text, false};
}

void Team::end_job(const std::string& text) {
  is_over_ = true;
  is_told_ = true;
  for (unsigned to = 1; to < count(); ++to) {
    send(to, message_of({MessageKind::kEnd}, bytes_of(text, most_payload_bytes())));
  }
}

// Messages arrive in order: a process that has the goodbyes of all has all messages, and may end
// MPI.
bool Team::say_goodbye(std::chrono::milliseconds longest) {
  is_over_ = true;
  for (unsigned to = 0; to < count(); ++to) {
    if (to != rank()) send(to, message_of({MessageKind::kBye}));
  }
  const auto is_done = [&] {
    for (unsigned other = 0; other < count(); ++other) {
      if (other != rank() && (!has_left_[other] || peers_.unsent(other) > 0)) return false;
    }
    return true;
  };
  const auto limit = Clock::now() + longest;
  while (!is_done()) {
    if (Clock::now() > limit) return false;
    while (auto arrival = peers_.receive()) {
      Envelope envelope;
      std::memcpy(&envelope, arrival->message.data(),
                  std::min(sizeof envelope, arrival->message.size()));
      if (envelope.kind == MessageKind::kBye) has_left_[arrival->from] = true;
    }
    pause();
  }
  return true;
}

void Team::sum(std::span<std::uint64_t> values) {
  constexpr std::size_t kMost = std::size_t{1} << 16;
  for (std::size_t at = 0; at < values.size(); at += kMost) {
    const auto some = values.subspan(at, std::min(kMost, values.size() - at));
    sum_up(some, begin(Collective::kSum));
    Message total(bytes_of(some).begin(), bytes_of(some).end());
    pass_down(total, begin(Collective::kTotal));
    std::ranges::fill(some, 0);
    add_to(some, total);
  }
}

// A binomial tree: each process adds up what those with its rank and higher bits have.
void Team::sum_up(std::span<std::uint64_t> values, CollectiveStep step) {
  for (unsigned bit = 1; bit < count(); bit <<= 1) {
    if ((rank() & bit) != 0) return send_whole(rank() - bit, step, bytes_of(values));
    if (rank() + bit < count()) add_to(values, take_whole(rank() + bit, step));
  }
}

// The same tree, downwards.
void Team::pass_down(Message& bytes, CollectiveStep step) {
  unsigned bit = 1;
  while (bit < count() && (rank() & bit) == 0) bit <<= 1;
  if (rank() != 0) bytes = take_whole(rank() - bit, step);
  for (bit >>= 1; bit > 0; bit >>= 1) {
    if (rank() + bit < count()) send_whole(rank() + bit, step, bytes);
  }
}

// After the step of distance d every process knows the sum over the 2d ranks up to its own.
void Team::sum_before(std::span<std::uint64_t> values) {
  std::vector<std::uint64_t> up_to_here(values.begin(), values.end());
  std::ranges::fill(values, 0);
  for (unsigned distance = 1; distance < count(); distance <<= 1) {
    const CollectiveStep step = begin(Collective::kSumBefore);
    if (rank() + distance < count()) send_whole(rank() + distance, step, bytes_of(up_to_here));
    if (rank() < distance) continue;
    const Message before = take_whole(rank() - distance, step);
    add_to(values, before);
    add_to(up_to_here, before);
  }
}

std::vector<Message> Team::gather(ConstByteSpan bytes) {
  const CollectiveStep step = begin(Collective::kGather);
  std::vector<Message> all;
  if (rank() != 0) {
    send_whole(0, step, bytes);
    return all;
  }
  all.emplace_back(bytes.begin(), bytes.end());
  for (unsigned from = 1; from < count(); ++from) all.push_back(take_whole(from, step));
  return all;
}

Message Team::join(Message own, const Join& join) {
  const CollectiveStep step = begin(Collective::kJoin);
  for (unsigned bit = 1; bit < count(); bit <<= 1) {
    if ((rank() & bit) != 0) {
      send_whole(rank() - bit, step, own);
      return {};
    }
    if (rank() + bit < count()) join(own, take_whole(rank() + bit, step));
  }
  return own;
}

// Each piece is asked for. An empty one is the last.
void Team::stream(const Pieces& own, const std::function<void(ConstByteSpan)>& heard) {
  const CollectiveStep step = begin(Collective::kStream);
  if (rank() == 0) {
    const auto hear = [&](ConstByteSpan piece) { work([&] { heard(piece); }); };
    own(hear);
    for (unsigned from = 1; from < count(); ++from) {
      for (Message piece{std::byte{}}; !piece.empty();) {
        send_whole(from, step, {});
        piece = take_whole(from, step);
        if (!piece.empty()) hear(piece);
      }
    }
    return;
  }
  const auto put = [&](ConstByteSpan piece) {
    (void)take_whole(0, step);
    send_whole(0, step, piece);
  };
  own([&](ConstByteSpan piece) {
    if (!piece.empty()) put(piece);
  });
  put({});
}

Message Team::broadcast(ConstByteSpan bytes) {
  Message message(bytes.begin(), bytes.end());
  pass_down(message, begin(Collective::kBroadcast));
  return message;
}

void Team::least(std::span<std::uint64_t> values) {
  const ConstByteSpan own = bytes_of(values);
  std::vector<std::uint64_t> least(values.begin(), values.end());
  for (const Message& other : gather(own)) {
    MessageReader reader(other);
    for (std::uint64_t& value : least) value = std::min(value, reader.take<std::uint64_t>());
  }
  const Message result = broadcast(bytes_of(least));
  MessageReader reader(result);
  for (std::uint64_t& value : values) value = reader.take<std::uint64_t>();
}

void Team::meet() {
  std::uint64_t nothing = 0;
  sum(std::span(&nothing, 1));
}

void Team::require_own_thread() const {
  if (std::this_thread::get_id() == thread_) return;
  throw Error(ErrorKind::kCorrupt, "working with other processes",
              "the call comes from a thread other than the team's")
      .hint(kDefectHint);
}

CollectiveStep Team::begin(Collective kind) {
  require_own_thread();
  return latest_ = {kind, latest_.number + 1};
}

// The other process is at the number of the latest collective.
void Team::require_kind(unsigned other, Collective kind) const {
  if (kind == latest_.kind) return;
  throw Error(ErrorKind::kCorrupt, "working with other processes",
              fmt::format("{} {}, {} {}", name_of(rank()), words_for(latest_.kind), name_of(other),
                          words_for(kind)))
      .hint(kDefectHint);
}

void Team::send_whole(unsigned to, CollectiveStep step, ConstByteSpan bytes) {
  const Envelope envelope{MessageKind::kCollective, step.number};
  const std::uint64_t head = bytes.size() | static_cast<std::uint64_t>(step.kind) << kSizeBits;
  send(to, message_of(envelope, std::as_bytes(std::span(&head, 1))));
  while (!bytes.empty()) {
    const std::size_t some = std::min(most_payload_bytes(), bytes.size());
    send(to, message_of(envelope, bytes.first(some)));
    bytes = bytes.subspan(some);
  }
}

Message Team::take_whole(unsigned from, CollectiveStep step) {
  const auto key = std::pair(from, step.number);
  const auto next = [&] {
    wait_until([&] { return !collective_[key].empty(); });
    Message message = std::move(collective_[key].front());
    collective_[key].pop_front();
    message.erase(message.begin(), message.begin() + sizeof(Envelope));
    return message;
  };
  const Message first = next();
  const auto head = MessageReader(first).take<std::uint64_t>();
  require_kind(from, static_cast<Collective>(head >> kSizeBits));
  const std::uint64_t size = head & ((std::uint64_t{1} << kSizeBits) - 1);
  Message whole;
  while (whole.size() < size) {
    const Message piece = next();
    whole.insert(whole.end(), piece.begin(), piece.end());
  }
  if (whole.size() != size) throw_malformed();
  collective_.erase(key);
  return whole;
}

void Team::work(const std::function<void()>& work) {
  require_own_thread();
  std::atomic<bool> is_done{false};
  std::exception_ptr failure;
  std::jthread thread = start_thread("the work of this host", [&] {
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
    is_done.store(true, std::memory_order_release);
  });
  try {
    wait_until([&] { return is_done.load(std::memory_order_acquire); });
  } catch (...) {
    if (options_.leave) {
      Verdict verdict;
      try {
        throw;
      } catch (const JobEnded& ended) {
        verdict.text = ended.what();
      } catch (...) {
        verdict = tell(current_error());
      }
      if (options_.tell) options_.tell(verdict);
      verdict.can_leave = say_goodbye(kGoodbye);
      options_.leave(verdict);
    }
    throw;  // when the thread has ended
  }
  thread.join();
  if (failure) std::rethrow_exception(failure);
}

void Team::send(unsigned to, Message message) {
  peers_.send(to, std::move(message));
}

std::optional<Arrival> Team::take() {
  if (others_.empty()) return std::nullopt;
  Arrival arrival = std::move(others_.front());
  others_.pop_front();
  return arrival;
}

void Team::step(std::size_t most_messages) {
  require_own_thread();
  for (std::size_t taken = 0; taken < most_messages; ++taken) {
    auto arrival = peers_.receive();
    if (!arrival) break;
    rested();
    sort_in(std::move(*arrival));
  }
  const auto now = Clock::now();
  send_beats(now);
  send_report(now);
  if (most_messages > 0) watch(now);
}

void Team::step_if_due() {
  if (Clock::now() - looked_ >= options_.peer_timeout / kStepsATimeout) step();
}

template <class Done>
void Team::wait_until(const Done& done) {
  rested();
  while (!done()) {
    step();
    if (!done()) pause();
  }
}

void Team::pause() {
  std::this_thread::sleep_for(pause_);
  pause_ = std::min(2 * pause_, kLongestPause);
}

void Team::sort_in(Arrival arrival) {
  heard_[arrival.from] = Clock::now();
  MessageReader reader(arrival.message);
  const auto envelope = reader.take<Envelope>();
  switch (envelope.kind) {
    case MessageKind::kBeat:
      if (const auto kind = latest_.kind_at_same_number(envelope.number)) {
        require_kind(arrival.from, *kind);
      }
      if (heard_report_ && !reader.rest().empty()) heard_report_(arrival.from, reader.rest());
      return;
    case MessageKind::kCollective:
      if (!is_over_) {
        collective_[{arrival.from, envelope.number}].push_back(std::move(arrival.message));
      }
      return;
    case MessageKind::kError:
      if (!is_told_) end_job(text_of(reader.rest()));
      throw JobEnded(text_of(reader.rest()));
    case MessageKind::kEnd:
      is_over_ = true;
      throw JobEnded(text_of(reader.rest()));
    case MessageKind::kBye:
      has_left_[arrival.from] = true;
      return;
    case MessageKind::kCounts:
    case MessageKind::kCredit:
    case MessageKind::kFrame:
      if (!is_over_) others_.push_back(std::move(arrival));
      return;
  }
  throw_malformed();
}

void Team::send_beats(Clock::time_point now) {
  if (now - beaten_ < options_.peer_timeout / kBeatsATimeout) return;
  beaten_ = now;
  for (unsigned to = 0; to < count(); ++to) {
    // A message that waits to be sent will show as well that this process is alive.
    if (to != rank() && peers_.unsent(to) == 0) {
      send(to, message_of({MessageKind::kBeat, latest_.mark()}));
    }
  }
}

// A report that cannot leave would be old when it does.
void Team::send_report(Clock::time_point now) {
  if (!own_report_ || now - reported_ < kBetweenReports) return;
  reported_ = now;
  if (rank() == 0) {
    heard_report_(0, own_report_());
  } else if (peers_.unsent(0) == 0) {
    send(0, message_of({MessageKind::kBeat, latest_.mark()}, own_report_()));
  }
}

// After this process was suspended, read pending messages before declaring peers dead.
void Team::watch(Clock::time_point now) {
  const bool was_away = now - looked_ > options_.peer_timeout / 2;
  looked_ = now;
  if (was_away) std::ranges::fill(heard_, now);
  for (unsigned other = 0; other < count(); ++other) {
    if (other == rank() || has_left_[other]) continue;
    if (now - heard_[other] < options_.peer_timeout) continue;
    heard_[other] = now;  // once
    is_rank0_silent_ = is_rank0_silent_ || other == 0;
    throw Error(ErrorKind::kResource, "waiting for " + name_of(other),
                fmt::format("it has not answered for {} seconds",
                            static_cast<double>(options_.peer_timeout.count()) / 1000))
        .hint("check this host and the network; --peer-timeout sets how long to wait");
  }
}

}  // namespace gsort::cluster
