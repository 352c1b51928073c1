// Messages are sent by MPI_Isend from the vectors that hold them. Several receives are posted: MPI
// matches messages in the order in which they were posted, so the first one that was posted has the
// next message of whoever it is from.
#include "cluster/mpi_peers.hpp"

#include <array>
#include <cstdlib>
#include <deque>
#include <list>
#include <vector>

#include <mpi.h>

#include "base/error.hpp"

namespace gsort::cluster {
namespace {

constexpr std::size_t kPosted = 16;
constexpr int kTag = 0;

// Open MPI's answers to long messages wait behind bulk data on the same socket: below its eager
// limit there are none.
void prefer_eager_frames() {
  for (const auto& [name, value] : {std::pair("OMPI_MCA_btl_tcp_eager_limit", "262144"),
                                    {"OMPI_MCA_btl_tcp_rndv_eager_limit", "262144"},
                                    {"OMPI_MCA_btl_tcp_max_send_size", "262144"},
                                    {"OMPI_MCA_btl_tcp_sndbuf", "65536"},
                                    {"OMPI_MCA_btl_tcp_rcvbuf", "65536"}}) {
    ::setenv(name, value, 0);
  }
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

}  // namespace

struct MpiPeers::Impl {
  struct Sending {
    Message message;
    unsigned to = 0;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Receiving {
    Message message;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  unsigned rank = 0;
  unsigned count = 1;
  std::list<Sending> sending;
  std::vector<std::size_t> unsent;
  std::deque<Receiving> receiving;

  void post() {
    Receiving& next = receiving.emplace_back();
    next.message.resize(Peers::kMostMessageBytes);
    check(MPI_Irecv(next.message.data(), static_cast<int>(next.message.size()), MPI_BYTE,
                    MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &next.request),
          "receiving from other hosts");
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
  prefer_eager_frames();
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
  for (std::size_t i = 0; i < kPosted && impl_->count > 1; ++i) impl_->post();
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
  ++impl_->unsent[to];
  check(MPI_Isend(sending.message.data(), static_cast<int>(sending.message.size()), MPI_BYTE,
                  static_cast<int>(to), kTag, MPI_COMM_WORLD, &sending.request),
        "sending to other hosts");
}

std::size_t MpiPeers::unsent(unsigned to) const {
  return impl_->unsent[to];
}

std::optional<Arrival> MpiPeers::receive() {
  impl_->complete_sends();
  if (impl_->receiving.empty()) return std::nullopt;
  int has_arrived = 0;
  MPI_Status status;
  check(MPI_Test(&impl_->receiving.front().request, &has_arrived, &status),
        "receiving from other hosts");
  if (has_arrived == 0) return std::nullopt;
  int bytes = 0;
  check(MPI_Get_count(&status, MPI_BYTE, &bytes), "receiving from other hosts");
  Arrival arrival{static_cast<unsigned>(status.MPI_SOURCE),
                  std::move(impl_->receiving.front().message)};
  arrival.message.resize(static_cast<std::size_t>(bytes));
  impl_->receiving.pop_front();
  impl_->post();
  return arrival;
}

void MpiPeers::leave() {
  for (Impl::Receiving& receiving : impl_->receiving) {
    MPI_Cancel(&receiving.request);
    MPI_Wait(&receiving.request, MPI_STATUS_IGNORE);
  }
  impl_->receiving.clear();
  MPI_Finalize();
}

void MpiPeers::abort(int status) {
  MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

}  // namespace gsort::cluster
