// Peers in one process: each is a thread of a test, and messages go through memory. How long they
// take is random, but those from one to another stay in order. A liar may change, drop or double
// what is sent; a holder keeps it on its way.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/peers.hpp"

namespace gsort::cluster::test {

// The number in an environment variable, with which the long form of a test does more.
inline std::uint64_t number_in(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

class LocalNetwork {
 public:
  // Returns how many copies of the message arrive.
  using Liar = std::function<unsigned(unsigned from, unsigned to, Message& message)>;

  explicit LocalNetwork(unsigned count, std::uint64_t seed = 1)
      : count_(count), random_(seed), links_(std::size_t{count} * count) {}

  // Whether a message that would arrive now does not, nor any behind it.
  using Holder = std::function<bool(unsigned from, unsigned to, const Message& message)>;

  void set_liar(Liar liar) { liar_ = std::move(liar); }
  void set_holder(Holder holder) { holder_ = std::move(holder); }
  void set_most_message_bytes(std::size_t most) { most_message_bytes_ = most; }
  [[nodiscard]] std::size_t most_message_bytes() const { return most_message_bytes_; }

  [[nodiscard]] unsigned count() const { return count_; }

  void send(unsigned from, unsigned to, Message message) {
    EXPECT_LE(message.size(), most_message_bytes_);
    const std::scoped_lock lock(mutex_);
    const unsigned copies = liar_ ? liar_(from, to, message) : 1;
    for (unsigned copy = 0; copy < copies; ++copy) link(from, to).push_back(message);
  }

  // Long queues are taken as not sent yet.
  [[nodiscard]] std::size_t unsent(unsigned from, unsigned to) {
    const std::scoped_lock lock(mutex_);
    const std::size_t waiting = link(from, to).size();
    return waiting - std::min<std::size_t>(waiting, random_() % 4);
  }

  std::optional<Arrival> receive(unsigned to) {
    const std::scoped_lock lock(mutex_);
    const auto first = static_cast<unsigned>(random_() % count_);
    for (unsigned i = 0; i < count_; ++i) {
      const unsigned from = (first + i) % count_;
      if (link(from, to).empty() || random_() % 4 == 0) continue;
      if (holder_ && holder_(from, to, link(from, to).front())) continue;
      Arrival arrival{from, std::move(link(from, to).front())};
      link(from, to).pop_front();
      return arrival;
    }
    return std::nullopt;
  }

 private:
  std::deque<Message>& link(unsigned from, unsigned to) {
    return links_[std::size_t{from} * count_ + to];
  }

  const unsigned count_;
  std::mutex mutex_;
  std::mt19937_64 random_;
  std::vector<std::deque<Message>> links_;
  Liar liar_;
  Holder holder_;
  std::size_t most_message_bytes_ = Peers::kMostMessageBytes;
};

class LocalPeers final : public Peers {
 public:
  LocalPeers(LocalNetwork& network, unsigned rank) : network_(network), rank_(rank) {}

  [[nodiscard]] std::size_t most_message_bytes() const override {
    return network_.most_message_bytes();
  }
  [[nodiscard]] unsigned rank() const override { return rank_; }
  [[nodiscard]] unsigned count() const override { return network_.count(); }
  void send(unsigned to, Message message) override { network_.send(rank_, to, std::move(message)); }
  [[nodiscard]] std::size_t unsent(unsigned to) const override {
    return network_.unsent(rank_, to);
  }
  [[nodiscard]] std::optional<Arrival> receive() override { return network_.receive(rank_); }

 private:
  LocalNetwork& network_;
  const unsigned rank_;
};

// Calls work(peers) in a thread for each process, and returns when all have ended.
inline void run_together(LocalNetwork& network, const std::function<void(Peers&)>& work) {
  std::vector<std::jthread> threads;
  for (unsigned rank = 0; rank < network.count(); ++rank) {
    threads.emplace_back([&network, &work, rank] {
      LocalPeers peers(network, rank);
      work(peers);
    });
  }
}

}  // namespace gsort::cluster::test
