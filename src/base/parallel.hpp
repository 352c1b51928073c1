// The one way to keep several cores busy: run the same function on several workers of oneTBB's
// pool.
#pragma once

#include <functional>

namespace gsort {

// Calls work(0) ... work(workers - 1), at most `workers` of them at once, and returns when all have
// returned. The pool decides how many really run at the same time (the caller is one of them), so a
// worker must not wait for another that may not have started; workers that share a counter of
// pieces never do.
// Throws: Error(kResource) when the system allows fewer threads; the first exception thrown by a
// worker, after the others have returned. Workers should look at a shared flag or fail on their own
// when one of them has failed; see FailureFlag.
// Calls std::terminate() when the pool is refused a thread that the system had granted before.
void run_workers(unsigned workers, const std::function<void(unsigned worker)>& work);

}  // namespace gsort
