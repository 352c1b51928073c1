// Runs one function on several threads of a pool, for work that waits for a disk, a pipe, a device
// or other threads. Workers that read data and then sort or check it belong here, too: reading and
// computing in different threads would need a queue. Work that only computes belongs in tasks.hpp.
#pragma once

#include <cstdint>
#include <functional>

namespace gsort {

// Calls work(0) ... work(workers - 1) and returns when all have returned. The pool decides how many
// of them run at the same time: if the system allows no thread, the caller runs all, one after the
// other. So a worker must not wait for another that may not have started; workers that take numbers
// from a shared counter never do. Calls may be nested. Thread-safe. Throws: the first exception of
// a worker, after the others have returned; std::bad_alloc. The others are not stopped: they should
// check Failure::failed() (failure.hpp).
void run_workers(unsigned workers, const std::function<void(unsigned worker)>& work);

// Calls work(worker, number) once for each number below `count`; workers take the numbers in order.
// If a call throws, its worker calls `on_failure`, which must wake workers that wait for its work
// and must not throw; no worker takes another number.
// Throws: the first exception; std::bad_alloc.
void for_each_number(
    unsigned workers, std::uint64_t count,
    const std::function<void(unsigned worker, std::uint64_t number)>& work,
    const std::function<void()>& on_failure = [] {});

}  // namespace gsort
