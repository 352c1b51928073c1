// Messages of gsort-mpi: any bytes are refused by an Error, or read to their end; the first byte
// says what they are taken for. The checksum of a frame is made right.
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <xxhash.h>

#include "base/error.hpp"
#include "cluster/frame.hpp"
#include "cluster/message.hpp"
#include "cluster/proof_message.hpp"
#include "cluster/runs/run_tasks.hpp"
#include "fuzz/require.hpp"

namespace {

using gsort::ConstByteSpan;
using gsort::cluster::Message;
using gsort::cluster::value_in;
using gsort::fuzz::require;

// As many elements as the frame says, up to what a receiver asks for.
void unpack_frame(Message message, std::uint64_t element_bytes) {
  constexpr std::size_t kCheckAt = sizeof(gsort::cluster::Envelope);
  constexpr std::size_t kCheckedFrom = kCheckAt + sizeof(std::uint64_t);
  constexpr std::uint64_t kMostElements = 4096;
  if (message.size() >= kCheckedFrom) {
    const std::uint64_t check =
        XXH3_64bits(message.data() + kCheckedFrom, message.size() - kCheckedFrom);
    std::memcpy(message.data() + kCheckAt, &check, sizeof(check));
  }
  const gsort::cluster::Frame frame(message);
  const std::uint64_t elements = frame.place().count;
  std::vector<std::byte> out((elements > kMostElements ? kMostElements : elements) * element_bytes);
  frame.unpack(element_bytes, out);
  require(elements <= kMostElements);
}

void read(std::uint8_t kind, const Message& message) {
  constexpr std::uint8_t kKinds = 6;
  switch (kind % kKinds) {
    case 0:
      return unpack_frame(message, 4);
    case 1:
      return unpack_frame(message, 8);
    case 2:
      return unpack_frame(message, 12);
    case 3: {
      const gsort::ProofSummary summary = gsort::cluster::to_summary(message);
      require(gsort::cluster::to_summary(gsort::cluster::to_message(summary)).stretches.size() ==
              summary.stretches.size());
      return;
    }
    case 4:
      return static_cast<void>(value_in<std::vector<gsort::cluster::SeenFolder>>(message));
    default:
      static_cast<void>(value_in<std::vector<gsort::cluster::RunTask>>(message));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const ConstByteSpan bytes = std::as_bytes(std::span(data, size)).subspan(1);
  try {
    read(data[0], Message(bytes.begin(), bytes.end()));
  } catch (const gsort::Error& error) {
    require(!error.hint().empty());
  }
  return 0;
}
