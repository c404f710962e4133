#include "http/stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wattle::daemon {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using wire::StreamFormat;

constexpr TimePoint kNow{std::chrono::hours(1)};

class StreamListener final : public Subscriber {
 public:
  ~StreamListener() override { Stream::unsubscribe(*this); }
  void deliver(const Frame& frame) override { frames.push_back(frame); }
  /// Returns the delivered frames, and forgets them.
  std::vector<std::string> told() {
    std::vector<std::string> texts;
    for (const Frame& frame : frames) texts.push_back(*frame);
    frames.clear();
    return texts;
  }
  std::vector<Frame> frames;
};

PowerChange update(wire::DeviceId id, std::uint64_t mw, wire::UnixMs at = 1000) {
  return {.id = id, .timestamp_ms = at, .power_mw = mw};
}
PowerChange loss(wire::DeviceId id) { return {.id = id, .reason = "it is lost"}; }

std::string gpu_chunk(wire::DeviceId id, std::uint64_t mw, wire::UnixMs at = 1000) {
  return chunk("data: {\"timestamp_ms\":" + std::to_string(at) + ",\"gpu_id\":" +
               std::to_string(id) + ",\"power_mw\":" + std::to_string(mw) + "}\n\n");
}

TEST(Chunk, HasItsLengthInFront) {
  EXPECT_EQ(chunk("0123456789abcdef\n"), "11\r\n0123456789abcdef\n\r\n");
}

class PerDevice : public testing::Test {
 protected:
  Stream stream_{DeviceType::gpu, StreamFormat::per_device};
  StreamListener all_;
  StreamListener second_;
};

TEST_F(PerDevice, GivesEachWhatItAskedFor) {
  stream_.subscribe(all_, {0, 1});
  stream_.subscribe(second_, {1});
  stream_.publish({update(0, 10), update(1, 20)}, kNow);
  EXPECT_THAT(all_.told(), ElementsAre(gpu_chunk(0, 10) + gpu_chunk(1, 20)));
  EXPECT_THAT(second_.told(), ElementsAre(gpu_chunk(1, 20)));
}

TEST_F(PerDevice, EncodesOnceForAllWhoAskedForTheSame) {
  stream_.subscribe(all_, {0, 1});
  stream_.subscribe(second_, {0, 1});
  stream_.publish({update(0, 10)}, kNow);
  ASSERT_EQ(all_.frames.size(), 1U);
  EXPECT_EQ(all_.frames, second_.frames);
}

TEST_F(PerDevice, ReportsNothingThatDidNotChange) {
  stream_.subscribe(all_, {0, 1});
  stream_.publish({update(0, 10), update(1, 20)}, kNow);
  (void)all_.told();
  stream_.publish({update(0, 10, 2000), update(1, 21, 2000)}, kNow);
  EXPECT_THAT(all_.told(), ElementsAre(gpu_chunk(1, 21, 2000)));
}

TEST_F(PerDevice, GivesALateSubscriberTheNewestValues) {
  stream_.subscribe(all_, {0, 1});
  stream_.publish({update(0, 10), update(1, 20)}, kNow);
  stream_.subscribe(second_, {1});
  EXPECT_THAT(second_.told(), ElementsAre(gpu_chunk(1, 20)));
}

TEST_F(PerDevice, ForgetsAValueThatNobodyAskedForAnyMore) {
  stream_.subscribe(all_, {0});
  stream_.publish({update(0, 10)}, kNow);
  Stream::unsubscribe(all_);
  EXPECT_THAT(stream_.wanted(), IsEmpty());
  stream_.publish({update(0, 11)}, kNow);
  stream_.subscribe(second_, {0});
  EXPECT_THAT(second_.told(), IsEmpty());
}

TEST_F(PerDevice, WantsWhatAnybodyAskedFor) {
  stream_.subscribe(all_, {0, 2});
  stream_.subscribe(second_, {2, 3});
  EXPECT_THAT(stream_.wanted(), ElementsAre(0U, 2U, 3U));
  Stream::unsubscribe(all_);
  EXPECT_THAT(stream_.wanted(), ElementsAre(2U, 3U));
  EXPECT_EQ(stream_.subscribers(), 1U);
}

TEST_F(PerDevice, ReportsALossOnceAndAsAComment) {
  stream_.subscribe(all_, {0});
  stream_.publish({update(0, 10)}, kNow);
  (void)all_.told();
  stream_.publish({loss(0)}, kNow);
  stream_.publish({loss(0)}, kNow);
  EXPECT_THAT(all_.told(), ElementsAre(chunk(": gpu 0: it is lost\n\n")));
  stream_.publish({update(0, 10)}, kNow);
  EXPECT_THAT(all_.told(), ElementsAre(gpu_chunk(0, 10)));
}

TEST_F(PerDevice, BeginsWithAnEventOrTheReasonWhyThereIsNone) {
  stream_.subscribe(all_, {0});
  stream_.keep_alive(kNow + std::chrono::hours(1));
  EXPECT_THAT(all_.told(), IsEmpty());
  stream_.publish({loss(0)}, kNow);
  EXPECT_THAT(all_.told(), ElementsAre(chunk(": gpu 0: it is lost\n\n")));
}

TEST_F(PerDevice, GivesALateSubscriberWhatIsNotKnown) {
  stream_.subscribe(all_, {0, 1});
  stream_.publish({update(0, 10), loss(1)}, kNow);
  stream_.subscribe(second_, {0, 1});
  EXPECT_THAT(second_.told(), ElementsAre(gpu_chunk(0, 10) + chunk(": gpu 1: it is lost\n\n")));
}

constexpr std::chrono::milliseconds kHold{500};

TEST_F(PerDevice, SendsTheEventsOfAHeldTimeTogether) {
  stream_.subscribe(all_, {0}, kHold);
  stream_.publish({update(0, 10)}, kNow);
  EXPECT_THAT(all_.told(), ElementsAre(gpu_chunk(0, 10))) << "the first is not held";
  for (std::uint64_t i = 1; i <= 4; ++i) {
    stream_.publish({update(0, 10 + i)}, kNow + i * kHold / 5);
    EXPECT_THAT(all_.told(), IsEmpty()) << i;
  }
  stream_.publish({}, kNow + kHold);
  EXPECT_THAT(all_.told(), ElementsAre(gpu_chunk(0, 11) + gpu_chunk(0, 12) + gpu_chunk(0, 13) +
                                       gpu_chunk(0, 14)));
}

TEST_F(PerDevice, HoldsNothingForOthers) {
  stream_.subscribe(all_, {0}, kHold);
  stream_.subscribe(second_, {0});
  stream_.publish({update(0, 10)}, kNow);
  (void)all_.told();
  (void)second_.told();
  stream_.publish({update(0, 20)}, kNow + kHold / 5);
  EXPECT_THAT(all_.told(), IsEmpty());
  EXPECT_THAT(second_.told(), ElementsAre(gpu_chunk(0, 20)));
}

TEST_F(PerDevice, SendsWhatIsHeldWithinASecondAlsoIfNothingChanges) {
  stream_.subscribe(all_, {0}, kHold);
  stream_.publish({update(0, 10)}, kNow);
  stream_.publish({update(0, 20)}, kNow + kHold / 5);
  (void)all_.told();
  stream_.keep_alive(kNow + kHold);
  EXPECT_THAT(all_.told(), ElementsAre(gpu_chunk(0, 20)));
  stream_.keep_alive(kNow + 3 * kHold);
  EXPECT_THAT(all_.told(), ElementsAre(chunk(": alive\n\n")));
}

TEST_F(PerDevice, SendsANewSubscriberNothingThatWasHeldForOthers) {
  stream_.subscribe(all_, {0}, kHold);
  stream_.publish({update(0, 10)}, kNow);
  stream_.publish({update(0, 20)}, kNow + kHold / 5);
  (void)all_.told();
  stream_.subscribe(second_, {0}, kHold);
  EXPECT_THAT(all_.told(), ElementsAre(gpu_chunk(0, 20)));
  EXPECT_THAT(second_.told(), ElementsAre(gpu_chunk(0, 20))) << "the known value";
  stream_.publish({}, kNow + 2 * kHold);
  EXPECT_THAT(second_.told(), IsEmpty());
}

TEST_F(PerDevice, HasNoLineThatAReasonCouldBegin) {
  stream_.subscribe(all_, {0});
  stream_.publish({{.id = 0, .reason = "a\ndata: {}"}}, kNow);
  EXPECT_THAT(all_.told(), ElementsAre(chunk(": gpu 0: a\\x0adata: {}\n\n")));
}

TEST_F(PerDevice, SaysThatItIsAliveAfterASecondOfSilence) {
  stream_.subscribe(all_, {0});
  stream_.publish({update(0, 10)}, kNow);
  (void)all_.told();
  stream_.keep_alive(kNow + std::chrono::milliseconds(499));
  EXPECT_THAT(all_.told(), IsEmpty());
  stream_.keep_alive(kNow + std::chrono::seconds(1));
  EXPECT_THAT(all_.told(), ElementsAre(chunk(": alive\n\n")));
}

TEST_F(PerDevice, SaysThatItIsAliveAtEverySecondThoughTicksAreLate) {
  stream_.subscribe(all_, {0});
  stream_.publish({update(0, 10)}, kNow);
  (void)all_.told();
  for (int second = 1; second <= 10; ++second) {
    const auto late = std::chrono::milliseconds(second * 7 % 5 * 20);
    stream_.keep_alive(kNow + std::chrono::seconds(second) + late);
    EXPECT_THAT(all_.told(), ElementsAre(chunk(": alive\n\n"))) << second;
  }
}

TEST_F(PerDevice, LeavesOthersAloneWhenOneOfThemGoes) {
  std::vector<std::unique_ptr<StreamListener>> many;
  for (int i = 0; i < 5; ++i) {
    many.push_back(std::make_unique<StreamListener>());
    stream_.subscribe(*many.back(), {0});
  }
  many.erase(many.begin() + 1);
  many.erase(many.begin());
  stream_.publish({update(0, 10)}, kNow);
  for (const auto& listener : many) EXPECT_EQ(listener->frames.size(), 1U);
  EXPECT_EQ(stream_.subscribers(), 3U);
}

TEST_F(PerDevice, MayEndBeforeItsSubscribers) {
  StreamListener survivor;
  {
    Stream stream(DeviceType::gpu, StreamFormat::per_device);
    stream.subscribe(survivor, {0});
  }
  // It has no stream any more, and can have another one.
  Stream another(DeviceType::gpu, StreamFormat::per_device);
  another.subscribe(survivor, {0});
  another.publish({{.id = 0, .timestamp_ms = 5, .power_mw = 7}}, kNow);
  EXPECT_EQ(survivor.frames.size(), 1U);
  Stream::unsubscribe(survivor);
  another.publish({{.id = 0, .timestamp_ms = 6, .power_mw = 8}}, kNow);
  EXPECT_EQ(survivor.frames.size(), 1U);
}

TEST(CpuEvents, HaveTheirMemory) {
  Stream stream(DeviceType::cpu, StreamFormat::per_device);
  StreamListener listener;
  stream.subscribe(listener, {0});
  stream.publish({{.id = 0, .timestamp_ms = 5, .power_mw = 7, .dram_mw = 8}}, kNow);
  EXPECT_THAT(listener.told(),
              ElementsAre(chunk("data: {\"timestamp_ms\":5,\"cpu_id\":0,\"cpu_mw\":7,"
                                "\"dram_mw\":8}\n\n")));
}

TEST(CpuEvents, HaveTheReasonWhyTheirMemoryIsNotKnownAfterThem) {
  Stream stream(DeviceType::cpu, StreamFormat::per_device);
  StreamListener listener;
  stream.subscribe(listener, {0});
  const PowerChange known{.id = 0, .timestamp_ms = 5, .power_mw = 7};
  PowerChange without = known;
  without.dram_reason = "it stands";
  stream.publish({without}, kNow);
  const std::string event =
      chunk("data: {\"timestamp_ms\":5,\"cpu_id\":0,\"cpu_mw\":7,\"dram_mw\":null}\n\n");
  EXPECT_THAT(listener.told(), ElementsAre(event + chunk(": cpu 0 dram: it stands\n\n")));
  without.power_mw = 8;
  stream.publish({without}, kNow);
  EXPECT_THAT(listener.told(), ElementsAre(testing::Not(testing::HasSubstr("dram: "))));
}

TEST(Snapshots, HoldAllDevicesWhicheverChanged) {
  Stream stream(DeviceType::gpu, StreamFormat::snapshot);
  StreamListener listener;
  StreamListener first;
  stream.subscribe(listener, {0, 1});
  stream.subscribe(first, {0});
  stream.publish({update(0, 10), update(1, 20)}, kNow);
  stream.publish({update(1, 21, 2000)}, kNow);
  EXPECT_THAT(
      listener.told(),
      ElementsAre(chunk("data: {\"timestamp_ms\":1000,\"power_mw\":{\"0\":10,\"1\":20}}\n\n"),
                  chunk("data: {\"timestamp_ms\":2000,\"power_mw\":{\"0\":10,\"1\":21}}\n\n")));
  EXPECT_THAT(first.told(),
              ElementsAre(chunk("data: {\"timestamp_ms\":1000,\"power_mw\":{\"0\":10}}\n\n")));
}

TEST(Snapshots, LeaveOutWhatIsNotKnown) {
  Stream stream(DeviceType::cpu, StreamFormat::snapshot);
  StreamListener listener;
  stream.subscribe(listener, {0, 1});
  stream.publish({update(0, 10), update(1, 20)}, kNow);
  (void)listener.told();
  stream.publish({loss(0), update(1, 21)}, kNow);
  EXPECT_THAT(listener.told(), ElementsAre(chunk(": cpu 0: it is lost\n\n") +
                                           chunk("data: {\"timestamp_ms\":1000,\"power_mw\":{\"1\":"
                                                 "{\"cpu_mw\":21,\"dram_mw\":null}}}\n\n")));
}

}  // namespace
}  // namespace wattle::daemon
