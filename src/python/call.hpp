// Call: one call of the package, as the words of a command line, with inputs that may be in memory.
// Does not depend on Python.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/meter.hpp"
#include "io/input/input.hpp"
#include "io/input/reader.hpp"
#include "io/output/output.hpp"
#include "options/job.hpp"
#include "options/options.hpp"
#include "plan/outcome.hpp"

namespace gsort::python {

// The report of a sort.
struct Report : Statistics {
  std::uint64_t output_bytes = 0;
  std::optional<double> bound_seconds;  // report/busiest.hpp
  std::string fingerprint;              // of the elements read
  std::string engine;
};

class Call {
 public:
  // Opens the inputs. `words` are those of a command line after the program's name; only
  // GSORT_CACHE and TMPDIR of the environment count. Operands that are names of `arrays` stand for
  // these, and `order` has the fields to sort by: NAME, or -NAME for descending order. `mapped`:
  // the files of memory-mapped arrays; if one has changed, the sort does not replace it, but fails.
  // Throws: Error, also if the type of raw keys is not given, or if suffixes name several types.
  Call(const std::vector<std::string>& words, std::vector<io::MemoryInput> arrays,
       const std::vector<std::string>& order = {},
       std::vector<std::shared_ptr<const io::Input>> mapped = {});

  // The most bytes that the result can have; it has fewer if keys are dropped, for example with
  // unique. None for text and compressed inputs.
  [[nodiscard]] std::optional<std::uint64_t> bytes() const { return bytes_; }

  // The memory that the call may use: -S, or half of the available memory. Throws: Error(kUsage).
  [[nodiscard]] std::uint64_t memory_bytes() const;

  // The dtype of the result, as in the header of a .npy file. For positions whose number is not
  // known before the sort, the widest until then.
  [[nodiscard]] std::string dtype() const;

  // The warning about a suffix that names another type than that of the data; may be empty.
  [[nodiscard]] std::string warning() const;

  // The elements of a row of a two-dimensional array, from its header; 0: no rows.
  [[nodiscard]] std::uint64_t row_elements() const { return job_.row_elements; }
  // The columns of a table whose rows are the result; else 0.
  [[nodiscard]] std::uint64_t columns() const { return job_.argsort ? 0 : job_.columns; }

  // The number of rows of an array whose rows are empty.
  [[nodiscard]] std::optional<std::uint64_t> empty_rows() const { return job_.empty_rows; }

  // Sorts into `memory`, or into the output that the words name. A call sorts or checks once.
  // `before_name` is called after a file is written and synced, and before it gets its name.
  // Throws: Error, of kUsage for a second call; what `before_name` throws, with no file changed.
  Report sort(std::optional<io::MemoryResult> memory, Meter& meter,
              const std::function<void()>& before_name = nullptr);

  // The same into an open file in the folder `place`: raw elements, from its beginning.
  Report sort_into(int descriptor, const std::string& place, Meter& meter);

  // Checks the order, as -c does. Throws: as sort.
  CheckOutcome check(Meter& meter);

 private:
  void use();
  Report run(io::Output output, Meter& meter, const std::function<void()>& before_name = {});

  Options options_;
  std::vector<std::shared_ptr<const io::Input>> mapped_;
  io::Reader reader_;
  Job job_;
  std::optional<std::uint64_t> bytes_;
  bool used_ = false;
};

}  // namespace gsort::python
