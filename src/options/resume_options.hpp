// The options that a resumed sort must keep.
#pragma once

#include <string>

#include "form/file_form.hpp"
#include "options/job.hpp"

namespace gsort {

// The options that decide the contents of the runs, as text: equal for sorts whose runs are the
// same. The output, its form, -u, --top and all resources may differ.
[[nodiscard]] std::string resumable_job(const Job& job, const InputForm& form);

}  // namespace gsort
