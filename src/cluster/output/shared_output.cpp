#include "cluster/output/shared_output.hpp"

#include <fcntl.h>

#include "base/checked.hpp"
#include "cluster/message.hpp"
#include "io/system/host_facts.hpp"
#include "io/system/sys.hpp"

namespace gsort::cluster {

SharedOutput::SharedOutput(Team& team, const std::string& path, std::function<void()>& on_leave,
                           Meter& meter)
    : rank_(team.rank()), on_leave_(on_leave), meter_(meter) {
  MessageWriter writer;
  if (rank_ == 0) {
    output_.emplace(path, io::OutputOptions{io::DirectIo::kOff, false, true});
    if (output_->is_stream()) {
      throw Error(ErrorKind::kResource, "writing to a pipe or a device",
                  "gsort-mpi cannot do this yet")
          .hint("use gsort on one machine; gsort-mpi --help lists what works on several");
    }
    const std::string hidden = output_->hidden_path();
    on_leave = [hidden] { io::sys::unlink_at(AT_FDCWD, hidden.c_str()); };
    writer.put_text(hidden);
    writer.put(io::mark_shared_output(hidden));
  }
  const Message place = team.broadcast(writer.take());
  MessageReader reader(place);
  const std::string hidden = reader.take_text();
  if (rank_ != 0) share_.emplace(hidden, path, reader.take<std::uint64_t>());
  const auto facts = io::folder_facts(io::folder_of(path));
  std::uint64_t on_network = facts && facts->is_network ? 1 : 0;
  team.sum(std::span(&on_network, 1));
  is_on_network_ = on_network > 0;
}

void SharedOutput::begin(const Plan& plan, std::uint64_t elements, ConstByteSpan header,
                         ConstByteSpan trailer) {
  header_.assign(header.begin(), header.end());
  if (!has_header(plan.job.output_form.format)) trailer_.assign(trailer.begin(), trailer.end());
  element_bytes_ = plan.job.result_bytes();
  bytes_ = checked_sum(header_.size() + trailer_.size(), checked_product(elements, element_bytes_));
  if (output_) output_->prepare(bytes_);
}

void SharedOutput::write(std::uint64_t offset, ConstByteSpan bytes) {
  output_ ? output_->write_at(offset, bytes) : share_->write_at(offset, bytes);
}

void SharedOutput::put(std::uint64_t position, ConstByteSpan elements) {
  Span span(&meter_, Stage::kWrite);
  span.add_bytes(elements.size());
  write(offset_of(position), elements);
}

void SharedOutput::finish(const PartTable& parts, std::uint64_t /*elements*/) {
  if (parts.share(rank_) == 0 && !header_.empty()) write(0, header_);
  if (has_trailer(parts, rank_) && !trailer_.empty()) {
    write(bytes_ - trailer_.size(), trailer_);
  }
  if (share_) share_->finish(begin_of(parts, rank_), end_of(parts, rank_));
}

void SharedOutput::put_in_place(Team& team, const PartTable& parts,
                                const std::function<void()>& before_name) {
  team.work([&] { finish_whole(parts); });
  team.work(before_name);
  team.meet();
  team.work([&] {
    if (output_) io::commit_all(std::span(&*output_, 1));
  });
  on_leave_ = nullptr;
  team.meet();
}

void SharedOutput::finish_whole(const PartTable& parts) {
  if (!output_) return;
  for (unsigned rank = 1; rank < parts.ranks(); ++rank) {
    const std::uint64_t begin = begin_of(parts, rank);
    output_->note_written(begin, end_of(parts, rank) - begin);
  }
  output_->finish(bytes_);
}

}  // namespace gsort::cluster
