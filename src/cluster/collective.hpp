// Which collective of its team a process is in. All do the same ones in the same order, so at the
// same number they are of one kind; otherwise they would wait for each other for ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>

namespace gsort::cluster {

// kGather is 0, as in programs that send no kinds: the first collective gathers their versions.
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
  return number < std::size(kWords) ? kWords[number] : "does what is not known";
}

struct CollectiveStep {
  Collective kind = Collective::kGather;
  std::uint32_t number = UINT32_MAX;

  // Kind and number as one, for beats.
  [[nodiscard]] std::uint32_t mark() const {
    return static_cast<std::uint32_t>(kind) << kNumberBits | (number & kNumberMask);
  }
  // The kind that the mark of another process has; none if it is at another number.
  [[nodiscard]] std::optional<Collective> kind_at_same_number(std::uint32_t other) const {
    if (((other ^ number) & kNumberMask) != 0) return std::nullopt;
    return static_cast<Collective>(other >> kNumberBits);
  }

 private:
  static constexpr unsigned kNumberBits = 24;
  static constexpr std::uint32_t kNumberMask = (1U << kNumberBits) - 1;
};

}  // namespace gsort::cluster
