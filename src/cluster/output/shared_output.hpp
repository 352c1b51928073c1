// SharedOutput: one file of all processes. Rank 0 makes it, under a hidden name, and the others
// open it. Each writes its range. The process with the first share also writes the header, because
// both may be in the same page. The process with the last element also writes the trailer.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/meter.hpp"
#include "cluster/output/cluster_output.hpp"
#include "io/output/shared_file.hpp"

namespace gsort::cluster {

class SharedOutput final : public ClusterOutput {
 public:
  // Together. `on_leave` is set to what removes the hidden output of rank 0. Both it and the meter
  // outlive it. Throws: Error when it cannot be written, or is not one file for all; as Team.
  SharedOutput(Team& team, const std::string& path, std::function<void()>& on_leave, Meter& meter);

  [[nodiscard]] const io::Output* output() const override { return output_ ? &*output_ : nullptr; }
  [[nodiscard]] bool is_on_network() const override { return is_on_network_; }
  void begin(const Plan& plan, std::uint64_t elements, ConstByteSpan header,
             ConstByteSpan trailer) override;
  // Thread-safe.
  void put(std::uint64_t position, ConstByteSpan elements) override;
  void finish(const PartTable& parts, std::uint64_t elements) override;
  void put_in_place(Team& team, const PartTable& parts,
                    const std::function<void()>& before_name) override;

 private:
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t element) const {
    return header_.size() + element * element_bytes_;
  }
  // Where a process writes, with the header.
  [[nodiscard]] std::uint64_t begin_of(const PartTable& parts, unsigned rank) const {
    return parts.share(rank) == 0 ? 0 : offset_of(parts.begin_of(rank));
  }
  // Where the range of a process ends, with the trailer.
  [[nodiscard]] std::uint64_t end_of(const PartTable& parts, unsigned rank) const {
    return has_trailer(parts, rank) ? bytes_ : offset_of(parts.end_of(rank));
  }
  [[nodiscard]] bool has_trailer(const PartTable& parts, unsigned rank) const {
    const std::uint64_t all = parts.borders().back();
    const bool has_last = parts.begin_of(rank) < all && parts.end_of(rank) == all;
    return all == 0 ? parts.share(rank) == 0 : has_last;
  }
  void write(std::uint64_t offset, ConstByteSpan bytes);
  void finish_whole(const PartTable& parts);

  const unsigned rank_;
  std::function<void()>& on_leave_;
  Meter& meter_;
  std::optional<io::Output> output_;
  std::optional<io::SharedFile> share_;
  bool is_on_network_ = false;  // as any process sees it
  std::vector<std::byte> header_;
  std::vector<std::byte> trailer_;
  std::uint64_t element_bytes_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace gsort::cluster
