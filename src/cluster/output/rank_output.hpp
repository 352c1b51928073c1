// RankOutput: a file of this process alone, for --parts. It may be on any file system that this
// host sees. All files must be new, so that those of all processes appear together or not at all.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/meter.hpp"
#include "cluster/output/cluster_output.hpp"
#include "options/request.hpp"
#include "pipeline/output/parts_sink.hpp"

namespace gsort::cluster {

class RankOutput final : public ClusterOutput {
 public:
  // Called by all processes together; each makes its own output of the request. `on_leave` becomes
  // a function that removes the hidden file. Requires: `on_leave` and the meter outlive this.
  // Throws: Error if the output exists, or cannot be made; as Team.
  RankOutput(Team& team, const Request& request, std::function<void()>& on_leave, Meter& meter);

  [[nodiscard]] const io::Output* output() const override { return &*output_; }
  // Only the file of rank 0 gets the header, and only that of the last rank the trailer. In formats
  // with a header of their own, each file is complete.
  void begin(const Plan& plan, std::uint64_t elements, ConstByteSpan header,
             ConstByteSpan trailer) override;
  // Thread-safe. `position` counts from the start of all files, with -u from that of this file.
  // Requires: pieces of text and of compressed files are started in the order of their positions.
  void put(std::uint64_t position, ConstByteSpan elements) override;
  void abandon() noexcept override;
  void finish(const PartTable& parts, std::uint64_t elements) override;
  [[nodiscard]] std::uint64_t lost_nan_payloads() const override {
    return file_ ? file_->lost_nan_payloads() : 0;
  }
  void put_in_place(Team& team, const PartTable& parts,
                    const std::function<void()>& before_name) override;

 private:
  const unsigned rank_;
  const unsigned ranks_;
  std::function<void()>& on_leave_;
  Meter& meter_;
  std::optional<io::Output> output_;
  std::optional<PartsSink> file_;
  std::uint64_t begin_ = 0;  // the first element that is its own
};

}  // namespace gsort::cluster
