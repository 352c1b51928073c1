#include "pipeline/input/sorted_window.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/parallel.hpp"

namespace gsort {

SortedWindow::SortedWindow(SortedInput input, const ElementOrder& order, ByteSpan room)
    : input_(std::move(input)), order_(order), element_bytes_(order.element_bytes()), room_(room) {}

void SortedWindow::fill() {
  if (ended_ || end_ - begin_ > room_.size() / 2) return;
  std::memmove(room_.data(), room_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  while (!ended_ && room_.size() - end_ >= std::max(SortedInput::kLeastRead, element_bytes_)) {
    const std::size_t read = input_.read(room_.subspan(end_));
    end_ += read;
    ended_ = read == 0;
  }
}

ByteSpan SortedWindow::take_up_to(const std::byte* bound, bool equal_included) {
  std::size_t low = 0;
  std::size_t high = elements().size() / element_bytes_;
  if (bound == nullptr) low = high;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    const int compared = order_.compare(elements().data() + middle * element_bytes_, bound);
    if (compared < 0 || (compared == 0 && equal_included)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const ByteSpan taken = room_.subspan(begin_, low * element_bytes_);
  begin_ += taken.size();
  return taken;
}

WindowBound bound_of(std::span<const SortedWindow> windows, const ElementOrder& order) {
  WindowBound least;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (windows[i].ended()) continue;
    const std::byte* const last = windows[i].last();
    if (least.element == nullptr || order.compare(last, least.element) < 0) least = {last, i};
  }
  return least;
}

bool anything_left(std::span<const SortedWindow> windows) {
  return std::ranges::any_of(windows,
                             [](const SortedWindow& window) { return !window.elements().empty(); });
}

void fill_all(std::span<SortedWindow> windows, unsigned threads) {
  const auto workers = static_cast<unsigned>(std::min<std::size_t>(threads, windows.size()));
  for_each_number(workers, windows.size(),
                  [&](unsigned, std::size_t window) { windows[window].fill(); });
}

}  // namespace gsort
