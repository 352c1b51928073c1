// The output as a process of the job writes it: rank 0 has made it, the others have opened it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/meter.hpp"
#include "cluster/part_table.hpp"
#include "cluster/team.hpp"
#include "engine/engine.hpp"
#include "io/output/output.hpp"
#include "io/output/output_share.hpp"

namespace gsort::cluster {

class ClusterOutput final : public PieceSink {
 public:
  // Together. `on_leave` is set to what removes the hidden output of rank 0. The meter outlives it.
  // Throws: Error when it cannot be written, or is not one file for all; as Team.
  ClusterOutput(Team& team, const std::string& path, std::function<void()>& on_leave, Meter& meter);

  // Of rank 0; empty in the others.
  [[nodiscard]] const std::string& folder() const;
  [[nodiscard]] const std::optional<io::Output>& output() const { return output_; }

  // Before the first put. Throws: Error when there is no room for it.
  void begin(ConstByteSpan header, std::uint64_t elements, std::uint64_t element_bytes);

  // Thread-safe.
  void put(std::uint64_t position, ConstByteSpan elements) override;

  // All but rank 0: the range of this process is written, and on the disk.
  void finish(const PartTable& parts);

  // Rank 0: all ranges are.
  void commit(const PartTable& parts);

 private:
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t element) const {
    return header_bytes_ + element * element_bytes_;
  }

  const unsigned rank_;
  Meter& meter_;
  std::string hidden_path_;
  std::optional<io::Output> output_;
  std::optional<io::OutputShare> share_;
  std::uint64_t header_bytes_ = 0;
  std::uint64_t element_bytes_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace gsort::cluster
