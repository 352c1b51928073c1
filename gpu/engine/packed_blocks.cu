// See packed_blocks.hpp. A warp packs and unpacks a group of 256 keys; the eight warps of a block
// take the groups of a block of keys in turn.
//
// Packing. Thread t takes the differences t, t + 32, ... of the group, whose width is that of all
// of them or'ed; they go to shared memory, 256 keys a warp, and each word of the packed group is
// put together by one thread from the rows whose bits it holds. Where a group's words begin is the
// sum of the widths before it: of the block's earlier rounds, and of the warps before in this one.
//
// Unpacking. Thread t takes the differences 8t .. 8t + 7, which are a row of 32-bit keys, two of
// 64-bit ones, or four of 128-bit ones, and adds them up; a scan over the warp and the group's
// first key make keys of them. They leave by way of shared memory, 256 keys a warp, so that a warp
// stores neighbours at once.
#include "element/packed_keys.hpp"
#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/warp_lanes.cuh"
#include "gpu/engine/packed_blocks.hpp"

namespace gsort::gpu {
namespace {

constexpr unsigned kWarps = 8;
constexpr unsigned kThreads = 32 * kWarps;
constexpr unsigned kGroupKeys = kPackGroupKeys;
constexpr unsigned kThreadKeys = kGroupKeys / 32;
constexpr unsigned kAllLanes = ~0U;

template <class Key>
constexpr unsigned kLanes = kPackRowBytes / sizeof(Key);  // of a row
template <class Key>
constexpr unsigned kBits = 8 * sizeof(Key);  // of a key, and the rows of a group

// Words of each warp in shared memory.
template <class Key>
struct GroupRoom {
  Key keys[kWarps][kGroupKeys];
  unsigned widths[kWarps];
};

__device__ unsigned warp_number() {
  return threadIdx.x / 32;
}
__device__ unsigned lane_number() {
  return threadIdx.x % 32;
}

__device__ unsigned width_of(std::uint32_t bits) {
  return 32 - static_cast<unsigned>(__clz(static_cast<int>(bits)));
}
__device__ unsigned width_of(std::uint64_t bits) {
  return 64 - static_cast<unsigned>(__clzll(static_cast<long long>(bits)));
}
__device__ unsigned width_of(UInt128 bits) {
  const auto high = static_cast<std::uint64_t>(bits >> 64);
  return high != 0 ? 64 + width_of(high) : width_of(static_cast<std::uint64_t>(bits));
}
__device__ std::uint32_t warp_or(std::uint32_t bits) {
  return __reduce_or_sync(kAllLanes, bits);
}
__device__ std::uint64_t warp_or(std::uint64_t bits) {
  const std::uint64_t high = warp_or(static_cast<std::uint32_t>(bits >> 32));
  return high << 32 | warp_or(static_cast<std::uint32_t>(bits));
}
__device__ UInt128 warp_or(UInt128 bits) {
  const UInt128 high = warp_or(static_cast<std::uint64_t>(bits >> 64));
  return high << 64 | warp_or(static_cast<std::uint64_t>(bits));
}

// Thread t's share of the differences of a group of `count` keys: t, t + 32, ...
template <class Key>
__device__ void warp_load_differences(const Key* keys, unsigned count, Key (&differences)[8]) {
#pragma unroll
  for (unsigned i = 0; i < kThreadKeys; ++i) {
    const unsigned key = lane_number() + 32 * i;
    differences[i] = key > 0 && key < count ? keys[key] - keys[key - 1] : 0;
  }
}

template <class Key>
__device__ unsigned warp_width(const Key (&differences)[8]) {
  Key all = 0;
#pragma unroll
  for (unsigned i = 0; i < kThreadKeys; ++i) all |= differences[i];
  return width_of(warp_or(all));
}

// The keys of block `block`.
struct BlockKeys {
  std::uint64_t begin;
  std::uint64_t count;

  __device__ BlockKeys(const BlockShape& shape, std::uint64_t block)
      : begin(block * shape.block_elements),
        count(shape.count - begin < shape.block_elements ? shape.count - begin
                                                         : shape.block_elements) {}
  [[nodiscard]] __device__ unsigned groups() const {
    return static_cast<unsigned>(pack_groups(count));
  }
  [[nodiscard]] __device__ unsigned count_of(unsigned group) const {
    const std::uint64_t rest = count - std::uint64_t{group} * kGroupKeys;
    return rest < kGroupKeys ? static_cast<unsigned>(rest) : kGroupKeys;
  }
};

// Writes the packed size of each block.
template <class Key>
__global__ void __launch_bounds__(kThreads)
    measure_blocks_kernel(const Key* keys, const BlockShape shape, std::uint32_t* block_bytes) {
  grid_begin();
  __shared__ unsigned long long widths;
  if (threadIdx.x == 0) widths = 0;
  __syncthreads();
  const BlockKeys block(shape, blockIdx.x);
  unsigned mine = 0;
  for (unsigned group = warp_number(); group < block.groups(); group += kWarps) {
    Key differences[kThreadKeys];
    warp_load_differences(keys + block.begin + std::uint64_t{group} * kGroupKeys,
                          block.count_of(group), differences);
    mine += warp_width(differences);
  }
  if (lane_number() == 0) atomicAdd(&widths, mine);
  __syncthreads();
  if (threadIdx.x == 0) {
    const std::uint64_t plain = block.count * sizeof(Key);
    const std::uint64_t packed = pack_head_bytes(block.count, sizeof(Key)) + widths * kPackRowBytes;
    const bool packs = packed <= most_packed_bytes(shape.packing, plain);
    block_bytes[blockIdx.x] = static_cast<std::uint32_t>(packs ? packed : plain);
  }
}

// Where the block's payload begins: behind those of its group before it.
__device__ std::uint64_t block_place(const BlockShape& shape, const std::uint32_t* block_bytes) {
  __shared__ unsigned long long before;
  if (threadIdx.x == 0) before = 0;
  __syncthreads();
  const std::uint64_t group = blockIdx.x / shape.group_blocks;
  unsigned long long mine = 0;
  for (std::uint64_t block = group * shape.group_blocks + threadIdx.x; block < blockIdx.x;
       block += kThreads) {
    mine += round_up(std::uint64_t{block_bytes[block]}, kPayloadAlignment);
  }
  if (mine > 0) atomicAdd(&before, mine);
  __syncthreads();
  return group * shape.group_bytes() + before;
}

// The words of a group: word w of lane l holds bits kBits * w and on of that lane's differences,
// which are `width` bits each, one a row.
template <class Key>
__device__ void warp_store_words(const Key* differences, unsigned width, Key* words) {
  for (unsigned word = lane_number(); word < kLanes<Key> * width; word += 32) {
    const unsigned lane = word % kLanes<Key>;
    const unsigned bit = word / kLanes<Key> * kBits<Key>;
    unsigned row = bit / width;
    unsigned skipped = bit - row * width;  // bits of the row that lie in the word before
    Key bits = differences[row * kLanes<Key> + lane] >> skipped;
    for (unsigned filled = width - skipped; filled < kBits<Key>; filled += width) {
      ++row;
      bits |= differences[row * kLanes<Key> + lane] << filled;
    }
    words[word] = bits;
  }
}

template <class Key>
__device__ void block_pack(const Key* keys, const BlockKeys& block, std::byte* payload,
                           GroupRoom<Key>& room) {
  const unsigned groups = block.groups();
  Key* const first_keys = reinterpret_cast<Key*>(payload);
  auto* const widths = reinterpret_cast<std::uint8_t*>(first_keys + groups);
  Key* words = reinterpret_cast<Key*>(payload + pack_head_bytes(block.count, sizeof(Key)));
  const auto* const width_end = reinterpret_cast<const std::uint8_t*>(words);
  if (threadIdx.x < width_end - (widths + groups)) widths[groups + threadIdx.x] = 0;

  const unsigned warp = warp_number();
  for (unsigned round = 0; round < groups; round += kWarps) {
    const unsigned group = round + warp;
    unsigned width = 0;
    if (group < groups) {
      const Key* const group_keys = keys + block.begin + std::uint64_t{group} * kGroupKeys;
      Key differences[kThreadKeys];
      warp_load_differences(group_keys, block.count_of(group), differences);
      width = warp_width(differences);
#pragma unroll
      for (unsigned i = 0; i < kThreadKeys; ++i) {
        room.keys[warp][lane_number() + 32 * i] = differences[i];
      }
      if (lane_number() == 0) {
        first_keys[group] = group_keys[0];
        widths[group] = static_cast<std::uint8_t>(width);
      }
    }
    if (lane_number() == 0) room.widths[warp] = width;
    __syncthreads();
    unsigned before = 0;
    unsigned all = 0;
#pragma unroll
    for (unsigned other = 0; other < kWarps; ++other) {
      if (other < warp) before += room.widths[other];
      all += room.widths[other];
    }
    warp_store_words(room.keys[warp], width, words + std::size_t{before} * kLanes<Key>);
    words += std::size_t{all} * kLanes<Key>;
    __syncthreads();
  }
}

template <class Key>
__global__ void __launch_bounds__(kThreads)
    pack_blocks_kernel(const Key* keys, const BlockShape shape, const std::uint32_t* block_bytes,
                       std::byte* packed) {
  grid_begin();
  __shared__ GroupRoom<Key> room;
  const BlockKeys block(shape, blockIdx.x);
  std::byte* const payload = packed + block_place(shape, block_bytes);
  if (block_bytes[blockIdx.x] < block.count * sizeof(Key)) {
    block_pack(keys, block, payload, room);
  } else {
    Key* const to = reinterpret_cast<Key*>(payload);
    for (std::uint64_t i = threadIdx.x; i < block.count; i += kThreads) {
      to[i] = keys[block.begin + i];
    }
  }
}

// Thread t's share of the differences of a group: 8t .. 8t + 7, which stand in whole rows.
template <class Key>
__device__ void thread_load_row_differences(const Key* words, unsigned width,
                                            Key (&differences)[8]) {
  constexpr unsigned kThreadRows = kThreadKeys / kLanes<Key>;
  const Key mask = width == kBits<Key> ? ~Key{0} : (Key{1} << width) - 1;
#pragma unroll
  for (unsigned row = 0; row < kThreadRows; ++row) {
    const unsigned bit = (lane_number() * kThreadRows + row) * width;
    const unsigned shift = bit % kBits<Key>;
    const Key* const at = words + bit / kBits<Key> * kLanes<Key>;
    const bool goes_on = shift + width > kBits<Key>;
#pragma unroll
    for (unsigned lane = 0; lane < kLanes<Key>; ++lane) {
      Key bits = at[lane] >> shift;
      if (goes_on) bits |= at[kLanes<Key> + lane] << (kBits<Key> - shift);
      differences[row * kLanes<Key> + lane] = bits & mask;
    }
  }
}

// The keys of the group: `mine` are 8t .. 8t + 7 of them.
template <class Key>
__device__ void warp_unpack(const Key* words, unsigned width, Key first_key, Key (&mine)[8]) {
  if (width == 0) {
#pragma unroll
    for (unsigned i = 0; i < kThreadKeys; ++i) mine[i] = first_key;
    return;
  }
  thread_load_row_differences(words, width, mine);
#pragma unroll
  for (unsigned i = 1; i < kThreadKeys; ++i) mine[i] += mine[i - 1];
  Key before = mine[kThreadKeys - 1];
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const Key other = thread_shuffle(
        before, [distance](auto part) { return __shfl_up_sync(kAllLanes, part, distance); });
    if (lane_number() >= distance) before += other;
  }
  before += first_key - mine[kThreadKeys - 1];
#pragma unroll
  for (unsigned i = 0; i < kThreadKeys; ++i) mine[i] += before;
}

// Keys [begin, end) of a packed block to `to`.
template <class Key>
__device__ void block_unpack(const std::byte* payload, const StoredKeys& piece, Key* to,
                             Key (&room)[kWarps][kGroupKeys]) {
  const auto groups = static_cast<unsigned>(pack_groups(piece.count));
  const Key* const first_keys = reinterpret_cast<const Key*>(payload);
  const auto* const widths = reinterpret_cast<const std::uint8_t*>(first_keys + groups);
  const Key* words =
      reinterpret_cast<const Key*>(payload + pack_head_bytes(piece.count, sizeof(Key)));
  const unsigned warp = warp_number();
  const unsigned lane = lane_number();
  for (unsigned round = 0; round * kGroupKeys < piece.end; round += kWarps) {
    // Lane l < kWarps knows the width that warp l unpacks.
    const unsigned known = lane < kWarps && round + lane < groups ? widths[round + lane] : 0;
    const unsigned before = __reduce_add_sync(kAllLanes, lane < warp ? known : 0);
    const unsigned all = __reduce_add_sync(kAllLanes, known);
    const unsigned group = round + warp;
    const unsigned begin = group * kGroupKeys;
    if (begin < piece.end && begin + kGroupKeys > piece.begin) {
      Key mine[kThreadKeys];
      warp_unpack(words + std::size_t{before} * kLanes<Key>,
                  __shfl_sync(kAllLanes, known, static_cast<int>(warp)), first_keys[group], mine);
#pragma unroll
      for (unsigned i = 0; i < kThreadKeys; ++i) room[warp][lane * kThreadKeys + i] = mine[i];
      __syncwarp();
#pragma unroll
      for (unsigned i = 0; i < kThreadKeys; ++i) {
        const unsigned key = begin + lane + 32 * i;
        if (key >= piece.begin && key < piece.end) {
          to[key - piece.begin] = room[warp][lane + 32 * i];
        }
      }
      __syncwarp();
    }
    words += std::size_t{all} * kLanes<Key>;
  }
}

template <class Key>
__global__ void __launch_bounds__(kThreads)
    unpack_blocks_kernel(const std::byte* stored, const StoredKeys* pieces, Key* keys) {
  grid_begin();
  __shared__ Key room[kWarps][kGroupKeys];
  const StoredKeys piece = pieces[blockIdx.x];
  const std::byte* const payload = stored + piece.payload;
  Key* const to = keys + piece.position;
  if (piece.packed != 0) {
    block_unpack(payload, piece, to, room);
  } else {
    const Key* const from = reinterpret_cast<const Key*>(payload) + piece.begin;
    for (unsigned i = threadIdx.x; i < piece.end - piece.begin; i += kThreads) to[i] = from[i];
  }
}

}  // namespace

template <class Key>
void launch_pack_blocks(const Key* keys, const BlockShape& shape, std::uint32_t* block_bytes,
                        std::byte* packed, unsigned architecture, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(shape.blocks());
  launch_kernel(measure_blocks_kernel<Key>, {blocks, kThreads, 0, architecture, stream},
                "launching measure_blocks_kernel", keys, shape, block_bytes);
  launch_kernel(pack_blocks_kernel<Key>, {blocks, kThreads, 0, architecture, stream},
                "launching pack_blocks_kernel", keys, shape,
                static_cast<const std::uint32_t*>(block_bytes), packed);
}

template <class Key>
void launch_unpack_blocks(const std::byte* stored, const StoredKeys* pieces,
                          std::uint64_t piece_count, Key* keys, unsigned architecture,
                          cudaStream_t stream) {
  launch_kernel(unpack_blocks_kernel<Key>,
                {static_cast<unsigned>(piece_count), kThreads, 0, architecture, stream},
                "launching unpack_blocks_kernel", stored, pieces, keys);
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define GSORT_PACKED_BLOCKS(Key)                                                                   \
  template void launch_pack_blocks<Key>(const Key*, const BlockShape&, std::uint32_t*, std::byte*, \
                                        unsigned, cudaStream_t);                                   \
  template void launch_unpack_blocks<Key>(const std::byte*, const StoredKeys*, std::uint64_t,      \
                                          Key*, unsigned, cudaStream_t)
GSORT_PACKED_BLOCKS(std::uint32_t);
GSORT_PACKED_BLOCKS(std::uint64_t);
GSORT_PACKED_BLOCKS(UInt128);
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace gsort::gpu
