#include "pipeline/share/part_output.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/system/temporary_file.hpp"
#include "pipeline/output/output_chain.hpp"
#include "pipeline/output/sinks.hpp"

namespace gsort {
namespace {

// Writes pieces to their places in the shared file.
class SharedPart final : public PartOutput, public PieceSink {
 public:
  SharedPart(const io::OutputPlace& place, const PartRecord& record, const Plan& plan,
             ConstByteSpan header, Meter& meter)
      : file_(place, file_name(place.name, record), io::SharedFile::Access::kWrite),
        header_(header.begin(), header.end()),
        element_bytes_(plan.element_bytes),
        meter_(meter) {}

  PieceSink& begin(const PartRecord& record, Proof& proof) override {
    file_.grow_to(record.file_bytes);
    if (record.part == 0 && !header_.empty()) file_.write_at(0, header_);
    return proving_.emplace(proof, *this);
  }

  void put(std::uint64_t position, ConstByteSpan elements) override {
    Span span(&meter_, Stage::kWrite);
    span.add_bytes(elements.size());
    file_.write_at(offset_of(position), elements);
  }

  void finish(PartRecord& record, Outcome& /*outcome*/) override {
    file_.finish(record.part == 0 ? 0 : offset_of(record.begin), offset_of(record.end));
    record.file_number = file_.number();
  }

 private:
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t element) const {
    return header_.size() + element * element_bytes_;
  }

  io::SharedFile file_;
  const std::vector<std::byte> header_;
  const std::uint64_t element_bytes_;
  Meter& meter_;
  std::optional<ProvingSink> proving_;
};

// Tells the proof what the part holds. If some keys are not written at all (--min-count), a second
// proof compares these (count_sink.hpp).
class InputSink final : public PieceSink {
 public:
  InputSink(Proof& proof, PieceSink& next) : proof_(proof), next_(next) {}
  void put(std::uint64_t position, ConstByteSpan elements) override {
    proof_.add_input(elements);
    next_.put(position, elements);
  }
  void abandon() noexcept override { next_.abandon(); }

 private:
  Proof& proof_;
  PieceSink& next_;
};

// What a sort of the part alone would write. No other process gives a file the same name, so a
// part's record always describes a complete file, even if another process takes the same part.
class OwnPart final : public PartOutput {
 public:
  OwnPart(const io::OutputPlace& place, const PartRecord& record, const Plan& plan,
          const OwnPartForm& form, Meter& meter)
      : place_(place),
        name_(io::name_of_its_own(file_name(place.name, record))),
        plan_(plan),
        meter_(meter),
        output_(place.folder + "/" + name_, io::OutputOptions{form.direct_io}) {
    plan_.job.element = form.element;
    for (const std::string& name : io::names_with(place, file_name(place.name, record))) {
      if (io::is_on_its_way(name)) io::remove_beside(place, name);  // left by killed processes
    }
  }

  PieceSink& begin(const PartRecord& record, Proof& proof) override {
    chain_.emplace(plan_, std::span(&output_, 1), proof, &meter_);
    PieceSink* first = &chain_->begin(record.end - record.begin, {});
    if (plan_.job.min_count > 1) first = &input_.emplace(proof, *first);
    return from_zero_.emplace(-record.begin, *first);
  }

  void end() override { chain_->end(); }

  void finish(PartRecord& record, Outcome& outcome) override {
    chain_->commit();
    const io::SharedFile file(place_, name_, io::SharedFile::Access::kLook);
    record.file_number = file.exists() ? file.number() : 0;
    record.file_bytes = file.exists() ? file.bytes() : 0;
    outcome.lost_nan_payloads = chain_->lost_nan_payloads();
    const std::vector<std::string> notes = output_.notes();
    outcome.notes.insert(outcome.notes.end(), notes.begin(), notes.end());
  }

 private:
  const io::OutputPlace place_;
  const std::string name_;
  Plan plan_;
  Meter& meter_;
  io::Output output_;
  std::optional<OutputChain> chain_;
  std::optional<InputSink> input_;
  std::optional<OffsetSink> from_zero_;
};

}  // namespace

std::unique_ptr<PartOutput> make_shared_part(const io::OutputPlace& place, const PartRecord& record,
                                             const Plan& plan, ConstByteSpan header, Meter& meter) {
  return std::make_unique<SharedPart>(place, record, plan, header, meter);
}

std::unique_ptr<PartOutput> make_own_part(const io::OutputPlace& place, const PartRecord& record,
                                          const Plan& plan, const OwnPartForm& form, Meter& meter) {
  return std::make_unique<OwnPart>(place, record, plan, form, meter);
}

}  // namespace gsort
