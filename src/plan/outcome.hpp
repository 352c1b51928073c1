// The outcome of a sort, from which reports are made. Its statistics are a table. One row makes the
// measured member, its field in --stats and in ranks[] of gsort-mpi's, the total over processes,
// the line of -v and the attribute in Python. A struct of the library gets the value by a member of
// the same name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/device_error.hpp"
#include "base/meter.hpp"
#include "element/fingerprint.hpp"

namespace gsort {

enum class Unit : std::uint8_t { kCount, kBytes, kSeconds };

// The part of --stats that has the field; kNone: only gsort-mpi's --stats has it.
enum class StatsPart : std::uint8_t { kNone, kInput, kOutput, kTime, kRuns, kBytes, kMemory };

// How the values of processes are combined; kKnown: not at all, for example if each process knows
// the total.
enum class AddUp : std::uint8_t { kKnown, kSum, kMost };

// Member, unit, part and name in --stats, name in ranks[] of gsort-mpi's, how the values of
// processes are combined, and the line of -v if the value is not 0. Empty: no such name or line.
#define GSORT_STATISTICS(ROW)                                                                      \
  ROW(share, kCount, kNone, "", "share", kKnown, "")  /* of the output, that the process wrote */  \
  ROW(bytes, kBytes, kInput, "bytes", "", kKnown, "") /* of inputs without headers */              \
  ROW(elements, kCount, kInput, "elements", "", kKnown, "")                                        \
  ROW(elements_read, kCount, kNone, "", "elements_read", kSum, "") /* none of resumed runs */      \
  ROW(output_elements, kCount, kOutput, "output_elements", "elements_written", kSum, "")           \
  ROW(lost_nan_payloads, kCount, kOutput, "lost_nan_payloads", "lost_nan_payloads", kSum,          \
      "{} NaN written without their payloads, which text cannot hold")                             \
  ROW(seconds, kSeconds, kTime, "seconds", "", kKnown, "")                                         \
  ROW(runs, kCount, kRuns, "runs", "runs", kSum, "") /* 0: one chunk went to the output */         \
  ROW(resumed_runs, kCount, kRuns, "resumed_runs", "resumed_runs", kSum, "") /* of these */        \
  ROW(resumed_elements, kCount, kNone, "", "resumed_elements", kSum, "")                           \
  ROW(run_key_bytes, kBytes, kBytes, "run_keys", "", kSum, "") /* of runs, before packing */       \
  ROW(devices, kCount, kNone, "", "devices", kSum, "")         /* GPUs that sorted */              \
  ROW(device_bytes, kBytes, kBytes, "kept_on_device", "device_bytes", kSum, "") /* of runs */      \
  ROW(kept_bytes, kBytes, kBytes, "kept_in_memory", "kept_bytes", kSum, "")     /* the same */     \
  ROW(spilled_bytes, kBytes, kBytes, "spilled", "spilled_bytes", kSum, "") /* headers included */  \
  ROW(loaded_bytes, kBytes, kBytes, "loaded", "loaded_bytes", kSum, "")                            \
  ROW(peak_spilled_bytes, kBytes, kBytes, "most_spilled_at_once", "", kSum, "")                    \
  ROW(own_bytes, kBytes, kNone, "", "own_bytes", kSum, "")   /* of elements that were not sent */  \
  ROW(sent_bytes, kBytes, kNone, "", "sent_bytes", kSum, "") /* of elements, before packing */     \
  ROW(sent_frame_bytes, kBytes, kNone, "", "sent_frame_bytes", kSum, "")                           \
  ROW(sent_frames, kCount, kNone, "", "sent_frames", kSum, "")                                     \
  ROW(deferred_bytes, kBytes, kNone, "", "deferred_bytes", kSum, "") /* merged early, put later */ \
  ROW(form_seconds, kSeconds, kNone, "", "form_seconds", kMost, "")                                \
  ROW(exchange_seconds, kSeconds, kNone, "", "exchange_seconds", kMost, "")                        \
  /* for other processes, while there was nothing to load or merge */                              \
  ROW(waiting_seconds, kSeconds, kNone, "", "waiting_seconds", kMost, "")                          \
  ROW(sync_seconds, kSeconds, kNone, "", "sync_seconds", kMost, "")                                \
  ROW(peak_resident_bytes, kBytes, kMemory, "peak_resident_bytes", "peak_resident_bytes", kMost, "")

struct Statistics {
#define GSORT_MEMBER(member, unit, ...) \
  std::conditional_t<Unit::unit == Unit::kSeconds, double, std::uint64_t> member = 0;
  GSORT_STATISTICS(GSORT_MEMBER)
#undef GSORT_MEMBER
};

struct StatisticRow {
  const char* member;
  Unit unit;
  StatsPart part;
  std::string_view name;
  std::string_view rank_name;
  AddUp add_up;
  std::string_view line;
};

// Calls use(row, &Statistics::member) for each row.
template <class Use>
void for_each_statistic(const Use& use) {
#define GSORT_USE(member, unit, part, name, rank_name, add_up, line)                            \
  use(StatisticRow{#member, Unit::unit, StatsPart::part, name, rank_name, AddUp::add_up, line}, \
      &Statistics::member);
  GSORT_STATISTICS(GSORT_USE)
#undef GSORT_USE
}

inline void add_up(Statistics& all, const Statistics& own) {
  for_each_statistic([&](const StatisticRow& row, auto member) {
    if (row.add_up == AddUp::kSum) all.*member += own.*member;
    if (row.add_up == AddUp::kMost) all.*member = std::max(all.*member, own.*member);
  });
}

// Sets the members of `to` that have the names of statistics.
template <class Report>
void copy_statistics(const Statistics& from, Report& to) {
#define GSORT_COPY(member, ...) \
  if constexpr (requires { to.member; }) to.member = from.member;
  GSORT_STATISTICS(GSORT_COPY)
#undef GSORT_COPY
}

struct Outcome : Statistics {
  bool verified = false;
  Fingerprint fingerprint;  // of the input; zero sums unless verified
  // False if memory ran out when the output was in place: phases and notes then lack some.
  bool is_whole = true;
  std::vector<PhaseRecord> phases;
  std::vector<LostDevice> lost_devices;
  std::vector<std::string> notes;  // choices and fallbacks of the stages, for -v

  void add_notes(const std::vector<std::string>& more) {
    notes.insert(notes.end(), more.begin(), more.end());
  }
};

// The result of gsort -c.
struct CheckOutcome {
  std::uint64_t elements = 0;
  std::uint64_t distinct = 0;  // meaningful if in_order
  Fingerprint fingerprint;
  bool in_order = true;
  std::uint64_t disorder_element = 0;  // the first element out of order
  std::string value;                   // that element
  std::string value_before;            // its predecessor
};

}  // namespace gsort
