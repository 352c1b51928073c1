// PartTable: which range of the output each process merges, and in which parts. A pure function of
// a few numbers, so that all processes have the same table. Rank i has share i of the output, or
// that which assign() gives to it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace gsort::cluster {

struct PartSizes {
  std::uint64_t elements = 0;  // of the whole output
  unsigned ranks = 1;
  std::uint64_t part_elements = 1;  // of a part, at most
  // Borders between shares lie `shift` elements before a multiple of `aligned`. These are the
  // places where the next unit of the file begins that two hosts must not write to at once. A
  // border of equal shares moves forward to the next such place, so the rank of the first share,
  // which writes the header, also writes the rest of its unit.
  std::uint64_t aligned = 1;
  std::uint64_t shift = 0;
};

struct OneFile {
  std::uint64_t element_bytes = 1;
  std::uint64_t header_bytes = 0;
  bool is_on_network = false;  // two hosts must not write to one page
};

// The same for one file. If shares are long enough, borders lie where an element begins at a
// multiple of a power of two bytes. This power is the largest one, up to 4 MiB, that has such a
// place in any 4 MiB; if there is none, it is a page. Otherwise, borders lie at pages on a network
// file system, and anywhere on others. Throws: Error(kUsage) if borders must lie at pages and no
// element begins at one.
[[nodiscard]] PartSizes aligned_in_file(const PartSizes& sizes, const OneFile& file);

class PartTable {
 public:
  // Requires: all sizes but elements and shift are at least 1.
  explicit PartTable(const PartSizes& sizes);

  // The borders of all parts of all shares, from 0 to all elements, ascending. Part i lies between
  // border i and border i + 1.
  [[nodiscard]] const std::vector<std::uint64_t>& borders() const { return borders_; }

  [[nodiscard]] unsigned ranks() const { return static_cast<unsigned>(share_.size()); }

  // The share of each rank. Requires: each share once.
  void assign(std::vector<unsigned> share) { share_ = std::move(share); }
  [[nodiscard]] unsigned share(unsigned rank) const { return share_[rank]; }

  // A rank has parts(rank) parts; the first one has the number first(rank).
  [[nodiscard]] std::uint64_t first(unsigned rank) const { return first_[share_[rank]]; }
  [[nodiscard]] std::uint64_t parts(unsigned rank) const {
    return first_[share_[rank] + 1] - first(rank);
  }

  [[nodiscard]] std::uint64_t elements(std::uint64_t part) const {
    return borders_[part + 1] - borders_[part];
  }
  [[nodiscard]] std::uint64_t begin_of(unsigned rank) const { return borders_[first(rank)]; }
  [[nodiscard]] std::uint64_t end_of(unsigned rank) const {
    return borders_[first(rank) + parts(rank)];
  }

  // The order in which a rank merges its parts, numbered from 0: each rank begins elsewhere, or all
  // would want the same elements of the same rank at the same time.
  [[nodiscard]] std::uint64_t in_turn(unsigned rank, std::uint64_t turn) const {
    return (turn + rank * parts(rank) / ranks()) % parts(rank);
  }

 private:
  std::vector<std::uint64_t> borders_;
  std::vector<std::uint64_t> first_;  // of each share
  std::vector<unsigned> share_;       // of each rank
};

}  // namespace gsort::cluster
