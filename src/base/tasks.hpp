// TaskArena: tasks that only compute, on oneTBB. Work that waits for a disk or a pipe belongs in
// parallel.hpp: here it would keep a core idle.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace gsort {

// Runs tasks on at most workers() cores: the caller and threads that all arenas share. The threads
// that the system allows start before the first task, and further ones when an arena wants more
// than any before it. So a limit on threads only costs time: without threads, the caller does the
// work. The same is true in a process that was forked from one that had an arena.
//
// Calls may be nested: a task's own tasks run in its arena. A thread that waits for its tasks runs
// other tasks of the arena meanwhile. So a task that starts tasks must not hold anything that
// others wait for, such as a lock or a place in a queue.
//
// If oneTBB gets no memory, or is refused a thread that the system has just allowed, it cannot
// continue: it calls std::terminate() while its exception is handled. Thread-safe.
class TaskArena {
 public:
  explicit TaskArena(unsigned workers);
  ~TaskArena();
  TaskArena(const TaskArena&) = delete;
  TaskArena& operator=(const TaskArena&) = delete;

  // The most tasks that run at once.
  [[nodiscard]] unsigned workers() const { return workers_; }

  // Calls task(0) ... task(count - 1) in any order; returns when all have returned.
  // Throws: the first exception of a task; tasks that have not begun by then are not called.
  using Task = std::function<void(std::size_t number)>;
  void for_each(std::size_t count, const Task& task);

  // The same, but tasks begin in order, so that a task may wait for all before it. `worker` is
  // below workers(); two tasks that run at the same time have different ones.
  using WorkerTask = std::function<void(std::size_t number, unsigned worker)>;
  struct Steps {
    std::function<void()> on_begin = [] {};    // before each task, in order
    std::function<void()> on_failure = [] {};  // a task has thrown: must wake tasks that wait
    std::function<void()> on_end = [] {};      // after each task that has begun
  };
  void for_each_in_order(std::size_t count, const WorkerTask& task, const Steps& steps);

 private:
  struct Arena;

  std::unique_ptr<Arena> arena_;  // null: one worker, the caller
  const unsigned workers_;
};

}  // namespace gsort
