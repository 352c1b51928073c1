#include "cluster/exchange.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <numeric>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "cluster/frame.hpp"
#include "cluster/workers.hpp"

namespace gsort::cluster {
namespace {

// Frames on the way to one receiver, at least, and to all together.
constexpr std::size_t kLeastFrames = 2;
constexpr std::size_t kMostFrames = 8;

Error damaged(const std::string& sender, const char* reason) {
  return Error(ErrorKind::kCorrupt, "receiving from " + sender, reason).hint(kDamagedMessageHint);
}

// A part that a receiver has asked for. The frames up to `begin` in the slice of `run` have been
// made; that run and the later ones are left.
struct Request {
  std::uint64_t part;
  std::size_t run = 0;
  std::uint64_t begin = 0;
};

// This process as a sender, to one other.
struct Outbox {
  std::deque<Request> requests;
  std::vector<bool> asked;        // by part of the receiver
  std::size_t in_work = 0;        // frames that are being made
  std::uint32_t next_number = 0;  // of a frame
  std::uint64_t left = 0;         // elements that it must get yet
};

// This process as a receiver, from one other.
struct Inbox {
  std::uint64_t runs = 0;             // of the sender
  std::vector<std::uint64_t> counts;  // part by part, run by run
  std::uint32_t next_number = 0;
};

// A lane with a part in the making.
struct Filling {
  bool is_open = false;
  std::uint64_t part = 0;                // of all parts
  std::vector<std::uint64_t> counts;     // of each slice: all runs of rank 0, then of rank 1, ...
  std::vector<std::uint64_t> in_order;   // the same in the order in which they are merged
  std::vector<std::uint64_t> positions;  // where they begin in the lane's input, in elements
  std::uint64_t missing = 0;             // elements that are not in their places
  std::uint64_t awaited = 0;             // those of them that have not been received
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

class Exchange {
 public:
  Exchange(Team& team, const ExchangeContext& context, PieceSink& sink, Statistics& own)
      : team_(team),
        context_(context),
        sink_(sink),
        outboxes_(team.count()),
        inboxes_(team.count()),
        fillings_(context.lanes.size()),
        frame_elements_(frame_elements(
            std::min<std::uint64_t>(kMostFrameBytes, team.most_payload_bytes() - kFrameHeadBytes),
            context.element_bytes)),
        own_(own),
        workers_(context.scratch, static_cast<unsigned>(context.lanes.size())) {}

  void run() {
    share_counts();
    while (!is_done()) {
      // Each may be a frame, which then is in the backlog.
      team_.step(std::min(context_.backlog - backlog_, Team::kMostMessagesAStep));
      bool moved = false;
      while (auto arrival = team_.take()) moved = receive(std::move(*arrival)) || moved;
      while (auto completion = workers_.finished()) {
        (*completion)();
        moved = true;
      }
      moved = open_parts() || moved;
      moved = make_frames() || moved;
      if (moved) {
        team_.rested();
      } else {
        const auto begin = std::chrono::steady_clock::now();
        team_.pause();
        if (!workers_.is_busy()) own_.waiting_seconds += seconds_since(begin);
      }
    }
    team_.meet();
  }

  void abandon() noexcept { sink_.abandon(); }

 private:
  [[nodiscard]] unsigned me() const { return team_.rank(); }
  [[nodiscard]] std::uint64_t parts_here() const { return context_.parts.parts(me()); }
  [[nodiscard]] std::size_t runs_here() const { return context_.runs.fences.size(); }

  // Elements of a run of this process in a part of any process.
  [[nodiscard]] std::uint64_t slice(std::uint64_t part, std::size_t run) const {
    return context_.cuts[part + 1][run] - context_.cuts[part][run];
  }

  [[nodiscard]] bool is_done() const {
    // All counts, also where there is nothing to merge: what is left would reach a later exchange.
    if (counted_ < team_.count() || merged_ < parts_here()) return false;
    for (unsigned to = 0; to < team_.count(); ++to) {
      if (to == me()) continue;
      if (outboxes_[to].left > 0 || outboxes_[to].in_work > 0 || team_.unsent(to) > 0) return false;
    }
    return true;
  }

  // How many elements this process has for each part of another, run by run, and how many runs.
  void share_counts() {
    const std::size_t most = team_.most_payload_bytes() / sizeof(std::uint64_t);
    for (unsigned to = 0; to < team_.count(); ++to) {
      Outbox& outbox = outboxes_[to];
      outbox.asked.assign(context_.parts.parts(to), false);
      std::vector<std::uint64_t> counts{runs_here()};
      for (std::uint64_t part = 0; part < context_.parts.parts(to); ++part) {
        for (std::size_t run = 0; run < runs_here(); ++run) {
          counts.push_back(slice(context_.parts.first(to) + part, run));
          outbox.left += counts.back();
        }
      }
      if (to == me()) {
        outbox.left = 0;
        take_counts(me(), counts);
        continue;
      }
      for (std::size_t at = 0; at < counts.size(); at += most) {
        const auto some = std::span(counts).subspan(at, std::min(most, counts.size() - at));
        MessageWriter writer({MessageKind::kCounts});
        writer.put_bytes(std::as_bytes(some));
        team_.send(to, writer.take());
      }
    }
  }

  void take_counts(unsigned from, std::span<const std::uint64_t> counts) {
    Inbox& inbox = inboxes_[from];
    const bool is_first = inbox.counts.empty() && !inbox_begun_[from];
    inbox_begun_[from] = true;
    if (is_first) {
      if (counts.empty()) throw_malformed();
      inbox.runs = counts.front();
      counts = counts.subspan(1);
    }
    inbox.counts.insert(inbox.counts.end(), counts.begin(), counts.end());
    const std::uint64_t wanted = checked_product(inbox.runs, parts_here());
    if (inbox.counts.size() > wanted) throw damaged(team_.name_of(from), "it sent too many counts");
    if (inbox.counts.size() == wanted) ++counted_;
    if (counted_ == team_.count()) require_counts();
  }

  // Throws unless the slices of all processes are the part.
  void require_counts() const {
    for (std::uint64_t part = 0; part < parts_here(); ++part) {
      std::uint64_t total = 0;
      for (const Inbox& inbox : inboxes_) {
        const auto begin = inbox.counts.begin() + static_cast<std::ptrdiff_t>(part * inbox.runs);
        total = std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(inbox.runs), total,
                                capped_sum);
      }
      if (total == context_.parts.elements(context_.parts.first(me()) + part)) continue;
      throw Error(ErrorKind::kCorrupt, "collecting the slices of a part",
                  "their counts do not add up")
          .hint(kDamagedMessageHint);
    }
  }

  bool receive(Arrival arrival) {
    MessageReader reader(arrival.message);
    const auto envelope = reader.take<Envelope>();
    switch (envelope.kind) {
      case MessageKind::kCounts:
        take_counts(arrival.from, reader.take_rest<std::uint64_t>());
        return true;
      case MessageKind::kCredit:
        take_credit(arrival.from, reader.take<std::uint64_t>());
        return true;
      case MessageKind::kFrame:
        take_frame(std::move(arrival), envelope.number);
        return true;
      default:
        throw_malformed();
    }
  }

  void take_credit(unsigned from, std::uint64_t part) {
    Outbox& outbox = outboxes_[from];
    const std::uint64_t number = part - context_.parts.first(from);
    if (number >= outbox.asked.size() || outbox.asked[number]) {
      throw damaged(team_.name_of(from), "it asked for a part of another host, or twice for one");
    }
    outbox.asked[number] = true;
    outbox.requests.push_back({part});
  }

  // Checks what the frame says and has it unpacked to its place.
  void take_frame(Arrival arrival, std::uint32_t number) {
    const std::string sender = team_.name_of(arrival.from);
    if (number != inboxes_[arrival.from].next_number++) {
      throw damaged(sender, "a frame was lost or arrived twice");
    }
    auto message = std::make_shared<Message>(std::move(arrival.message));
    const FramePlace place = Frame(*message).place();
    Filling* const filling = filling_of(place.part);
    const std::uint64_t slice_number = first_slice(arrival.from) + place.run;
    if (filling == nullptr || place.run >= inboxes_[arrival.from].runs ||
        place.begin > filling->counts[slice_number] ||
        place.count > filling->counts[slice_number] - place.begin ||
        place.count > filling->awaited || place.count == 0) {
      throw damaged(sender, "a frame has a place that was not asked for");
    }
    filling->awaited -= place.count;
    const ByteSpan out = place_in(*filling, slice_number, place.begin, place.count);
    ++backlog_;
    workers_.load([this, message, sender, out, filling, count = place.count](ByteSpan) {
      try {
        Frame(*message).unpack(context_.element_bytes, out);
      } catch (const Error&) {
        throw damaged(sender, "a frame is damaged");
      }
      return [this, filling, count] {
        --backlog_;
        has_arrived(*filling, count);
      };
    });
  }

  [[nodiscard]] Filling* filling_of(std::uint64_t part) {
    const auto found = std::ranges::find_if(
        fillings_, [&](const Filling& f) { return f.is_open && f.part == part; });
    return found == fillings_.end() ? nullptr : &*found;
  }

  [[nodiscard]] std::uint64_t first_slice(unsigned rank) const {
    std::uint64_t runs = 0;
    for (unsigned other = 0; other < rank; ++other) runs += inboxes_[other].runs;
    return runs;
  }

  [[nodiscard]] ByteSpan place_in(const Filling& filling, std::uint64_t slice_number,
                                  std::uint64_t begin, std::uint64_t count) const {
    const auto lane = static_cast<std::size_t>(&filling - fillings_.data());
    return context_.lanes[lane]->input().subspan(
        (filling.positions[slice_number] + begin) * context_.element_bytes,
        count * context_.element_bytes);
  }

  // Every free lane takes a part.
  bool open_parts() {
    bool opened = false;
    for (Filling& filling : fillings_) {
      if (filling.is_open || counted_ < team_.count() || next_turn_ == parts_here()) continue;
      const std::uint64_t turn = next_turn_++;
      open(filling, context_.in_order ? turn : context_.parts.in_turn(me(), turn));
      opened = true;
    }
    return opened;
  }

  void open(Filling& filling, std::uint64_t number) {
    filling.is_open = true;
    filling.part = context_.parts.first(me()) + number;
    filling.counts.clear();
    filling.in_order.clear();
    filling.missing = 0;
    filling.awaited = 0;
    for (const Inbox& inbox : inboxes_) {
      for (std::uint64_t run = 0; run < inbox.runs; ++run) {
        filling.counts.push_back(inbox.counts[number * inbox.runs + run]);
      }
    }
    filling.positions.resize(filling.counts.size());
    for (std::size_t place = 0; place < filling.counts.size(); ++place) {
      const std::uint64_t slice_number = context_.order.empty() ? place : context_.order[place];
      filling.positions[slice_number] = filling.missing;
      filling.in_order.push_back(filling.counts[slice_number]);
      filling.missing += filling.in_order.back();
    }
    for (unsigned from = 0; from < team_.count(); ++from) ask_for(filling, from);
  }

  void ask_for(Filling& filling, unsigned from) {
    const std::uint64_t first = first_slice(from);
    if (from != me()) {
      const auto begin = filling.counts.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end = begin + static_cast<std::ptrdiff_t>(inboxes_[from].runs);
      const std::uint64_t count = std::accumulate(begin, end, std::uint64_t{0});
      if (count == 0) return;
      filling.awaited += count;
      MessageWriter writer({MessageKind::kCredit});
      writer.put(filling.part);
      team_.send(from, writer.take());
      return;
    }
    for (std::size_t run = 0; run < runs_here(); ++run) {
      if (filling.counts[first + run] > 0) load_own(filling, run, first + run);
    }
  }

  void load_own(Filling& filling, std::size_t run, std::uint64_t slice_number) {
    const std::uint64_t begin = context_.cuts[filling.part][run];
    const std::uint64_t count = filling.counts[slice_number];
    const ByteSpan out = place_in(filling, slice_number, 0, count);
    own_.own_bytes += out.size();
    workers_.load([this, run, begin, count, out, &filling](ByteSpan scratch) {
      Span span(context_.meter, Stage::kLoad);
      span.add_bytes(out.size());
      context_.runs.read(run, begin, begin + count, out, scratch);
      return [this, &filling, count] { has_arrived(filling, count); };
    });
  }

  void has_arrived(Filling& filling, std::uint64_t count) {
    filling.missing -= count;
    if (filling.missing > 0) return;
    workers_.merge([this, &filling](ByteSpan) {
      const auto lane = static_cast<std::size_t>(&filling - fillings_.data());
      const std::uint64_t position = context_.parts.borders()[filling.part];
      Span span(context_.meter, Stage::kMerge);
      span.add_bytes(context_.parts.elements(filling.part) * context_.element_bytes);
      context_.lanes[lane]->merge(filling.in_order, position, KeyForm::kRaw, sink_);
      return [this, &filling] {
        filling.is_open = false;
        ++merged_;
      };
    });
  }

  // Frames for every receiver in turn, from the one to the right on.
  bool make_frames() {
    bool made = false;
    const std::size_t most =
        std::max<std::size_t>(kLeastFrames, kMostFrames / std::max(team_.count() - 1, 1U));
    for (unsigned distance = 1; distance < team_.count(); ++distance) {
      const unsigned to = (me() + distance) % team_.count();
      Outbox& outbox = outboxes_[to];
      while (!outbox.requests.empty() && outbox.in_work + team_.unsent(to) < most) {
        if (const auto place = next_place(outbox)) make_frame_of(*place, to);
        made = true;
      }
    }
    return made;
  }

  // The next frame of the oldest request; none when it has all.
  std::optional<FramePlace> next_place(Outbox& outbox) const {
    Request& request = outbox.requests.front();
    while (request.run < runs_here() && request.begin == slice(request.part, request.run)) {
      ++request.run;
      request.begin = 0;
    }
    if (request.run == runs_here()) {
      outbox.requests.pop_front();
      return std::nullopt;
    }
    const std::uint64_t left = slice(request.part, request.run) - request.begin;
    const std::uint64_t begin = context_.cuts[request.part][request.run] + request.begin;
    const std::uint64_t count = left <= frame_elements_ ? left : up_to_a_block(request.run, begin);
    const FramePlace place{request.part, request.run, request.begin, count};
    request.begin += count;
    return place;
  }

  // How many elements a frame takes from `begin` on. It ends where a block begins, if possible:
  // otherwise two frames would read that block. Without this, and with blocks of 64 KiB, frames
  // read up to 1.5 times as many bytes as they sent.
  [[nodiscard]] std::uint64_t up_to_a_block(std::size_t run, std::uint64_t begin) const {
    const io::RunFences& fences = context_.runs.fences[run];
    const std::uint64_t end = begin + frame_elements_;
    const std::uint64_t border = fences.first_position(fences.block_of(end));
    return (border > begin ? border : end) - begin;
  }

  void make_frame_of(const FramePlace& place, unsigned to) {
    ++outboxes_[to].in_work;
    workers_.load([this, place, to](ByteSpan scratch) {
      const std::uint64_t begin = context_.cuts[place.part][place.run] + place.begin;
      const std::uint64_t room =
          round_up(frame_elements_ * context_.element_bytes, std::uint64_t{kBufferAlignment});
      const ByteSpan elements = scratch.first(place.count * context_.element_bytes);
      Span span(context_.meter, Stage::kLoad);
      span.add_bytes(elements.size());
      context_.runs.read(place.run, begin, begin + place.count, elements, scratch.subspan(room));
      auto frame = std::make_shared<Message>(
          make_frame(place, elements, context_.element_bytes, context_.packs));
      return [this, frame, to, count = place.count] { send(to, std::move(*frame), count); };
    });
  }

  void send(unsigned to, Message frame, std::uint64_t count) {
    Outbox& outbox = outboxes_[to];
    ++own_.sent_frames;
    own_.sent_frame_bytes += frame.size();
    own_.sent_bytes += count * context_.element_bytes;
    number_frame(frame, outbox.next_number++);
    team_.send(to, std::move(frame));
    --outbox.in_work;
    outbox.left -= count;
  }

  Team& team_;
  const ExchangeContext& context_;
  PieceSink& sink_;
  std::vector<Outbox> outboxes_;
  std::vector<Inbox> inboxes_;
  std::vector<bool> inbox_begun_ = std::vector<bool>(outboxes_.size(), false);
  std::vector<Filling> fillings_;
  std::uint64_t frame_elements_;
  unsigned counted_ = 0;         // processes whose counts have all arrived
  std::uint64_t next_turn_ = 0;  // of the parts here
  std::uint64_t merged_ = 0;     // parts
  std::size_t backlog_ = 0;
  Statistics& own_;
  Workers workers_;  // last: its threads end before the rest goes
};

}  // namespace

RunsToExchange runs_to_exchange(std::span<const io::Run> runs) {
  RunsToExchange all;
  for (const io::Run& run : runs) all.fences.push_back(run.fences());
  all.read = [runs](std::size_t run, auto begin, auto end, ByteSpan out, ByteSpan scratch) {
    runs[run].read_range(begin, end, out, scratch);
  };
  return all;
}

std::uint64_t exchange_scratch_bytes(std::uint64_t run_scratch_bytes, std::uint64_t element_bytes) {
  const std::uint64_t frame_bytes = frame_elements(kMostFrameBytes, element_bytes) * element_bytes;
  return round_up(frame_bytes, std::uint64_t{kBufferAlignment}) +
         round_up(run_scratch_bytes, std::uint64_t{kBufferAlignment});
}

void exchange(Team& team, const ExchangeContext& context, PieceSink& sink, Statistics& own) {
  Exchange exchange(team, context, sink, own);
  try {
    exchange.run();
  } catch (...) {
    exchange.abandon();
    throw;
  }
}

}  // namespace gsort::cluster
