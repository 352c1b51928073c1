// The two tables of gsort-bench textbook, and their common parts. The keys are i32, as in the
// textbook; CUB and ours get the same keys as ordered u32. Every output is compared, key by key,
// with the result of std::merge or std::sort on a copy on the host.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "bench/cub.hpp"
#include "bench/device_runs.hpp"

namespace gsort::bench {

// The i32 whose order among i32 is that of `ordered` among u32.
[[nodiscard]] constexpr std::int32_t to_signed(std::uint32_t ordered) {
  return static_cast<std::int32_t>(ordered ^ 0x80000000U);
}

// One input set in both forms, on the card, and the expected output.
struct TextbookSet {
  std::vector<std::int32_t> host;  // the input, for contenders on the host
  DeviceKeys<std::uint32_t> raw;   // the bits of i32 keys
  DeviceKeys<std::uint32_t> ordered;
  DeviceKeys<std::uint32_t> expected_raw;
  DeviceKeys<std::uint32_t> expected_ordered;

  // `ordered_keys` is the input, `expected` the expected output, both ordered.
  [[nodiscard]] static TextbookSet of(const std::vector<std::uint32_t>& ordered_keys,
                                      const std::vector<std::uint32_t>& expected);

  [[nodiscard]] const std::int32_t* device_ints() const {
    return reinterpret_cast<const std::int32_t*>(raw.get());
  }
};

// Times contenders over input sets, on the card or on the host.
class TextbookTable {
 public:
  TextbookTable(const Request& request, std::vector<TextbookSet> sets);

  enum class Form : std::uint8_t { kRaw, kOrdered };  // of the output

  // On the card: queue(set, output).
  void add_device(const Contender& contender, Form form,
                  const std::function<void(const TextbookSet&, std::uint32_t* output)>& queue);

  // On the host, once a set at most: work(input, output) on the first `keys` keys, for which
  // expected_raw must be the expected output as well.
  void add_host(const std::string& name, std::uint64_t keys, const std::string& note,
                const std::function<void(const std::vector<std::int32_t>& input,
                                         std::vector<std::int32_t>& output)>& work);

  [[nodiscard]] void* scratch() const { return scratch_.as<void>(); }
  [[nodiscard]] std::size_t scratch_bytes() const { return scratch_bytes_; }
  [[nodiscard]] CubScratch cub_scratch() const { return {scratch(), scratch_bytes_}; }
  [[nodiscard]] const std::vector<Result>& results() const { return results_; }

 private:
  const Request& request_;
  std::vector<TextbookSet> sets_;
  std::uint64_t count_;
  std::size_t scratch_bytes_;
  DeviceMemory scratch_;
  DeviceKeys<std::uint32_t> output_;
  std::vector<Result> results_;
};

void textbook_merges(const Request& request, Report& report);
void textbook_batches(const Request& request, Report& report);

}  // namespace gsort::bench
