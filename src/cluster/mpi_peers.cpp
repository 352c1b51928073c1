// Messages are sent by MPI_Isend from the vectors that hold them. Several receives are posted, for
// messages of any process. They end in any order: a long message, which MPI has announced, waits
// for its sender, and must not hold up what others have sent since. So every message has a number
// at its end, by which those of one sender are put in order.
#include "cluster/mpi_peers.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <mpi.h>
#include <poll.h>
#include <unistd.h>

#include "base/error.hpp"
#include "cluster/message.hpp"

namespace gsort::cluster {
namespace {

constexpr int kPosted = 16;
constexpr std::size_t kMostBytes = Peers::kMostMessageBytes + sizeof(std::uint32_t);
// How long MPI may take to end a job that has lost a host.
constexpr unsigned kAbortSeconds = 2;
constexpr int kTag = 0;

// Open MPI's answers to long messages wait behind bulk data on the same socket: below its eager
// limit there are none. It gives up the processor in each call where processes share cores: the
// team's pauses do that, and only when nothing has arrived. PMIx waits 1 s for further events
// before it tells a process that mpirun is gone; meanwhile the output might get its name. A process
// alone needs no network: to look for one takes Open MPI 0.2 s.
void set_up_open_mpi() {
  for (const auto& [name, value] : {std::pair("OMPI_MCA_btl_tcp_eager_limit", "262144"),
                                    {"OMPI_MCA_btl_tcp_rndv_eager_limit", "262144"},
                                    {"OMPI_MCA_btl_tcp_max_send_size", "262144"},
                                    {"OMPI_MCA_btl_tcp_sndbuf", "65536"},
                                    {"OMPI_MCA_btl_tcp_rcvbuf", "65536"},
                                    {"OMPI_MCA_mpi_yield_when_idle", "0"},
                                    {"PMIX_MCA_pmix_event_caching_window", "0"}}) {
    ::setenv(name, value, 0);
  }
  const char* const count = std::getenv("OMPI_COMM_WORLD_SIZE");
  if (count == nullptr || std::string_view(count) != "1") return;
  ::setenv("OMPI_MCA_pml", "ob1", 0);
  ::setenv("OMPI_MCA_btl", "self", 0);
}

void check(int result, const char* operation) {
  if (result == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(result, text.data(), &length);
  throw Error(ErrorKind::kResource, operation,
              std::string(text.data(), static_cast<std::size_t>(length)))
      .hint("check the hosts and the network between them");
}

// With MPICH 4.0 over UCX, a process may wait in MPI_Finalize for ever, for others that are already
// done with it.
bool may_not_finalize() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return std::strstr(text.data(), "ch4:ucx") != nullptr;
}

// The process manager of MPICH: each line of a process gets a line as its answer (PMI-1).
class ProcessManager {
 public:
  ProcessManager() {
    if (const char* const number = std::getenv("PMI_FD")) fd_ = std::atoi(number);
  }
  [[nodiscard]] bool is_there() const { return fd_ > 0; }
  [[nodiscard]] bool tell(std::string_view line) const {
    return ::write(fd_, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  }
  [[nodiscard]] bool has_answered() const {
    pollfd answer{fd_, POLLIN, 0};
    return ::poll(&answer, 1, 0) != 0;
  }
  // Waits for the answer.
  [[nodiscard]] bool answers(std::string_view expected) const {
    std::string line;
    char next = 0;
    while (next != '\n') {
      if (::read(fd_, &next, 1) != 1) return false;
      line += next;
    }
    return line.starts_with(expected);
  }

 private:
  int fd_ = 0;
};

}  // namespace

struct MpiPeers::Impl {
  struct Sending {
    Message message;
    unsigned to = 0;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  // From one process.
  struct Inbox {
    std::uint32_t next = 0;
    std::map<std::uint32_t, Message> early;
  };

  unsigned rank = 0;
  unsigned count = 1;
  std::list<Sending> sending;
  std::vector<std::size_t> unsent;
  std::vector<std::uint32_t> next_numbers;  // of what is sent to each
  std::array<Message, kPosted> posted;
  std::array<MPI_Request, kPosted> requests{};
  std::vector<Inbox> inboxes;
  std::deque<Arrival> arrived;

  void post(std::size_t slot) {
    if (posted[slot].size() < kMostBytes) posted[slot].resize(kMostBytes);
    check(MPI_Irecv(posted[slot].data(), static_cast<int>(kMostBytes), MPI_BYTE, MPI_ANY_SOURCE,
                    kTag, MPI_COMM_WORLD, &requests[slot]),
          "receiving from other hosts");
  }

  void complete_receives() {
    std::array<int, kPosted> slots{};
    std::array<MPI_Status, kPosted> statuses{};
    int completed = 0;
    check(MPI_Testsome(kPosted, requests.data(), &completed, slots.data(), statuses.data()),
          "receiving from other hosts");
    for (int i = 0; i < completed; ++i) {
      const auto slot = static_cast<std::size_t>(slots[static_cast<std::size_t>(i)]);
      const MPI_Status& status = statuses[static_cast<std::size_t>(i)];
      int bytes = 0;
      check(MPI_Get_count(&status, MPI_BYTE, &bytes), "receiving from other hosts");
      Message message = take_posted(slot, static_cast<std::size_t>(bytes));
      post(slot);
      put_in_order(static_cast<unsigned>(status.MPI_SOURCE), std::move(message));
    }
  }

  // A short message is copied: its buffer stays, and need not be allocated and cleared again.
  Message take_posted(std::size_t slot, std::size_t bytes) {
    Message& room = posted[slot];
    if (bytes <= kMostBytes / 16) {
      const ConstByteSpan short_one = std::span(room).first(bytes);
      return {short_one.begin(), short_one.end()};
    }
    Message message = std::move(room);
    message.resize(bytes);
    return message;
  }

  void put_in_order(unsigned from, Message message) {
    std::uint32_t number = 0;
    if (message.size() < sizeof number) throw_malformed();
    const std::size_t size = message.size() - sizeof number;
    std::memcpy(&number, message.data() + size, sizeof number);
    message.resize(size);
    Inbox& inbox = inboxes[from];
    inbox.early.emplace(number, std::move(message));
    for (auto first = inbox.early.find(inbox.next); first != inbox.early.end();
         first = inbox.early.find(inbox.next)) {
      arrived.push_back({from, std::move(first->second)});
      inbox.early.erase(first);
      ++inbox.next;
    }
  }

  // Waits until all processes leave, and sends meanwhile what MPI may still hold.
  bool leaves_process_manager() {
    const ProcessManager manager;
    if (!manager.is_there() || !manager.tell("cmd=barrier_in\n")) return false;
    while (!manager.has_answered()) {
      int has_come = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &has_come, MPI_STATUS_IGNORE);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return manager.answers("cmd=barrier_out") && manager.tell("cmd=finalize\n") &&
           manager.answers("cmd=finalize_ack");
  }

  void complete_sends() {
    for (auto it = sending.begin(); it != sending.end();) {
      int is_done = 0;
      check(MPI_Test(&it->request, &is_done, MPI_STATUS_IGNORE), "sending to other hosts");
      if (is_done == 0) {
        ++it;
        continue;
      }
      --unsent[it->to];
      it = sending.erase(it);
    }
  }
};

MpiPeers::MpiPeers() : impl_(std::make_unique<Impl>()) {
  set_up_open_mpi();
  int provided = 0;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "starting MPI");
  if (provided < MPI_THREAD_FUNNELED) {
    throw Error(ErrorKind::kResource, "starting MPI", "it does not allow other threads")
        .hint("use a build of MPI with MPI_THREAD_FUNNELED");
  }
  check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "starting MPI");
  int rank = 0;
  int count = 0;
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "starting MPI");
  check(MPI_Comm_size(MPI_COMM_WORLD, &count), "starting MPI");
  impl_->rank = static_cast<unsigned>(rank);
  impl_->count = static_cast<unsigned>(count);
  impl_->unsent.assign(impl_->count, 0);
  impl_->next_numbers.assign(impl_->count, 0);
  impl_->inboxes.resize(impl_->count);
  impl_->requests.fill(MPI_REQUEST_NULL);
  for (std::size_t slot = 0; slot < kPosted && impl_->count > 1; ++slot) impl_->post(slot);
}

MpiPeers::~MpiPeers() = default;

std::string MpiPeers::host() const {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  check(MPI_Get_processor_name(name.data(), &length), "asking for the name of this host");
  return {name.data(), static_cast<std::size_t>(length)};
}

unsigned MpiPeers::rank() const {
  return impl_->rank;
}

unsigned MpiPeers::count() const {
  return impl_->count;
}

void MpiPeers::send(unsigned to, Message message) {
  Impl::Sending& sending = impl_->sending.emplace_back();
  sending.message = std::move(message);
  sending.to = to;
  const std::uint32_t number = impl_->next_numbers[to]++;
  const auto bytes = std::as_bytes(std::span(&number, 1));
  sending.message.insert(sending.message.end(), bytes.begin(), bytes.end());
  ++impl_->unsent[to];
  check(MPI_Isend(sending.message.data(), static_cast<int>(sending.message.size()), MPI_BYTE,
                  static_cast<int>(to), kTag, MPI_COMM_WORLD, &sending.request),
        "sending to other hosts");
}

std::size_t MpiPeers::unsent(unsigned to) const {
  return impl_->unsent[to];
}

std::optional<Arrival> MpiPeers::receive() {
  // Not for every message that has arrived: each test of a send costs as much as a receive.
  if (impl_->arrived.empty()) {
    impl_->complete_sends();
    if (impl_->count > 1) impl_->complete_receives();
  }
  if (impl_->arrived.empty()) return std::nullopt;
  Arrival arrival = std::move(impl_->arrived.front());
  impl_->arrived.pop_front();
  return arrival;
}

void MpiPeers::leave() {
  for (MPI_Request& request : impl_->requests) {
    if (request == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (!may_not_finalize() || !impl_->leaves_process_manager()) MPI_Finalize();
}

void MpiPeers::abort(int status) {
  std::signal(SIGALRM, SIG_DFL);
  ::alarm(kAbortSeconds);  // MPI may wait for hosts that are lost
  MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

}  // namespace gsort::cluster
