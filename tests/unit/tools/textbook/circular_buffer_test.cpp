// The circular buffer's index arithmetic: every capacity, start and consumption, against a
// std::deque.
#include "bench/textbook/circular_buffer.hpp"

#include <deque>
#include <vector>

#include <gtest/gtest.h>

namespace gsort::textbook {
namespace {

TEST(TextbookCircularBuffer, PlacesEveryIndexInTheBuffer) {
  for (unsigned capacity = 1; capacity <= 9; ++capacity) {
    for (unsigned start = 0; start < capacity; ++start) {
      for (unsigned index = 0; index <= capacity; ++index) {
        EXPECT_EQ(circular_place(start, index, capacity), (start + index) % capacity);
      }
    }
  }
}

// A window over 0, 1, 2, ... `count` - 1, filled and consumed as the kernel does it.
class Window {
 public:
  Window(unsigned capacity, unsigned count) : words_(capacity, 0xdead), count_(count) { refill(); }

  void refill() {
    const auto capacity = static_cast<unsigned>(words_.size());
    const unsigned first = circular_place(start_, loaded_, capacity);
    for (unsigned i = 0; loaded_ < capacity && next_ < count_; ++i, ++loaded_, ++next_) {
      unsigned& word = words_[circular_place(first, i, capacity)];
      EXPECT_EQ(word, 0xdeadU) << "a word that is still in the window was overwritten";
      word = next_;
      expected_.push_back(next_);
    }
  }
  void consume(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      words_[circular_place(start_, i, capacity())] = 0xdead;
      expected_.pop_front();
    }
    start_ = circular_place(start_, count, capacity());
    loaded_ -= count;
  }
  void expect_right() const {
    const CircularView<const unsigned*> view{words_.data(), start_, capacity()};
    ASSERT_EQ(expected_.size(), loaded_);
    for (unsigned i = 0; i < loaded_; ++i) {
      EXPECT_EQ(view[i], expected_[i]);
      EXPECT_EQ(view.from(i)[0], expected_[i]);
    }
  }
  [[nodiscard]] unsigned loaded() const { return loaded_; }

 private:
  [[nodiscard]] unsigned capacity() const { return static_cast<unsigned>(words_.size()); }

  std::vector<unsigned> words_;
  std::deque<unsigned> expected_;
  unsigned count_;
  unsigned next_ = 0;
  unsigned start_ = 0;
  unsigned loaded_ = 0;
};

// All sequences of consumptions, one after the other.
void expect_right_from(const Window& window) {
  window.expect_right();
  for (unsigned consumed = 1; consumed <= window.loaded(); ++consumed) {
    Window next = window;
    next.consume(consumed);
    next.refill();
    expect_right_from(next);
  }
}

TEST(TextbookCircularBuffer, ReadsAsTheWindowItIsForEverySequenceOfConsumptions) {
  for (unsigned capacity = 1; capacity <= 4; ++capacity) {
    for (unsigned count = 0; count <= 11; ++count) expect_right_from(Window(capacity, count));
  }
}

}  // namespace
}  // namespace gsort::textbook
