// Meter: measures where the time of a sort goes. The threads of stages mark their work with Spans;
// the meter adds these up by stage and phase, and keeps each of them on request.
//
//   void put(...) {
//     Span span(meter, Stage::kWrite);     // until the end of the scope
//     output.write_at(...);
//     span.add_bytes(keys.size());
//   }
//
// A thread is in one stage at a time: the time of a span inside another one is subtracted from the
// outer one. So the busy times of all stages add up to thread time, and sums over stages count
// nothing twice.
//
// Cost: two reads of the clock and a few stores to memory of the thread, 50 to 80 ns a span on the
// development machine; spans are meant for a block or a piece, which take a thousand times as long.
// A thread takes a lock only for its first span, and once in 50 ms.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/stage.hpp"

namespace gsort {

// The work of the threads of one stage.
struct StageTotals {
  std::uint64_t busy_ns = 0;     // thread time in the stage, without stages inside it
  std::uint64_t waiting_ns = 0;  // time in which its threads waited for another stage
  std::uint64_t bytes = 0;
  std::uint64_t spans = 0;
  std::uint64_t moved_bytes = 0;  // differs from `bytes` if keys were moved packed

  friend bool operator==(const StageTotals&, const StageTotals&) = default;
};

// By stage.
template <class T>
struct ByStage : std::array<T, kStages> {
  using std::array<T, kStages>::operator[];
  T& operator[](Stage stage) { return (*this)[static_cast<std::size_t>(stage)]; }
  const T& operator[](Stage stage) const { return (*this)[static_cast<std::size_t>(stage)]; }
};

// The work of the stages for one of several devices.
struct DeviceTotals {
  int device = 0;  // its ordinal
  ByStage<StageTotals> stages;

  friend bool operator==(const DeviceTotals&, const DeviceTotals&) = default;
};

// Times are nanoseconds since the meter was made.
struct PhaseRecord {
  Phase phase = Phase::kRead;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint64_t total_bytes = 0;  // as given to begin_phase
  std::uint64_t later_bytes = 0;  // the same
  double cpu_seconds = 0;         // of all cores, spent by the process in the phase
  ByStage<StageTotals> stages;
  ByStage<double> best_rates{};       // bytes a second; 0: unknown, because too little was moved
  std::vector<DeviceTotals> devices;  // in their order; each with its part of `stages`
  std::size_t round = 0;              // of `rounds` of merging, from 1; 0: the phase has no rounds
  std::size_t rounds = 0;
};

// One marked stretch of a thread. A wait is time in which a thread of `stage` had to wait for
// another stage.
struct SpanRecord {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint64_t bytes = 0;
  Stage stage = Stage::kRead;
  bool is_wait = false;
  std::int16_t device = -1;  // as of DeviceTotals; -1: none
};

// The spans of one thread, in the order in which they ended. A new thread continues the track of
// one that has ended, so there are as many tracks as threads at the same time.
using TrackRecord = std::deque<SpanRecord>;  // grows without a second copy

struct MeterState;

// Thread-safe, except for phases, which one thread begins and ends.
class Meter {
 public:
  // Whether spans are kept is decided at the start: at most kMostSpans of them, 32 bytes each.
  enum class Keep : std::uint8_t { kTotals, kSpans };
  static constexpr std::size_t kMostSpans = std::size_t{1} << 19;
  // Waits that are shorter are added up, not kept.
  static constexpr std::uint64_t kLeastKeptWaitNs = 1'000;

  explicit Meter(Keep keep = Keep::kTotals);
  ~Meter();
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  // Ends the phase before, if there is one. `total_bytes` is the number of bytes that the phase has
  // to move; 0 if it is unknown. `later_bytes` is the planned number for all phases after it.
  void begin_phase(Phase phase, std::uint64_t total_bytes, std::uint64_t later_bytes = 0);
  void end_phase();

  // Begins a round of the current phase, from 1 to `rounds`.
  void begin_round(std::size_t round, std::size_t rounds);

  // The phases that have ended.
  [[nodiscard]] std::vector<PhaseRecord> phases() const;

  // The current phase so far, without its rates; after its end, the last phase.
  [[nodiscard]] PhaseRecord current_phase() const;

  [[nodiscard]] ByStage<StageTotals> totals() const;

  [[nodiscard]] std::uint64_t now_ns() const;

  // From now on every span that begins throws Error(kStopped), which ends the measured work as any
  // other Error does.
  void request_stop() noexcept;

  // The spans kept so far. Requires: no thread marks a span during the call.
  [[nodiscard]] std::vector<TrackRecord> tracks() const;

  // The number of spans that were not kept, because there were too many. Requires: as tracks().
  [[nodiscard]] std::uint64_t lost_spans() const;

 private:
  friend class Span;
  std::shared_ptr<MeterState> state_;
};

struct MeterTrack;
struct DeviceCounters;

// While this object lives, the spans of the calling thread also count for the device; with none,
// for no device. A thread that starts another one for its work passes device() on.
class DeviceScope {
 public:
  explicit DeviceScope(std::optional<int> device) noexcept : outer_(device_) { device_ = device; }
  ~DeviceScope() { device_ = outer_; }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

  [[nodiscard]] static std::optional<int> device() noexcept { return device_; }

 private:
  static inline thread_local std::optional<int> device_;

  std::optional<int> outer_;
};

// Marks a stretch of the calling thread, from its construction to its destruction. Without a meter
// it does nothing. Spans of a thread end in the reverse order of their beginnings and are of one
// meter, which outlives them.
class Span {
 public:
  enum class Kind : std::uint8_t { kWork, kWait };

  // Throws: Error(kStopped) after request_stop().
  Span(Meter* meter, Stage stage, Kind kind = Kind::kWork);
  ~Span();
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

  void add_bytes(std::uint64_t bytes) { add_bytes(bytes, bytes); }
  // For keys of `bytes` bytes that were moved in another form, of `moved_bytes` bytes.
  void add_bytes(std::uint64_t bytes, std::uint64_t moved_bytes) {
    bytes_ += bytes;
    moved_bytes_ += moved_bytes;
  }

 private:
  template <class Add>
  void count(const Add& add);
  void charge(std::uint64_t now_ns);
  void keep(std::uint64_t now_ns) noexcept;

  MeterTrack* track_ = nullptr;
  DeviceCounters* device_ = nullptr;
  Span* outer_ = nullptr;
  std::uint64_t begin_ns_ = 0;
  std::uint64_t charged_until_ns_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t moved_bytes_ = 0;
  Stage stage_;
  Kind kind_;
};

// A wait for another stage.
class Wait : public Span {
 public:
  Wait(Meter* meter, Stage stage) : Span(meter, stage, Kind::kWait) {}
};

}  // namespace gsort
