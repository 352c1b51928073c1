// In place of gpu/cuda/copy_async.cuh: a copy that came too early for the thread that waits for it
// would not be seen here, but one that came too late cannot be either.
#pragma once

namespace gsort::gpu {

template <class Key>
void thread_copy_async(Key* shared, const Key* global) {
  *shared = *global;
}

inline void thread_wait_for_copies() {}

}  // namespace gsort::gpu
