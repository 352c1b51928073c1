// The processes of an MPI job. With this, and mpi_peers.cpp, all of MPI is in two files.
#pragma once

#include <memory>
#include <string>

#include "cluster/peers.hpp"

namespace gsort::cluster {

class MpiPeers final : public Peers {
 public:
  // Starts MPI, for this thread alone to call it, with settings that keep frames eager over TCP
  // unless the environment has others.
  // Throws: Error(kResource) when MPI cannot be used.
  MpiPeers();
  ~MpiPeers() override;  // without leave(): MPI is not ended
  MpiPeers(const MpiPeers&) = delete;
  MpiPeers& operator=(const MpiPeers&) = delete;

  [[nodiscard]] std::string host() const override;

  [[nodiscard]] unsigned rank() const override;
  [[nodiscard]] unsigned count() const override;
  void send(unsigned to, Message message) override;
  [[nodiscard]] std::size_t unsent(unsigned to) const override;
  [[nodiscard]] std::optional<Arrival> receive() override;

  // Ends MPI. Waits for all processes, without a limit.
  void leave() override;
  [[noreturn]] void abort(int status) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gsort::cluster
