#include "options/caller_options.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "base/error.hpp"
#include "form/codec.hpp"
#include "form/valid_format.hpp"
#include "options/option_values.hpp"

namespace gsort {
namespace {

template <class Number>
void require_between(const Number& number, Number least, Number most, std::string_view name,
                     std::string_view call) {
  if (least <= number && number <= most) return;
  throw Error(ErrorKind::kUsage, std::string(call), fmt::format("{} is {}", name, number))
      .hint(fmt::format("give {} to {}", least, most));
}

}  // namespace

void require_bounded_threads(unsigned threads, std::string_view call) {
  require_between(threads, 0U, kMostThreads, "threads", call);
}

void require_bounded(const Options& options, std::string_view call) {
  const auto require = [&]<class Number>(const std::optional<Number>& number, Number least,
                                         Number most, std::string_view name) {
    if (number) require_between(*number, least, most, name, call);
  };
  require(options.parallel, 1U, kMostThreads, "parallel");
  require(options.batch_size, kLeastFanIn, kMostFanIn, "batch_size");
  require(options.split_output, 1U, kMostParts, "split_output");
  require(options.batch_elements, std::uint64_t{1}, UINT64_MAX, "batch_elements");
  require(options.min_count, std::uint64_t{1}, UINT64_MAX, "min_count");
  require(options.input_form.skip_bytes, std::uint64_t{0}, kMostSkipBytes, "skip_bytes");
  require_between(options.input_form.skip_end_bytes, std::uint64_t{0}, kMostSkipBytes,
                  "skip_end_bytes", call);
  if (options.compress) {
    const CodecLevels levels = levels_of(*options.compress);
    require_between(options.compress_level, 0, levels.most, "compress_level", call);
  }
  if (options.records && !is_valid(*options.records)) {
    throw Error(ErrorKind::kUsage, std::string(call), "records has a size or keys out of bounds")
        .hint(fmt::format("a record has 1 to {} bytes, and 1 to {} keys in it that do not overlap",
                          RecordFormat::kMostBytes, RecordFormat::kMostKeys));
  }
  const auto is_by_bits = [](FloatOrder order) {
    return order != FloatOrder::kNumeric && order != FloatOrder::kTotal;
  };
  if (is_by_bits(options.key.float_order) ||
      (options.records &&
       std::ranges::any_of(options.records->keys, is_by_bits, &KeyField::float_order))) {
    throw Error(ErrorKind::kUsage, std::string(call), "float_order is not an order of files")
        .hint("give kNumeric or kTotal");
  }
  if (options.buffer_size) static_cast<void>(checked_size(*options.buffer_size, "buffer_size"));
  if (options.gpu_memory) static_cast<void>(checked_size(*options.gpu_memory, "gpu_memory"));
}

}  // namespace gsort
