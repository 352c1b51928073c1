#include "pipeline/input/metered_read.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "pipeline/proof/damage_hint.hpp"

namespace gsort {
namespace {

// So small that the bytes are still in the core's own cache when they are proven.
constexpr std::size_t kReadBytes = std::size_t{512} << 10;

}  // namespace

ByteSpan acquire_block(ChunkLane& lane, Meter* meter) {
  const Wait wait(meter, Stage::kRead);
  return lane.acquire_block();
}

void put_block(ChunkLane& lane, Meter* meter, ByteSpan block, std::size_t bytes,
               std::uint64_t position) {
  Span span(meter, Stage::kPartition);
  span.add_bytes(bytes);
  lane.add(block, bytes, position);
}

ReadPieces read_block(io::Reader& reader, Proof& proof, Meter* meter, ByteSpan block,
                      std::uint64_t end, bool in_pieces) {
  ReadPieces all;
  do {
    const ByteSpan left = block.subspan(all.bytes);
    const ByteSpan room = in_pieces ? left.first(std::min(kReadBytes, left.size())) : left;
    const auto read = read_next(reader, meter, room, end);
    if (!read) break;
    all.add(*read, proof.add_input(room.first(read->bytes)));
  } while (in_pieces && all.bytes < block.size());
  return all;
}

void fill_again(ChunkLane& lane, const ReadPieces& chunk, const io::Reader& reader,
                const Proof& proof, Meter* meter) {
  lane.begin({});
  Fingerprint input;
  for (io::InputBlock from : chunk.from) {
    while (from.bytes > 0) {
      const ByteSpan block = acquire_block(lane, meter);
      const std::size_t bytes = reader.read_again(block, from.position_bytes, from.bytes);
      const std::uint64_t position = input.count;
      input += proof.look(block.first(bytes));
      put_block(lane, meter, block, bytes, position);
      from.position_bytes += bytes;
      from.bytes -= bytes;
    }
  }
  if (input == chunk.input) return;
  reader.check_unchanged();
  throw Error(ErrorKind::kCorrupt, "reading a chunk again", "the input holds other elements now")
      .hint(kDamageHint);
}

}  // namespace gsort
