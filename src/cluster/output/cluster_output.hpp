// ClusterOutput: the output as a process of the job writes it: one file of all processes
// (shared_output.hpp), or a file of its own (rank_output.hpp).
//
// Life: opened by all together; begin(); put() by any threads; finish(), when all of this process
// was put; put_in_place(), when all processes have finished and the proof holds. Without that the
// old output stays.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/bytes.hpp"
#include "cluster/part_table.hpp"
#include "cluster/team.hpp"
#include "engine/engine.hpp"
#include "io/output/output.hpp"
#include "plan/plan.hpp"

namespace gsort::cluster {

class ClusterOutput : public PieceSink {
 public:
  // Null where another process has made it.
  [[nodiscard]] virtual const io::Output* output() const = 0;
  // The folder of output(); empty where there is none.
  [[nodiscard]] const std::string& folder() const {
    static const std::string kNone;
    return output() != nullptr ? output()->folder() : kNone;
  }

  // Whether data may be lost if two hosts write to one page of it at once.
  [[nodiscard]] virtual bool is_on_network() const { return false; }

  // Call this before the first put. All processes together write `elements` elements between
  // `header` and `trailer`; formats with a header of their own have no trailer.
  // Throws: Error when there is no room for what this process answers for.
  virtual void begin(const Plan& plan, std::uint64_t elements, ConstByteSpan header,
                     ConstByteSpan trailer) = 0;

  // This process has put `elements` elements, as its proof counts them: returns when they are on
  // the disk. Throws: Error when others have come here, or they cannot be synced.
  virtual void finish(const PartTable& parts, std::uint64_t elements) = 0;

  // How many NaN lost their payloads when this process wrote them as text.
  [[nodiscard]] virtual std::uint64_t lost_nan_payloads() const { return 0; }

  // Commits together. `before_name` is called in each process when all is on the disk.
  // Throws: Error, as Team. Then no process has changed anything, unless it was killed or the
  // error says so.
  virtual void put_in_place(Team& team, const PartTable& parts,
                            const std::function<void()>& before_name) = 0;
};

}  // namespace gsort::cluster
