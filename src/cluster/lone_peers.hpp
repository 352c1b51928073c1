// LonePeers: a job of one process without a launcher. It does not need MPI, which takes a second to
// start on some machines.
#pragma once

#include <string>

#include "cluster/peers.hpp"
#include "io/system/kernel_text.hpp"

namespace gsort::cluster {

class LonePeers final : public Peers {
 public:
  [[nodiscard]] std::string host() const override {
    const std::string name = io::kernel_text("/proc/sys/kernel/hostname");
    return name.empty() ? Peers::host() : name.substr(0, name.find('\n'));
  }
  [[nodiscard]] unsigned rank() const override { return 0; }
  [[nodiscard]] unsigned count() const override { return 1; }
  void send(unsigned /*to*/, Message /*message*/) override {}
  [[nodiscard]] std::size_t unsent(unsigned /*to*/) const override { return 0; }
  [[nodiscard]] std::optional<Arrival> receive() override { return std::nullopt; }
};

}  // namespace gsort::cluster
