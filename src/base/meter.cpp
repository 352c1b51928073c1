// Each thread has a track in the meter it last marked a span for: counters that only it writes and
// anyone may read, and its spans. A thread finds its track through a thread-local object; when it
// ends, or uses another meter, the track goes back to a list, for the next thread that needs one.
// The object shares the ownership of the meter's state, so that either may end first.
#include "base/meter.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <mutex>
#include <new>

#include "base/error.hpp"
#include "base/made_once.hpp"
#include "base/rate_window.hpp"

namespace gsort {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kLookEveryNs = 50'000'000;

// Counters with one writer: a plain addition that other threads may watch.
struct Counter {
  std::atomic<std::uint64_t> value{0};
  void add(std::uint64_t more) {
    value.store(value.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t get() const { return value.load(std::memory_order_relaxed); }
};

struct StageCounters {
  Counter busy_ns;
  Counter waiting_ns;
  Counter bytes;
  Counter spans;
  Counter moved_bytes;
};

double cpu_seconds_now() {
  return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

StageTotals difference(const StageTotals& after, const StageTotals& before) {
  return {after.busy_ns - before.busy_ns, after.waiting_ns - before.waiting_ns,
          after.bytes - before.bytes, after.spans - before.spans,
          after.moved_bytes - before.moved_bytes};
}

void add_to(ByStage<StageTotals>& sums, const ByStage<StageCounters>& counters) {
  for (std::size_t stage = 0; stage < kStages; ++stage) {
    sums[stage].busy_ns += counters[stage].busy_ns.get();
    sums[stage].waiting_ns += counters[stage].waiting_ns.get();
    sums[stage].bytes += counters[stage].bytes.get();
    sums[stage].spans += counters[stage].spans.get();
    sums[stage].moved_bytes += counters[stage].moved_bytes.get();
  }
}

ByStage<StageTotals> difference(const ByStage<StageTotals>& after,
                                const ByStage<StageTotals>& before) {
  ByStage<StageTotals> differences;
  for (std::size_t stage = 0; stage < kStages; ++stage) {
    differences[stage] = difference(after[stage], before[stage]);
  }
  return differences;
}

// The totals of a device among others in order; made if there are none yet.
ByStage<StageTotals>& totals_of(std::vector<DeviceTotals>& totals, int device) {
  const auto place = std::ranges::lower_bound(totals, device, {}, &DeviceTotals::device);
  if (place != totals.end() && place->device == device) return place->stages;
  return totals.insert(place, {device, {}})->stages;
}

}  // namespace

struct DeviceCounters {
  explicit DeviceCounters(int number) : device(number) {}

  const int device;
  ByStage<StageCounters> stages;
};

struct alignas(64) MeterTrack {
  // The counters of the thread that owns the track.
  DeviceCounters& counters_of(int device);

  MeterState* state = nullptr;
  Span* current = nullptr;  // the innermost span of the thread
  ByStage<StageCounters> counters;
  std::deque<DeviceCounters> devices;  // grows under the state's mutex
  TrackRecord spans;
};

struct MeterState {
  explicit MeterState(Meter::Keep keep) : keep_spans(keep == Meter::Keep::kSpans) {}

  MeterTrack& take_track() {
    const std::scoped_lock lock(mutex);
    if (free_tracks.empty()) {
      free_tracks.reserve(tracks.size() + 1);  // giving a track back must not fail
      tracks.push_back(std::make_unique<MeterTrack>());
      tracks.back()->state = this;
      return *tracks.back();
    }
    MeterTrack& track = *free_tracks.back();
    free_tracks.pop_back();
    return track;
  }

  void give_back(MeterTrack& track) {
    const std::scoped_lock lock(mutex);
    free_tracks.push_back(&track);
  }

  [[nodiscard]] std::uint64_t now_ns() const {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
  }

  // The functions below require the mutex.

  [[nodiscard]] ByStage<StageTotals> totals() const {
    ByStage<StageTotals> sums;
    for (const auto& track : tracks) add_to(sums, track->counters);
    return sums;
  }

  [[nodiscard]] std::vector<DeviceTotals> device_totals() const {
    std::vector<DeviceTotals> sums;
    for (const auto& track : tracks) {
      for (const DeviceCounters& counters : track->devices) {
        add_to(totals_of(sums, counters.device), counters.stages);
      }
    }
    return sums;
  }

  void look_at_rates(std::uint64_t now) {
    const ByStage<StageTotals> sums = totals();
    for (std::size_t stage = 0; stage < kStages; ++stage) {
      windows[stage].look(now, sums[stage].bytes, sums[stage].spans);
    }
    next_look_ns.store(now + kLookEveryNs, std::memory_order_relaxed);
  }

  // The current phase so far.
  [[nodiscard]] PhaseRecord measured(std::uint64_t now) const {
    PhaseRecord record = current;
    record.end_ns = now;
    record.cpu_seconds = cpu_seconds_now() - current.cpu_seconds;
    record.stages = difference(totals(), current.stages);
    record.devices = device_totals();
    std::vector<DeviceTotals> before = current.devices;
    for (DeviceTotals& totals : record.devices) {
      totals.stages = difference(totals.stages, totals_of(before, totals.device));
    }
    std::erase_if(record.devices, [](const DeviceTotals& totals) {
      return totals.stages == ByStage<StageTotals>{};
    });
    return record;
  }

  void end_phase() {
    if (!in_phase) return;
    const std::uint64_t now = now_ns();
    look_at_rates(now);
    PhaseRecord record = measured(now);
    for (std::size_t stage = 0; stage < kStages; ++stage) {
      record.best_rates[stage] = windows[stage].best();
    }
    phases.push_back(record);
    in_phase = false;
  }

  void begin_phase(Phase phase, std::uint64_t total_bytes, std::uint64_t later_bytes) {
    end_phase();
    const std::uint64_t now = now_ns();
    current = {.phase = phase,
               .begin_ns = now,
               .end_ns = now,
               .total_bytes = total_bytes,
               .later_bytes = later_bytes,
               .cpu_seconds = cpu_seconds_now(),
               .stages = totals(),
               .devices = device_totals()};
    for (std::size_t stage = 0; stage < kStages; ++stage) {
      windows[stage].begin(now, current.stages[stage].bytes, current.stages[stage].spans);
    }
    in_phase = true;
  }

  const bool keep_spans;
  const Clock::time_point start = Clock::now();
  std::atomic<std::uint64_t> next_look_ns{kLookEveryNs};
  std::atomic<std::uint64_t> kept_spans{0};  // or would be, if there were room
  std::atomic<std::uint64_t> lost_spans{0};
  std::atomic<bool> is_stopped{false};
  mutable std::mutex mutex;  // guards the members below
  std::vector<std::unique_ptr<MeterTrack>> tracks;
  std::vector<MeterTrack*> free_tracks;
  std::vector<PhaseRecord> phases;
  bool in_phase = false;
  PhaseRecord current;  // with the totals and CPU time at its beginning
  ByStage<RateWindow> windows;
};

DeviceCounters& MeterTrack::counters_of(int device) {
  for (DeviceCounters& own : devices) {
    if (own.device == device) return own;
  }
  const std::scoped_lock lock(state->mutex);
  return devices.emplace_back(device);
}

namespace {

// The thread's track in its current meter.
class OwnTrack {
 public:
  OwnTrack() = default;
  OwnTrack(const OwnTrack&) = delete;
  OwnTrack& operator=(const OwnTrack&) = delete;
  ~OwnTrack() { leave(); }

  MeterTrack& in(const std::shared_ptr<MeterState>& state) {
    if (state_ != state) {
      leave();
      track_ = &state->take_track();
      state_ = state;
    }
    return *track_;
  }

 private:
  void leave() {
    if (state_) state_->give_back(*track_);
    state_.reset();
  }

  std::shared_ptr<MeterState> state_;
  MeterTrack* track_ = nullptr;
};

const ThreadOwned<OwnTrack> kOwnTracks;

OwnTrack& own_track() {
  return kOwnTracks.own();
}

}  // namespace

Meter::Meter(Keep keep) : state_(std::make_shared<MeterState>(keep)) {}
Meter::~Meter() = default;

void Meter::begin_phase(Phase phase, std::uint64_t total_bytes, std::uint64_t later_bytes) {
  const std::scoped_lock lock(state_->mutex);
  state_->begin_phase(phase, total_bytes, later_bytes);
}

void Meter::begin_round(std::size_t round, std::size_t rounds) {
  const std::scoped_lock lock(state_->mutex);
  state_->current.round = round;
  state_->current.rounds = rounds;
}

void Meter::end_phase() {
  const std::scoped_lock lock(state_->mutex);
  state_->end_phase();
}

std::vector<PhaseRecord> Meter::phases() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->phases;
}

PhaseRecord Meter::current_phase() const {
  const std::scoped_lock lock(state_->mutex);
  if (!state_->in_phase && !state_->phases.empty()) return state_->phases.back();
  return state_->measured(state_->now_ns());
}

ByStage<StageTotals> Meter::totals() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->totals();
}

std::uint64_t Meter::now_ns() const {
  return state_->now_ns();
}

void Meter::request_stop() noexcept {
  state_->is_stopped.store(true, std::memory_order_relaxed);
}

std::vector<TrackRecord> Meter::tracks() const {
  const std::scoped_lock lock(state_->mutex);
  std::vector<TrackRecord> records;
  for (const auto& track : state_->tracks) records.push_back(track->spans);
  return records;
}

std::uint64_t Meter::lost_spans() const {
  const std::uint64_t wanted = state_->kept_spans.load(std::memory_order_relaxed);
  const std::uint64_t beyond = wanted > kMostSpans ? wanted - kMostSpans : 0;
  return beyond + state_->lost_spans.load(std::memory_order_relaxed);
}

Span::Span(Meter* meter, Stage stage, Kind kind) : stage_(stage), kind_(kind) {
  if (meter == nullptr) return;
  if (meter->state_->is_stopped.load(std::memory_order_relaxed)) {
    throw Error(ErrorKind::kStopped, "working", "stopped as asked");
  }
  MeterTrack& track = own_track().in(meter->state_);
  if (const auto device = DeviceScope::device()) device_ = &track.counters_of(*device);
  track_ = &track;
  begin_ns_ = charged_until_ns_ = track_->state->now_ns();
  outer_ = track_->current;
  if (outer_ != nullptr) outer_->charge(begin_ns_);
  track_->current = this;
}

// Adds for the thread, and for its device.
template <class Add>
void Span::count(const Add& add) {
  add(track_->counters[stage_]);
  if (device_ != nullptr) add(device_->stages[stage_]);
}

Span::~Span() {
  if (track_ == nullptr) return;
  MeterState& state = *track_->state;
  const std::uint64_t now = state.now_ns();
  charge(now);
  count([&](StageCounters& counters) {
    counters.bytes.add(bytes_);
    counters.moved_bytes.add(moved_bytes_);
    if (kind_ == Kind::kWork) counters.spans.add(1);
  });
  track_->current = outer_;
  if (outer_ != nullptr) outer_->charged_until_ns_ = now;
  if (state.keep_spans) keep(now);
  if (now >= state.next_look_ns.load(std::memory_order_relaxed)) {
    // If another thread holds the lock, that thread takes the sample: do not wait.
    const std::unique_lock lock(state.mutex, std::try_to_lock);
    if (lock.owns_lock()) state.look_at_rates(now);
  }
}

void Span::keep(std::uint64_t now_ns) noexcept {
  const bool is_wait = kind_ == Kind::kWait;
  if (is_wait && now_ns - begin_ns_ < Meter::kLeastKeptWaitNs) return;
  MeterState& state = *track_->state;
  if (state.kept_spans.fetch_add(1, std::memory_order_relaxed) >= Meter::kMostSpans) return;
  try {
    const int device = device_ == nullptr ? -1 : device_->device;
    track_->spans.push_back(
        {begin_ns_, now_ns, bytes_, stage_, is_wait, static_cast<std::int16_t>(device)});
  } catch (const std::bad_alloc&) {  // a sort does not fail because of its trace
    state.lost_spans.fetch_add(1, std::memory_order_relaxed);
  }
}

// Gives the time since the last charge to the span's stage.
void Span::charge(std::uint64_t now_ns) {
  count([&](StageCounters& counters) {
    (kind_ == Kind::kWork ? counters.busy_ns : counters.waiting_ns).add(now_ns - charged_until_ns_);
  });
  charged_until_ns_ = now_ns;
}

}  // namespace gsort
