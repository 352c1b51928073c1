// TaskArena: tasks that compute, on oneTBB. Threads that wait for a disk or a pipe are those of
// parallel.hpp: here, each of them would take a core from the tasks.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace gsort {

// A share of the cores. Before the first task, the system is asked how many threads it gives, and
// as many are started; again where arenas together want more of them than ever before. So a limit
// on threads costs time alone: with no thread at all, the caller does the work.
//
// Calls may be nested: tasks of a task share the cores of its arena. A thread that waits for its
// tasks runs others of the same arena meanwhile. So a task with tasks of its own must not hold what
// others wait for, be it a lock or a place in a queue.
//
// Where oneTBB itself is refused memory, or a thread that the system has just given, it cannot go
// on: std::terminate() is called while its exception is handled. Thread-safe.
class TaskArena {
 public:
  explicit TaskArena(unsigned workers);
  ~TaskArena();
  TaskArena(const TaskArena&) = delete;
  TaskArena& operator=(const TaskArena&) = delete;

  // At most so many tasks run at once.
  [[nodiscard]] unsigned workers() const { return workers_; }

  // Calls task(0) ... task(count - 1) in any order; returns when all have returned.
  // Throws: the first exception thrown by a task; those that had not begun by then are left out.
  using Task = std::function<void(std::size_t number)>;
  void for_each(std::size_t count, const Task& task);

  // The same, begun in order, so that a task may wait for all before it. No two tasks of the same
  // `worker`, which is below workers(), run at the same time.
  using WorkerTask = std::function<void(std::size_t number, unsigned worker)>;
  struct Steps {
    std::function<void()> on_begin = [] {};    // in order: no task behind this one has begun
    std::function<void()> on_failure = [] {};  // its exception is kept: ends the waiting of others
    std::function<void()> on_end = [] {};      // of each task that has begun
  };
  void for_each_in_order(std::size_t count, const WorkerTask& task, const Steps& steps);

 private:
  struct Arena;

  const unsigned workers_;
  std::unique_ptr<Arena> arena_;  // null: one worker, who is the caller
};

}  // namespace gsort
