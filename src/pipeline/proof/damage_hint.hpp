// The hint for a check that found wrong data. It also holds for pipes, whose readers have received
// the beginning, and for sorts that keep their runs.
#pragma once

namespace gsort {

inline constexpr const char* kDamageHint =
    "memory, a disk or a device corrupted data; do not use what was written to a pipe, and start a "
    "--resume sort again in an empty folder; the input is unchanged";

// The same if no damage explains it.
inline constexpr const char* kDefectHint =
    "this is a bug in gsort, please report it; do not use what was written to a pipe, and start a "
    "--resume sort again in an empty folder; the input is unchanged";

}  // namespace gsort
