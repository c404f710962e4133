// What a stream costs for each event: no allocation. A program of its own: it counts every
// allocation of the process.
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "client/detached.hpp"
#include "client/streaming_daemon.hpp"
#include "counted_allocations.hpp"
#include "fakes/gated_sensor.hpp"
#include "sanitized.hpp"
#include "wattle/power_stream.hpp"

namespace wattle::client_test {
namespace {

/// The allocations of the whole process during `updates` updates, seen from the callback: a
/// thousand at a time. Requests once per second allocate, so on a slow machine no thousand may be
/// without.
struct Count {
  static constexpr int kFirst = 2000;
  static constexpr int kStep = 1000;
  static constexpr int kSteps = 10;
  static constexpr int kLast = kFirst + kSteps * kStep;
  std::atomic<bool> is_ready = false;  ///< all that reads is there
  std::atomic<int> updates = 0;
  std::atomic<int> steps_without = 0;  ///< of the `kSteps`

  void take() {
    if (!is_ready) return;
    const int count = ++updates;
    if (count < kFirst || count > kLast || count % kStep != 0) return;
    const std::uint64_t now = allocations();
    if (count > kFirst && now == before_) ++steps_without;
    before_ = now;
  }

 private:
  std::uint64_t before_ = 0;  ///< of the thread that takes
};

class StreamAllocations : public testing::Test {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "the sanitizer's own allocator is in the way of counting";
    // Without end, and without allocating anything itself.
    daemon_.on("/gpu/stream_power", [](const auto&, auto& peer) {
      peer.close();
      std::string events;
      for (std::uint64_t i = 0; i < 8; ++i) {
        events += wire::event(wire::encode_event(StreamingDaemon::now_ms(), i % 2, 1000 + i));
      }
      const std::string bytes = fakes::http_chunk(events);
      if (!peer.send(fakes::http_stream_head())) return;
      while (peer.send(bytes)) continue;
    });
  }

  StreamingDaemon daemon_;
};

TEST_F(StreamAllocations, AreNoneForAnEventThatIsCalledBackAndRead) {
  Count count;
  PowerStreamOptions options;
  options.on_update = [&](const PowerUpdate&) { count.take(); };
  options.queue_limit = 64;  // it overflows, too
  PowerStream stream({daemon_.server()}, options);
  PowerReader reader = stream.reader();
  count.is_ready = true;
  while (count.updates < Count::kLast) ASSERT_NE(reader.wait(), nullptr);
  EXPECT_GE(count.steps_without, Count::kSteps - 1);
}

TEST_F(StreamAllocations, AreNoneForAnEventThatACoroutineWaitsFor) {
  Count count;
  std::atomic<bool> is_done = false;
  PowerStream stream({daemon_.server()});
  count.is_ready = true;
  const auto follow = [&](PowerReader reader) -> Detached {
    while (co_await reader.next() != nullptr) {
      for (std::size_t i = 0; i < reader.updates().size(); ++i) count.take();
      if (count.updates > Count::kLast) break;
    }
    is_done = true;
  };
  follow(stream.reader());
  ASSERT_TRUE(fakes::eventually([&] { return is_done.load(); }));
  EXPECT_GE(count.steps_without, Count::kSteps - 1);
}

}  // namespace
}  // namespace wattle::client_test
