#include "pipeline/output/index_sink.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "pipeline/proof/damage_hint.hpp"

namespace gsort {
namespace {

// The bytes that are put at once.
constexpr std::size_t kBatchBytes = std::size_t{128} << 10;

}  // namespace

void IndexSink::put(std::uint64_t position, ConstByteSpan records) {
  const std::size_t record_bytes = numbering_.record_bytes();
  const std::size_t most = kBatchBytes / result_bytes_;
  std::vector<std::byte> taken(std::min(records.size() / record_bytes, most) * result_bytes_);
  while (!records.empty()) {
    const std::size_t count = std::min(records.size() / record_bytes, most);
    const ConstByteSpan some = records.first(count * record_bytes);
    take_indexes(some, numbering_, result_bytes_, taken.data());
    const std::size_t other = first_other_index(some, numbering_, result_bytes_, taken.data());
    if (other != count) {
      throw Error(ErrorKind::kCorrupt,
                  fmt::format("checking element {} of the output", position + other),
                  fmt::format("it is another {} than the verified one",
                              numbering_.seed ? "element" : "position"))
          .hint(kDamageHint);
    }
    next_.put(position, ConstByteSpan(taken).first(count * result_bytes_));
    position += count;
    records = records.subspan(some.size());
  }
}

}  // namespace gsort
