// The rules of --resume for the other options, and the options that a resumed sort must keep.
#pragma once

#include <string>

#include "form/file_form.hpp"
#include "form/stored_array.hpp"
#include "options/job.hpp"
#include "options/options.hpp"

namespace gsort {

// The options that decide the contents of the runs, as text: equal for sorts whose runs are the
// same. The output, its form, -u, --top and all resources may differ.
[[nodiscard]] std::string resumable_job(const Job& job, const InputForm& form);

// Throws: Error(kUsage) for options that --resume does not go with, or headers of the inputs.
void refuse_beside_resume(const Options& options, const StoredArray& stored = {});

}  // namespace gsort
