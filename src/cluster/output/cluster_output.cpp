#include "cluster/output/cluster_output.hpp"

#include <fcntl.h>

#include "base/checked.hpp"
#include "cluster/message.hpp"
#include "io/output/shared_file.hpp"
#include "io/system/sys.hpp"

namespace gsort::cluster {

ClusterOutput::ClusterOutput(Team& team, const std::string& path, std::function<void()>& on_leave,
                             Meter& meter)
    : rank_(team.rank()), meter_(meter) {
  MessageWriter writer;
  if (rank_ == 0) {
    output_.emplace(path, io::OutputOptions{io::DirectIo::kOff, false, true});
    if (output_->is_stream()) {
      throw Error(ErrorKind::kUsage, "writing to a pipe or a device",
                  "gsort-mpi cannot do this yet")
          .hint("use gsort on one machine; gsort-mpi --help says what works on several");
    }
    hidden_path_ = output_->hidden_path();
    on_leave = [hidden = hidden_path_] { io::sys::unlink_at(AT_FDCWD, hidden.c_str()); };
    writer.put_text(hidden_path_);
    writer.put(io::mark_shared_output(hidden_path_));
  }
  const Message place = team.broadcast(writer.take());
  MessageReader reader(place);
  hidden_path_ = reader.take_text();
  if (rank_ != 0) share_.emplace(hidden_path_, path, reader.take<std::uint64_t>());
  team.meet();
}

const std::string& ClusterOutput::folder() const {
  static const std::string kNone;
  return output_ ? output_->folder() : kNone;
}

void ClusterOutput::begin(ConstByteSpan header, std::uint64_t elements,
                          std::uint64_t element_bytes) {
  header_bytes_ = header.size();
  element_bytes_ = element_bytes;
  bytes_ = checked_sum(header_bytes_, checked_product(elements, element_bytes));
  if (!output_) return;
  output_->prepare(bytes_);
  if (!header.empty()) output_->write_at(0, header);
}

void ClusterOutput::put(std::uint64_t position, ConstByteSpan elements) {
  Span span(&meter_, Stage::kWrite);
  span.add_bytes(elements.size());
  const std::uint64_t offset = header_bytes_ + position * element_bytes_;
  output_ ? output_->write_at(offset, elements) : share_->write_at(offset, elements);
}

void ClusterOutput::finish(const PartTable& parts) {
  if (share_) share_->finish(offset_of(parts.begin_of(rank_)), offset_of(parts.end_of(rank_)));
}

void ClusterOutput::commit(const PartTable& parts) {
  if (!output_) return;
  for (unsigned rank = 1; rank < parts.ranks(); ++rank) {
    const std::uint64_t begin = offset_of(parts.begin_of(rank));
    output_->note_written(begin, offset_of(parts.end_of(rank)) - begin);
  }
  output_->commit(bytes_);
}

}  // namespace gsort::cluster
