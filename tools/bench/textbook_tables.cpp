// See textbook_tables.hpp.
#include "bench/textbook_tables.hpp"

#include <chrono>

#include "bench/cub.hpp"
#include "bench/device_check.hpp"
#include "bench/subcommands.hpp"

namespace gsort::bench {
namespace {

std::vector<std::uint32_t> raw_bits_of(const std::vector<std::uint32_t>& ordered) {
  std::vector<std::uint32_t> bits;
  bits.reserve(ordered.size());
  for (const std::uint32_t key : ordered)
    bits.push_back(static_cast<std::uint32_t>(to_signed(key)));
  return bits;
}

}  // namespace

TextbookSet TextbookSet::of(const std::vector<std::uint32_t>& ordered_keys,
                            const std::vector<std::uint32_t>& expected) {
  std::vector<std::int32_t> host;
  host.reserve(ordered_keys.size());
  for (const std::uint32_t key : ordered_keys) host.push_back(to_signed(key));
  using Keys = DeviceKeys<std::uint32_t>;
  return {std::move(host), Keys(raw_bits_of(ordered_keys)), Keys(ordered_keys),
          Keys(raw_bits_of(expected)), Keys(expected)};
}

TextbookTable::TextbookTable(const Request& request, std::vector<TextbookSet> sets)
    : request_(request),
      sets_(std::move(sets)),
      count_(sets_.front().host.size()),
      scratch_bytes_(cub_scratch_bytes(2 * sizeof(std::uint32_t) * count_)),
      scratch_(scratch_bytes_),
      output_(count_) {}

void TextbookTable::add_device(
    const Contender& contender, Form form,
    const std::function<void(const TextbookSet&, std::uint32_t*)>& queue) {
  const RunPlan plan{request_.repeat, static_cast<unsigned>(sets_.size()), output_.get(),
                     output_.bytes()};
  const TimedRuns runs = time_on_device(
      plan, [&](unsigned set) { queue(sets_[set], output_.get()); },
      [&](unsigned set) {
        const auto& expected =
            form == Form::kRaw ? sets_[set].expected_raw : sets_[set].expected_ordered;
        return count_differences(output_.get(), expected.get(), count_) == 0;
      });
  results_.push_back(
      {contender.name, runs.times, count_, 2 * output_.bytes(), runs.verdict, contender.rival, ""});
}

void TextbookTable::add_host(
    const std::string& name, std::uint64_t keys, const std::string& note,
    const std::function<void(const std::vector<std::int32_t>&, std::vector<std::int32_t>&)>& work) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> all_ms;
  bool right = true;
  for (const TextbookSet& set : sets_) {
    std::vector<std::int32_t> output(count_, -0x5a5a5a5b);
    const auto begin = Clock::now();
    work(set.host, output);
    all_ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    const auto expected = set.expected_raw.values();
    for (std::uint64_t i = 0; i < keys; ++i) {
      right = right && static_cast<std::uint32_t>(output[i]) == expected[i];
    }
  }
  results_.push_back({name, Times::of(std::move(all_ms)), keys, 2 * sizeof(std::int32_t) * keys,
                      right ? Verdict::kVerified : Verdict::kWrong, "", note});
}

void bench_textbook(const Request& request, Report& report) {
  report.say("i32 keys; CUB and gsort get the same keys as ordered u32");
  textbook_merges(request, report);
  textbook_batches(request, report);
}

}  // namespace gsort::bench
