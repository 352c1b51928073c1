// What to do when a check has found other data than there must be. True for pipes, whose readers
// have had the beginning, and for sorts that keep their runs.
#pragma once

namespace gsort {

inline constexpr const char* kDamageHint =
    "memory, a disk or a device damaged data; do not use what was written to a pipe, and start a "
    "--resume sort again in an empty folder; the input is intact";

// The same where no damage explains it.
inline constexpr const char* kDefectHint =
    "this is a defect of gsort; do not use what was written to a pipe, and start a --resume sort "
    "again in an empty folder; the input is intact";

}  // namespace gsort
