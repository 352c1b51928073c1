// The collective of its team that a process is in. All processes call the same ones in the same
// order, so collectives of the same number have the same kind; otherwise the processes would wait
// for each other forever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>

namespace gsort::cluster {

// kGather is 0: programs that send no kinds send 0, and the first collective gathers the versions.
enum class Collective : std::uint8_t {
  kGather,
  kSum,
  kTotal,
  kSumBefore,
  kJoin,
  kStream,
  kBroadcast
};

[[nodiscard]] inline const char* words_for(Collective kind) {
  constexpr const char* kWords[] = {"gathers", "adds up", "passes a sum on", "adds up lower ranks",
                                    "joins",   "streams", "broadcasts"};
  const auto number = static_cast<std::size_t>(kind);
  return number < std::size(kWords) ? kWords[number] : "makes an unknown call";
}

struct CollectiveStep {
  Collective kind = Collective::kGather;
  std::uint32_t number = UINT32_MAX;

  // Kind and number in one word, for beats.
  [[nodiscard]] std::uint32_t mark() const {
    return static_cast<std::uint32_t>(kind) << kNumberBits | (number & kNumberMask);
  }
  // The kind in the mark of another process; none if its number differs.
  [[nodiscard]] std::optional<Collective> kind_at_same_number(std::uint32_t other) const {
    if (((other ^ number) & kNumberMask) != 0) return std::nullopt;
    return static_cast<Collective>(other >> kNumberBits);
  }

 private:
  static constexpr unsigned kNumberBits = 24;
  static constexpr std::uint32_t kNumberMask = (1U << kNumberBits) - 1;
};

}  // namespace gsort::cluster
