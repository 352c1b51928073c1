#include "pipeline/share/part_output.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/passing_sink.hpp"
#include "io/system/sys.hpp"
#include "io/system/temporary_file.hpp"
#include "pipeline/output/output_chain.hpp"
#include "pipeline/output/result.hpp"
#include "pipeline/share/part_file.hpp"

namespace gsort {
namespace {

// Notes in the record when its file was last changed. Returns the size of the file.
std::uint64_t look_at_file(const io::OutputPlace& place, PartRecord& record) {
  const auto file = io::look_beside(place, file_name(place.name, record));
  if (!file) return 0;
  record.ended_ns = file->hints.changed_ns;
  return file->bytes;
}

// Writes pieces to their places in the shared file.
class SharedPart final : public PartOutput, public PieceSink {
 public:
  SharedPart(const io::OutputPlace& place, const PartRecord& record, const Plan& plan,
             ConstByteSpan header, Meter& meter)
      : place_(place),
        header_(header.begin(), header.end()),
        job_(plan.job),
        element_bytes_(plan.job.input_element().bytes()),
        meter_(meter) {
    PartRecord marked = record;
    do {  // another process may be joining the parts
      mark_ = marked.mark = find_or_make_mark(place, record);
      file_.emplace(place, file_name(place.name, marked), io::SharedFile::Access::kLook);
    } while (!file_->exists());
    const auto found = io::look_beside(place, file_name(place.name, marked));
    if (found && file_->allocated_bytes() > 0) began_ns_ = found->hints.changed_ns;
  }

  PieceSink& begin(const PartRecord& record, Proof& proof) override {
    if (record.part == 0 && !header_.empty()) write_at(0, header_);
    return result_.emplace(job_, proof, *this).sink();
  }

  void put(std::uint64_t position, ConstByteSpan elements) override {
    Span span(&meter_, Stage::kWrite);
    span.add_bytes(elements.size());
    write_at(offset_of(position), elements);
  }

  void finish(PartRecord& record, Outcome& /*outcome*/) override {
    file_->finish(record.part == 0 ? 0 : offset_of(record.begin), offset_of(record.end));
    record.mark = mark_;
    record.content = content_.sum();
    record.began_ns = began_ns_;
    (void)look_at_file(place_, record);
  }

 private:
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t element) const {
    return header_.size() + element * element_bytes_;
  }

  void write_at(std::uint64_t offset, ConstByteSpan bytes) {
    file_->write_at(offset, bytes);
    content_.add(offset, bytes);
  }

  const io::OutputPlace& place_;
  std::optional<io::SharedFile> file_;
  std::uint64_t mark_ = 0;
  std::int64_t began_ns_ = 0;
  io::ContentCounter content_;
  const std::vector<std::byte> header_;
  const Job& job_;
  const std::uint64_t element_bytes_;
  Meter& meter_;
  std::optional<Result> result_;
};

// Tells the proof what the part holds. If some keys are not written at all (--min-count), a second
// proof compares these (count_sink.hpp).
class InputSink final : public PassingSink {
 public:
  InputSink(Proof& proof, PieceSink& next) : PassingSink(next), proof_(proof) {}
  void put(std::uint64_t position, ConstByteSpan elements) override {
    proof_.add_input(elements);
    next_.put(position, elements);
  }

 private:
  Proof& proof_;
};

io::OutputPlace place_of_file(const io::OutputPlace& place, PartRecord record, std::uint64_t mark) {
  record.mark = mark;
  return place.place_of(file_name(place.name, record));
}

io::OutputOptions options_of_part(const Plan& plan, io::ContentCounter& content) {
  io::OutputOptions options{plan.job.handling.direct_io};
  options.is_private = true;
  options.content = &content;
  return options;
}

// The file that a sort of the part alone would write. No other process gives a file the same name,
// so a part's record always describes a complete file, even if another process takes the same part.
class OwnPart final : public PartOutput {
 public:
  OwnPart(const io::OutputPlace& place, const PartRecord& record, const Plan& plan, Meter& meter)
      : place_(place),
        mark_(io::sys::random_number()),
        plan_(plan),
        meter_(meter),
        output_(place_of_file(place, record, mark_), options_of_part(plan, content_)) {
    for (const std::string& name : place.folder->names(file_prefix(place.name, record))) {
      if (io::is_on_its_way(name)) io::remove_beside(place, name);  // left by killed processes
    }
  }

  PieceSink& begin(const PartRecord& record, Proof& proof) override {
    chain_.emplace(plan_, std::span(&output_, 1), proof, &meter_);
    PieceSink& first = chain_->begin(record.end - record.begin, {}, record.begin);
    return plan_.job.min_count > 1 ? input_.emplace(proof, first) : first;
  }

  void end() override { chain_->end(); }

  void finish(PartRecord& record, Outcome& outcome) override {
    chain_->commit();
    record.mark = mark_;
    record.content = content_.sum();
    record.file_bytes = look_at_file(place_, record);
    outcome.lost_nan_payloads = chain_->lost_nan_payloads();
    outcome.add_notes(output_.notes());
  }

 private:
  const io::OutputPlace& place_;
  const std::uint64_t mark_;
  io::ContentCounter content_;
  const Plan& plan_;
  Meter& meter_;
  io::Output output_;
  std::optional<OutputChain> chain_;
  std::optional<InputSink> input_;
};

}  // namespace

std::unique_ptr<PartOutput> make_part_output(const io::OutputPlace& place, const PartRecord& record,
                                             const Plan& plan, ConstByteSpan header, Meter& meter) {
  if (record.has_own_file) return std::make_unique<OwnPart>(place, record, plan, meter);
  return std::make_unique<SharedPart>(place, record, plan, header, meter);
}

}  // namespace gsort
