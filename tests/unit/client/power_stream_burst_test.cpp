// Bursts of 10,000 events: every kind of reader gets each of them, in order.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <vector>

#include "client/detached.hpp"
#include "client/streaming_daemon.hpp"
#include "fakes/gated_sensor.hpp"
#include "wattle/power_stream.hpp"

namespace wattle::client_test {
namespace {

using fakes::eventually;

/// Powers that say their place in the order.
constexpr std::uint64_t kFirstMw = 1'000'000;
constexpr std::size_t kBurst = 10'000;

void send_burst(StreamingDaemon& daemon) {
  for (std::uint64_t i = 0; i < kBurst; ++i) daemon.send_gpu(i % 2, kFirstMw + i);
}

/// Watches that events come in order, each once.
struct Sequence {
  std::size_t count = 0;
  bool is_in_order = true;

  /// True while there are more to come.
  bool take(double power_w) {
    if (power_w < 1e-3 * kFirstMw) return true;  // from before the burst
    is_in_order &= std::abs(power_w - 1e-3 * static_cast<double>(kFirstMw + count)) < 1e-6;
    return ++count < kBurst;
  }
  bool take(const PowerSnapshot& view) {
    const auto& powers = view.begin()->second.gpu_power;
    return take(std::max(powers.at(0), powers.at(1)).si());
  }
};

#define EXPECT_WHOLE(sequence)         \
  EXPECT_EQ((sequence).count, kBurst); \
  EXPECT_TRUE((sequence).is_in_order)

// Weakness 6: updates that come while the consumer works are lost.
TEST(APowerStream, GivesABurstToEveryReaderInOrderByRangeFor) {
  StreamingDaemon daemon;
  PowerStream stream({daemon.server()});
  std::vector<std::future<Sequence>> readers;
  std::vector<PowerReader> made;
  for (int i = 0; i < 3; ++i) made.push_back(stream.reader());
  for (PowerReader& reader : made) {
    readers.push_back(std::async(std::launch::async, [&reader] {
      Sequence sequence;
      for (const PowerSnapshot& readings : reader) {
        if (!sequence.take(readings)) break;
      }
      return sequence;
    }));
  }
  send_burst(daemon);
  for (auto& reader : readers) {
    const Sequence sequence = reader.get();
    EXPECT_WHOLE(sequence);
  }
}

TEST(APowerStream, GivesABurstToEveryCoroutineInOrder) {
  StreamingDaemon daemon;
  std::array<Sequence, 3> sequences;
  std::array<std::atomic<bool>, 3> is_done{};
  PowerStream stream({daemon.server()});
  const auto follow = [](PowerReader reader, Sequence& sequence,
                         std::atomic<bool>& done) -> Detached {
    while (const PowerSnapshot* const readings = co_await reader.next()) {
      if (!sequence.take(*readings)) break;
    }
    done = true;
  };
  for (std::size_t i = 0; i < 3; ++i) follow(stream.reader(), sequences.at(i), is_done.at(i));
  send_burst(daemon);
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(eventually([&] { return is_done.at(i).load(); }));
    EXPECT_WHOLE(sequences.at(i));
  }
}

TEST(APowerStream, GivesABurstToTheCallbackInOrder) {
  StreamingDaemon daemon;
  Sequence sequence;
  std::atomic<bool> is_done = false;
  PowerStreamOptions options;
  options.on_update = [&](const PowerUpdate& update) {
    if (!is_done && !sequence.take(update.power.value().si())) is_done = true;
  };
  const PowerStream stream({daemon.server()}, options);
  send_burst(daemon);
  ASSERT_TRUE(eventually([&] { return is_done.load(); }));
  EXPECT_WHOLE(sequence);
}

TEST(APowerStream, LosesNothingToAReaderThatWorksMeanwhile) {
  StreamingDaemon daemon;
  PowerStream stream({daemon.server()});
  PowerReader reader = stream.reader();
  PowerReader other = stream.reader({.latest_only = true});
  send_burst(daemon);
  const double last_w = 1e-3 * static_cast<double>(kFirstMw + kBurst - 1);
  ASSERT_TRUE(eventually([&] {
    return stream.snapshot().begin()->second.gpu_power.at((kBurst - 1) % 2).si() == last_w;
  }));
  Sequence sequence;
  while (sequence.take(*reader.wait())) continue;
  EXPECT_WHOLE(sequence);
  EXPECT_EQ(reader.dropped(), 0U);
  EXPECT_EQ(other.wait()->begin()->second.gpu_power.at((kBurst - 1) % 2).si(), last_w);
  EXPECT_EQ(other.updates().size(), 2U) << "the newest of each device";
}

TEST(APowerStream, GivesAReaderThatIsTooSlowWhatIsStillTrue) {
  StreamingDaemon daemon;
  PowerStreamOptions options;
  options.queue_limit = 10;
  PowerStream stream({daemon.server()}, options);
  PowerReader reader = stream.reader();
  daemon.send_gpu(1, 777'000);
  for (std::uint64_t i = 0; i < 100; ++i) daemon.send_gpu(0, kFirstMw + i);
  ASSERT_TRUE(eventually(
      [&] { return stream.snapshot().begin()->second.gpu_power.at(0).si() == 1000.099; }));
  const PowerSnapshot* const view = reader.wait();
  EXPECT_EQ(view->begin()->second.gpu_power.at(1).si(), 777.0)
      << "which was dropped from the queue";
  EXPECT_EQ(view->begin()->second.gpu_power.at(0).si(), 1000.090);
  EXPECT_GE(reader.dropped(), 91U);
  for (int i = 91; i < 100; ++i) {
    EXPECT_NEAR(reader.wait()->begin()->second.gpu_power.at(0).si(), 1000.0 + 1e-3 * i, 1e-9);
  }
}

/// Reads with `step` until the burst is over, in a thread of its own.
template <class Step>
std::future<Sequence> read_in_thread(Step step) {
  return std::async(std::launch::async, [step = std::move(step)]() mutable {
    Sequence sequence;
    while (const PowerSnapshot* const readings = step()) {
      if (!sequence.take(*readings)) break;
    }
    return sequence;
  });
}

TEST(APowerStream, GivesABurstInOrderToReadersOfAllStylesBesideEachOther) {
  StreamingDaemon daemon;
  struct Told {
    Sequence sequence;
    std::atomic<bool> is_done = false;
  };
  Told called;
  Told awaited;
  Told awaited_next;
  PowerStreamOptions options;
  options.on_update = [&](const PowerUpdate& update) {
    if (!called.is_done && !called.sequence.take(update.power.value().si())) called.is_done = true;
  };
  PowerStream stream({daemon.server()}, options);

  PowerReader waiting = stream.reader();
  PowerReader polling = stream.reader();
  PowerReader iterated = stream.reader();
  std::vector<std::future<Sequence>> threads;
  threads.push_back(read_in_thread([&] { return waiting.wait(); }));
  threads.push_back(read_in_thread([&] {
    const PowerSnapshot* readings = nullptr;
    while (readings == nullptr && !polling.has_ended()) {
      readings = polling.wait_until(TimePoint::clock::now() + std::chrono::milliseconds(1));
    }
    return readings;
  }));
  threads.push_back(std::async(std::launch::async, [&] {
    Sequence sequence;
    for (const PowerSnapshot& readings : iterated) {
      if (!sequence.take(readings)) break;
    }
    return sequence;
  }));
  const auto follow = [](PowerReader reader, Told& told) -> Detached {
    while (const PowerSnapshot* const readings = co_await reader.next()) {
      if (told.sequence.take(*readings)) continue;
      told.is_done = true;
      break;
    }
  };
  const auto follow_stream = [](PowerStream& from, Told& told) -> Detached {
    while (const PowerSnapshot* const readings = co_await from.next()) {
      if (told.sequence.take(*readings)) continue;
      told.is_done = true;
      break;
    }
  };
  follow(stream.reader(), awaited);
  follow_stream(stream, awaited_next);

  send_burst(daemon);
  for (auto& thread : threads) {
    const Sequence sequence = thread.get();
    EXPECT_WHOLE(sequence);
  }
  for (const Told* told : {&called, &awaited, &awaited_next}) {
    ASSERT_TRUE(eventually([&] { return told->is_done.load(); }));
    EXPECT_WHOLE(told->sequence);
  }
}

TEST(APowerStream, GivesABurstInOrderToCoroutinesThatAnExecutorResumes) {
  StreamingDaemon daemon;
  std::mutex mutex;
  std::deque<std::function<void()>> work;
  PowerStreamOptions options;
  options.executor = [&](std::function<void()> what) {
    const std::scoped_lock lock(mutex);
    work.push_back(std::move(what));
  };
  PowerStream stream({daemon.server()}, options);
  std::array<Sequence, 2> sequences;
  std::size_t left = sequences.size();
  const auto follow = [&left](PowerReader reader, Sequence& sequence) -> Detached {
    while (const PowerSnapshot* const readings = co_await reader.next()) {
      if (!sequence.take(*readings)) break;
    }
    --left;
  };
  for (Sequence& sequence : sequences) follow(stream.reader(), sequence);
  send_burst(daemon);
  ASSERT_TRUE(eventually([&] {
    for (;;) {
      std::function<void()> next;
      {
        const std::scoped_lock lock(mutex);
        if (work.empty()) return left == 0;
        next = std::move(work.front());
        work.pop_front();
      }
      next();
    }
  }));
  for (const Sequence& sequence : sequences) {
    EXPECT_WHOLE(sequence);
  }
}

// Two servers at once: each server's events stay in order, and none is another's.
TEST(APowerStream, GivesTheBurstsOfSeveralServersToOneReader) {
  std::array<StreamingDaemon, 2> daemons;
  PowerStream stream({daemons[0].server(), daemons[1].server()});
  PowerReader reader = stream.reader();
  std::array<Sequence, 2> sequences;
  std::array<bool, 2> has_more = {true, true};
  for (StreamingDaemon& daemon : daemons) send_burst(daemon);
  while (has_more[0] || has_more[1]) {
    ASSERT_NE(reader.wait(), nullptr);
    for (const PowerUpdate& update : reader.updates()) {
      has_more.at(update.server) = sequences.at(update.server).take(update.power.value().si());
    }
  }
  for (const Sequence& sequence : sequences) {
    EXPECT_WHOLE(sequence);
  }
  EXPECT_EQ(reader.dropped(), 0U);
}

}  // namespace
}  // namespace wattle::client_test
