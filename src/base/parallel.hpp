// Runs the same function on several threads of a pool: what waits for a disk, a pipe, a device or
// for other threads. Workers that read and sort or check what they have read are among them: as two
// kinds, they would need a queue between them. What only computes: tasks.hpp.
#pragma once

#include <functional>

namespace gsort {

// Calls work(0) ... work(workers - 1), at most `workers` of them at once, and returns when all have
// returned. The pool decides how many really run at the same time (the caller is one of them), so a
// worker must not wait for another that may not have started; workers that share a counter of
// pieces never do. Where the system allows no thread, the caller runs them all. May be nested, and
// called by several threads.
// Throws: the first exception thrown by a worker, after the others have returned; std::bad_alloc.
// Workers should look at a shared flag or fail on their own when one of them has failed; see
// FailureFlag.
void run_workers(unsigned workers, const std::function<void(unsigned worker)>& work);

}  // namespace gsort
