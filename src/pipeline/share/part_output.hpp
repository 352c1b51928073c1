// Where a part of the output is written: to its place in a file that all parts share or, if the
// place is not known in advance, to a file of its own. Both are hidden until --join.
#pragma once

#include <cstdint>
#include <memory>

#include "base/meter.hpp"
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

  // To be called once, when the record says which elements the part has. The sink that it returns
  // takes them, with their positions among the elements of all shares, and adds what comes out to
  // the proof, with the positions in the file. The proof outlives this object. Throws:
  // Error(kOutput); Error(kResource).
  virtual PieceSink& begin(const PartRecord& record, Proof& proof) = 0;

  // To be called when all has been put: writes what was held back. Throws: as the sink.
  virtual void end() {}

  // Call this when the output is proven: syncs the file, and stores its mark, bytes and
  // content in `record`. Throws: Error(kOutput); Error(kCorrupt).
  virtual void finish(PartRecord& record, Outcome& outcome) = 0;
};

// Makes the output of a part, a file beside the output at `place`: the file that the parts of the
// record's job share (part_file.hpp), which begins with `header`, or, if record.has_own_file, a new
// file with a mark of its own. `place`, `plan` and `meter` outlive the result.
[[nodiscard]] std::unique_ptr<PartOutput> make_part_output(const io::OutputPlace& place,
                                                           const PartRecord& record,
                                                           const Plan& plan, ConstByteSpan header,
                                                           Meter& meter);

}  // namespace gsort
