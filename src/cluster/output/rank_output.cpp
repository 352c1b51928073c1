#include "cluster/output/rank_output.hpp"

#include <span>

#include <fcntl.h>

#include "io/system/sys.hpp"
#include "pipeline/output/output_chain.hpp"
#include "pipeline/share/share_range.hpp"

namespace gsort::cluster {

RankOutput::RankOutput(Team& team, const Request& request, std::function<void()>& on_leave,
                       Meter& meter)
    : rank_(team.rank()), ranks_(team.count()), on_leave_(on_leave), meter_(meter) {
  team.work([&] {
    output_.emplace(request.outputs().at(rank_), io::OutputOptions{request.direct_io, true});
  });
  const std::string hidden = output_->hidden_path();
  if (!hidden.empty()) {
    on_leave = [hidden] { io::sys::unlink_at(AT_FDCWD, hidden.c_str()); };
  }
  team.meet();
}

void RankOutput::begin(const Plan& plan, std::uint64_t elements, ConstByteSpan header,
                       ConstByteSpan trailer) {
  const OutputRange own = share_of(elements, rank_, ranks_);
  begin_ = plan.job.unique ? 0 : own.begin;
  io::WriterOptions options = writer_options(plan, plan.job.result_bytes());
  if (rank_ + 1 == ranks_) {
    options.trailer = [last = std::vector(trailer.begin(), trailer.end())] { return last; };
  }
  file_.emplace(std::span(&*output_, 1), options, &meter_);
  file_->begin(plan.job.unique ? std::nullopt : std::optional(own.elements()),
               rank_ == 0 ? header : ConstByteSpan());
}

void RankOutput::put(std::uint64_t position, ConstByteSpan elements) {
  file_->put(position - begin_, elements);
}

void RankOutput::abandon() noexcept {
  if (file_) file_->abandon();
}

void RankOutput::finish(const PartTable& /*parts*/, std::uint64_t elements) {
  file_->finish(elements);
}

// Not in a thread of its own: when the job ends, it must be known whether the file has its name.
// First, all have synced, and rank 0 has proven the whole output.
void RankOutput::put_in_place(Team& team, const PartTable& /*parts*/,
                              const std::function<void()>& before_name) {
  team.work(before_name);
  team.meet();
  io::commit_all(std::span(&*output_, 1), [&] { team.meet(); });
  on_leave_ = nullptr;
  team.meet();
}

}  // namespace gsort::cluster
