// Where a part of the output goes: to its place in a file that all parts share, or, where places
// are not known before all parts are, into a file of its own. Either file is hidden until --join.
#pragma once

#include <cstdint>
#include <memory>

#include "base/meter.hpp"
#include "element/element.hpp"
#include "engine/engine.hpp"
#include "io/output/shared_file.hpp"
#include "pipeline/proof/proof.hpp"
#include "pipeline/share/part_record.hpp"
#include "plan/outcome.hpp"
#include "plan/plan.hpp"

namespace gsort {

class PartOutput {
 public:
  virtual ~PartOutput() = default;

  // To be called once, when the record says which elements the part has: takes them, positions as
  // of those of all shares, and proves what comes out. The proof, whose positions are those of the
  // shared file or of the own one, outlives it. Throws: Error(kOutput); Error(kResource).
  virtual PieceSink& begin(const PartRecord& record, Proof& proof) = 0;

  // All has been put: puts what was held back until then. Throws: as the sink.
  virtual void end() {}

  // What came out has been proven: the file is on the disk, and `record` gets its number and bytes.
  // Throws: Error(kOutput); Error(kCorrupt).
  virtual void finish(PartRecord& record, Outcome& outcome) = 0;
};

// In the file file_name() of the record beside the output at `place`.
[[nodiscard]] std::unique_ptr<PartOutput> make_shared_part(const io::OutputPlace& place,
                                                           const PartRecord& record,
                                                           const Plan& plan, ConstByteSpan header,
                                                           Meter& meter);

struct OwnPartForm {
  ElementFormat element;  // that comes out
  io::DirectIo direct_io = io::DirectIo::kAuto;
};
[[nodiscard]] std::unique_ptr<PartOutput> make_own_part(const io::OutputPlace& place,
                                                        const PartRecord& record, const Plan& plan,
                                                        const OwnPartForm& form, Meter& meter);

}  // namespace gsort
