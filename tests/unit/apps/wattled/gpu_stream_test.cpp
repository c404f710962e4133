// Streams of GPUs, and what a GPU answers that hangs, fails or does not offer it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "api/power_streams.hpp"
#include "control/gpu_control.hpp"
#include "recording_subscriber.hpp"
#include "virtual_loop.hpp"

namespace wattle::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A GPU that answers when the test lets it.
class GatedGpu final : public Sensor {
 public:
  explicit GatedGpu(const Domain& domain = Domain::nvidia_gpu(0),
                    wattle::Scope scope = wattle::Scope::device) {
    channels_.push_back({.domain = domain,
                         .metric = Metric::power_instant,
                         .scope = scope,
                         .gauge = {.scale = 1e-3}});
  }
  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read_some(ChannelSet /*wanted*/, std::span<Reading> readings) noexcept override {
    ++reads;
    while (is_shut) std::this_thread::yield();
    readings[0] = {.raw = raw, .status = status};
  }
  [[nodiscard]] bool may_block() const noexcept override { return true; }

  std::atomic<bool> is_shut{false};
  std::atomic<int> reads{0};
  std::atomic<std::uint64_t> raw{75'000};
  std::atomic<ReadStatus> status{ReadStatus::ok};

 private:
  std::vector<Channel> channels_;
};

/// Why a device does not answer who asks it here; absent: it does.
std::optional<DeviceFault> fault_of(GatedGpu& gpu, GpuQuestion question) {
  NewestReadings device(std::shared_ptr<Sensor>(std::shared_ptr<Sensor>(), &gpu), machine_clock());
  return fault_of(answer_of(device, asked_of(gpu, question)), gpu, question);
}

TEST(GpuFaults, OfOtherVendorsAreNoErrorsOfNvml) {
  GatedGpu nvidia;
  nvidia.status = ReadStatus::gone;
  EXPECT_EQ(fault_of(nvidia, GpuQuestion::power)->message, "NVML error: the GPU is lost");
  for (const Domain& domain : {Domain::amd_gpu(0), Domain::intel_gpu(0)}) {
    GatedGpu other(domain);
    EXPECT_EQ(fault_of(other, GpuQuestion::energy)->message,
              "GPU error: this GPU, or its driver, does not offer it");
    other.status = ReadStatus::gone;
    EXPECT_EQ(fault_of(other, GpuQuestion::power)->message, "GPU error: the GPU is lost");
  }
}

TEST(GpuFaults, SayThatTheModulesPowerIsNotTheGpus) {
  GatedGpu gpu(Domain::nvidia_gpu(0), wattle::Scope::module);
  const auto fault = fault_of(gpu, GpuQuestion::power);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->message,
            "NVML error: this GPU shows only the power of the module that it is a part of");
  EXPECT_EQ(gpu.reads, 0);
}

TEST(GpuFaults, OfSettingOtherVendorsAreNoErrorsOfNvml) {
  for (const auto& [domain, word] :
       {std::pair(Domain::nvidia_gpu(0), "NVML"), {Domain::amd_gpu(0), "GPU"}}) {
    VirtualLoop loop;
    Gpus gpus({{.entry = {.id = 0}, .sensor = std::make_shared<GatedGpu>(domain)}}, loop);
    GpuControl control(gpus, loop, nullptr, nullptr);
    std::optional<DeviceFault> fault;
    EXPECT_FALSE(
        control.set({0}, {PowerLimit{150'000}}, GpuControl::Caller::waits,
                    [&](const GpuControl::Outcomes& outcomes) { fault = outcomes.at(0).fault; }));
    while (loop.run_posted() == 0) std::this_thread::yield();
    ASSERT_TRUE(fault);
    EXPECT_THAT(fault->message, testing::StartsWith(std::string(word) + " error: "));
  }
}

class GpuStreams : public testing::Test {
 protected:
  GpuStreams()
      : gpus_({{.entry = {.id = 0}, .sensor = first_}, {.entry = {.id = 1}, .sensor = second_}},
              loop_),
        stream_(gpus_, loop_, StreamRates{}) {}
  ~GpuStreams() override { first_->is_shut = second_->is_shut = false; }

  void wait_for_post() {
    while (loop_.run_posted() == 0) std::this_thread::yield();
  }
  /// Why it is no answer of the first GPU.
  [[nodiscard]] std::optional<DeviceFault> power_fault(const DeviceAnswer& answer) const {
    return fault_of(answer, *first_, GpuQuestion::power);
  }
  /// It hangs, and takes no more questions until it has answered these.
  void fill_queue_of_first() {
    first_->is_shut = true;
    const auto job = [gpu = first_] { (void)fault_of(*gpu, GpuQuestion::power); };
    const GpuHandle handle = gpus_.handle(0);
    EXPECT_TRUE(handle.thread().add(job));
    while (first_->reads == 0) std::this_thread::yield();
    for (int i = 1; i < kQueued; ++i) EXPECT_TRUE(handle.thread().add(job));
  }
  static constexpr int kQueued = 100;

  VirtualLoop loop_;
  std::shared_ptr<GatedGpu> first_ = std::make_shared<GatedGpu>();
  std::shared_ptr<GatedGpu> second_ = std::make_shared<GatedGpu>();
  Gpus gpus_;
  GpuStream stream_;
  RecordingSubscriber listener_;
  RecordingSubscriber other_;
};

TEST_F(GpuStreams, IsAskedAtOnceAndOnlyWhereSomebodyListens) {
  loop_.advance(seconds(1));
  EXPECT_EQ(first_->reads, 0);
  stream_.subscribe(listener_, {0});
  wait_for_post();
  EXPECT_THAT(listener_.frames, SizeIs(1));
  EXPECT_EQ(second_->reads, 0);
}

TEST_F(GpuStreams, ThatHangsHoldsUpNobodyAndIsNamed) {
  first_->is_shut = true;
  stream_.subscribe(listener_, {0});
  stream_.subscribe(other_, {1});
  for (int i = 0; i < 40; ++i) {
    second_->raw = 100'000 + static_cast<std::uint64_t>(i);
    loop_.advance(milliseconds(50));
    wait_for_post();
  }
  // An answer is sent at the next tick where another one is missing.
  EXPECT_GE(other_.frames.size(), 39U);
  EXPECT_THAT(listener_.frames, ElementsAre(HasSubstr(": gpu 0: its driver does not answer")));
  listener_.frames.clear();
  first_->is_shut = false;
  while (listener_.frames.empty()) {
    loop_.run_posted();
    loop_.advance(milliseconds(50));
    std::this_thread::yield();
  }
  EXPECT_THAT(listener_.frames[0], HasSubstr("\"power_mw\":75000"));
  EXPECT_LE(first_->reads, 1 + 100);
}

TEST_F(GpuStreams, HaveFailedWhereTheDriverDoesNotAnswerOrTheGpuIsLost) {
  stream_.subscribe(listener_, {0});
  wait_for_post();
  EXPECT_FALSE(gpus_.fail());
  first_->is_shut = true;
  loop_.advance(milliseconds(50));
  EXPECT_FALSE(gpus_.fail()) << "it may still answer";
  loop_.advance(seconds(4));
  EXPECT_TRUE(gpus_.fail());
  first_->is_shut = false;
  wait_for_post();
  EXPECT_FALSE(gpus_.fail());
  first_->status = ReadStatus::gone;
  loop_.advance(milliseconds(50));
  wait_for_post();
  EXPECT_TRUE(gpus_.fail());
}

TEST_F(GpuStreams, IsAskedAgainOnceItsQueueIsNotFullAnyMore) {
  fill_queue_of_first();
  stream_.subscribe(listener_, {0});
  loop_.advance(milliseconds(1'050));
  EXPECT_THAT(listener_.frames, ElementsAre(HasSubstr(": gpu 0: its driver does not answer")));
  first_->is_shut = false;
  while (first_->reads < kQueued) std::this_thread::yield();  // none waits any more
  loop_.advance(milliseconds(50));
  while (listener_.frames.size() < 2) {
    wait_for_post();
    loop_.advance(milliseconds(50));
  }
  EXPECT_THAT(listener_.frames[1], HasSubstr("\"power_mw\":75000"));
}

TEST_F(GpuStreams, WhatIsNotSentToADriverThatHangsIsRefusedWithThatReason) {
  fill_queue_of_first();
  std::optional<Gpus::Answers> answers;
  gpus_.ask({0}, GpuQuestion::power, [&](Gpus::Answers given) { answers = std::move(given); });
  ASSERT_TRUE(answers);
  const auto fault = power_fault(answers->at(0));
  EXPECT_EQ(fault->status, 503U);
  EXPECT_THAT(fault->message, HasSubstr("this one was not sent"));
}

TEST_F(GpuStreams, IsNotReportedToHangToWhoComesLongAfterItsQueueWasFull) {
  fill_queue_of_first();
  stream_.subscribe(listener_, {0});
  Stream::unsubscribe(listener_);
  loop_.advance(seconds(10));
  stream_.subscribe(other_, {0});
  loop_.advance(milliseconds(900));
  EXPECT_THAT(other_.frames, IsEmpty());
}

TEST_F(GpuStreams, IsAnsweredForWhereItHangs) {
  first_->is_shut = true;
  std::optional<Gpus::Answers> answers;
  gpus_.ask({0, 1}, GpuQuestion::power, [&](Gpus::Answers given) { answers = std::move(given); });
  wait_for_post();
  EXPECT_FALSE(answers);
  loop_.advance(seconds(5));
  ASSERT_TRUE(answers);
  EXPECT_EQ(power_fault(answers->at(0))->status, 500U);
  EXPECT_EQ(value_of(answers->at(1), *second_, GpuQuestion::power), 75'000U);
}

TEST_F(GpuStreams, IsAskedOnceForAllWhoWait) {
  first_->is_shut = true;
  int answered = 0;
  for (int i = 0; i < 100; ++i) {
    gpus_.ask({0}, GpuQuestion::power, [&](const Gpus::Answers& answers) {
      ++answered;
      EXPECT_FALSE(power_fault(answers.at(0)));
      EXPECT_EQ(value_of(answers.at(0), *first_, GpuQuestion::power), 75'000U);
    });
  }
  first_->is_shut = false;
  while (answered < 100) wait_for_post();
  EXPECT_LE(first_->reads, 2);
}

TEST_F(GpuStreams, IsAskedAgainByWhoComesDuringACall) {
  first_->is_shut = true;
  gpus_.ask({0}, GpuQuestion::power, [](const Gpus::Answers&) {});
  while (first_->reads == 0) std::this_thread::yield();
  std::optional<Gpus::Answers> answers;
  gpus_.ask({0}, GpuQuestion::power, [&](Gpus::Answers given) { answers = std::move(given); });
  first_->is_shut = false;
  while (!answers) wait_for_post();
  EXPECT_EQ(first_->reads, 2);
}

TEST_F(GpuStreams, IsNotAskedWithoutEndWhereItHangs) {
  first_->is_shut = true;
  int answered = 0;
  for (int i = 0; i < 10'000; ++i) {
    gpus_.ask({0}, GpuQuestion::power, [&](const Gpus::Answers&) { ++answered; });
  }
  EXPECT_GE(answered, 1'000);  // refused at once
  loop_.advance(seconds(5));
  EXPECT_EQ(answered, 10'000);
  first_->is_shut = false;
  wait_for_post();
  EXPECT_LE(first_->reads, 2);
}

TEST_F(GpuStreams, SaysWhatItDoesNotOffer) {
  const auto fault = fault_of(*first_, GpuQuestion::energy);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->status, 400U);
  EXPECT_EQ(fault_of(*first_, GpuQuestion::power_limit)->status, 400U);
}

}  // namespace
}  // namespace wattle::daemon
