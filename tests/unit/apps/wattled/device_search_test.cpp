#include "devices/device_search.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "virtual_loop.hpp"

namespace wattle::daemon {
namespace {

using namespace std::chrono_literals;

class DeviceSearchTest : public testing::Test {
 protected:
  ~DeviceSearchTest() override { *is_shut_ = false; }
  void wait_for_results(int count) {
    while (results_ < count) {
      loop_.run_posted();
      std::this_thread::yield();
    }
  }

  VirtualLoop loop_;
  DomainKinds wanted_{DomainKind::nvidia_gpu};
  std::shared_ptr<std::atomic<bool>> is_shut_ = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<std::atomic<int>> searches_ = std::make_shared<std::atomic<int>>(0);
  int results_ = 0;
  std::optional<DeviceSearch> search_{
      std::in_place, loop_, [this] { return wanted_; },
      [is_shut = is_shut_, searches = searches_](DomainKinds kinds) {
        EXPECT_TRUE(kinds.contains(DomainKind::nvidia_gpu));
        ++*searches;
        while (*is_shut) std::this_thread::yield();
        return Survey{.sensors = {}, .refused = {{.subject = "GPUs"}}};
      },
      [this](const Survey& found) {
        EXPECT_EQ(found.refused.size(), 1U);
        ++results_;
      }};
};

TEST_F(DeviceSearchTest, SearchesOftenAtFirstAndThenTwiceAMinute) {
  search_->start();
  EXPECT_EQ(*searches_, 0);
  int results = 0;
  for (const auto pause : {1s, 2s, 4s, 8s, 16s, 30s, 30s, 30s}) {
    loop_.advance(pause - 1ms);
    EXPECT_EQ(*searches_, results);
    loop_.advance(1ms);
    wait_for_results(++results);
  }
}

TEST_F(DeviceSearchTest, EndsWhenNothingIsMissing) {
  search_->start();
  loop_.advance(1s);
  wait_for_results(1);
  wanted_ = {};
  loop_.advance(3600s);
  EXPECT_EQ(*searches_, 1);
  EXPECT_EQ(loop_.timers(), 0U);
}

TEST_F(DeviceSearchTest, AsksADriverThatHangsOnceOnly) {
  *is_shut_ = true;
  search_->start();
  loop_.advance(3600s);
  EXPECT_LE(*searches_, 1);
  *is_shut_ = false;
  wait_for_results(1);
  EXPECT_EQ(*searches_, 1);
}

TEST_F(DeviceSearchTest, DropsWhatItFindsAfterItsEnd) {
  *is_shut_ = true;
  search_->start();
  loop_.advance(30s);
  while (*searches_ == 0) std::this_thread::yield();
  search_.reset();
  *is_shut_ = false;
  while (loop_.run_posted() == 0) std::this_thread::yield();
  EXPECT_EQ(results_, 0);
}

}  // namespace
}  // namespace wattle::daemon
