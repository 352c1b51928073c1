// Peers: the processes of one job, which send each other messages. MPI carries them
// (mpi_peers.hpp), or one process with threads does (tests/unit/cluster/local_peers.hpp).
#pragma once

#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace gsort::cluster {

using Message = std::vector<std::byte>;

struct Arrival {
  unsigned from = 0;
  Message message;
};

// No call ever blocks. For one thread, the same one for all calls.
// Messages from one process to another arrive whole, in order, each once.
class Peers {
 public:
  // A longer message is not sent: what MPI sends eagerly must stay short.
  static constexpr std::size_t kMostMessageBytes = (std::size_t{128} << 10) + 256;

  virtual ~Peers() = default;

  // The limit of all processes: kMostMessageBytes, or less in a test.
  [[nodiscard]] virtual std::size_t most_message_bytes() const { return kMostMessageBytes; }

  // The number of this process, and how many there are.
  [[nodiscard]] virtual unsigned rank() const = 0;
  [[nodiscard]] virtual unsigned count() const = 0;

  // Requires: to < count(), to != rank(); the message has at most most_message_bytes().
  virtual void send(unsigned to, Message message) = 0;

  // How many messages to a process have not yet left this one.
  [[nodiscard]] virtual std::size_t unsent(unsigned to) const = 0;

  // The next message that has arrived, if there is one.
  [[nodiscard]] virtual std::optional<Arrival> receive() = 0;

  // The name of this host.
  [[nodiscard]] virtual std::string host() const { return "localhost"; }
  // Ends the connection. Requires: all processes have received all that was sent to them, and call
  // this.
  virtual void leave() {}
  // Ends all processes that can be reached, and this one.
  [[noreturn]] virtual void abort(int status) { std::_Exit(status); }
};

}  // namespace gsort::cluster
