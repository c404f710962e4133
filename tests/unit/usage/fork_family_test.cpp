// Memory of processes that were forked and are so large that their PSS is not read.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "tracked_machine.hpp"

namespace wattle {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t kMiB = 1024;  ///< in KiB
/// Of the parent; its three children have its pages, and it has some that are its own.
constexpr std::uint64_t kRss = 4410 * kMiB;
constexpr std::uint64_t kOwn = 5 * kMiB;

class ForkFamily : public TrackedMachine {
 protected:
  ForkFamily() {
    files_.put({.pid = 100,
                .rss_kib = kRss,
                .shared_kib = 10 * kMiB,
                .peak_kib = kRss,
                .children = {101, 102, 103}});
    for (const int pid : {101, 102, 103}) {
      files_.put({.pid = pid,
                  .parent = 100,
                  .rss_kib = kRss - kOwn,
                  .shared_kib = 10 * kMiB,
                  .peak_kib = kRss - kOwn});
    }
  }
  void let_kernel_say(std::string_view more) const {
    files_.folder().write(
        "meminfo", fmt::format("MemTotal: {} kB\nMemAvailable: 600000 kB\n{}", 8000 * kMiB, more));
  }
  [[nodiscard]] ResourceUsage usage() {
    UsageObservation tracking = observe_process(options_, clock_);
    tracking.begin();
    tracking.end();
    return tracking.usage();
  }
};

TEST_F(ForkFamily, CountsPagesThatAForkSharesOnce) {
  let_kernel_say(fmt::format("AnonPages: {} kB\nMapped: {} kB\n", kRss, 40 * kMiB));
  const MaxRAM ram = usage().max_ram;
  const double bytes = 1024.0 * static_cast<double>(kRss);
  EXPECT_GE(ram.combined.total_rss.value_or(0), bytes);
  EXPECT_LE(ram.combined.total_rss.value_or(0), 1.01 * bytes) << "not four times that";
  EXPECT_LE(ram.descendants.total_rss.value_or(0), 1.01 * bytes);
}

TEST_F(ForkFamily, DoesNotCountPagesThatAForkSharesAsPrivate) {
  let_kernel_say(fmt::format("AnonPages: {} kB\nMapped: {} kB\n", kRss, 40 * kMiB));
  const MaxRAM ram = usage().max_ram;
  const double own = 1024.0 * static_cast<double>(kOwn);
  EXPECT_GE(ram.combined.private_rss.value_or(0), own);
  EXPECT_LE(ram.combined.private_rss.value_or(0), 10 * own) << "not 18 GB";
  EXPECT_LE(ram.main.private_rss.value_or(0), 10 * own);
  EXPECT_FALSE(ram.combined.shared_rss) << "of two bounds there is no difference";
}

TEST_F(ForkFamily, IsNeverLargerThanTheMachine) {
  let_kernel_say("");
  const ResourceUsage found = usage();
  EXPECT_EQ(found.max_ram.combined.total_rss, 1024.0 * 8000 * kMiB);
  EXPECT_LE(found.max_ram.combined.private_rss, found.max_ram.combined.total_rss);
}

TEST_F(ForkFamily, IsMarkedAsABoundWhereverItIsShown) {
  let_kernel_say("");
  const ResourceUsage found = usage();
  const auto bounds = nlohmann::json::parse(found.to_json())["upper_bounds"];
  EXPECT_THAT(bounds.dump(), HasSubstr("\"max_ram.combined.total_rss\""));
  EXPECT_THAT(bounds.dump(), HasSubstr("\"max_ram.combined.private_rss\""));
  EXPECT_THAT(found.to_text(), HasSubstr("   Combined:\n      Total RSS: at most 8388608000.0\n"));
  EXPECT_THAT(found.to_text(), Not(HasSubstr("Private RSS: 8388608000.0")));
  EXPECT_THAT(found.to_native_json(), HasSubstr("\"estimated\":[\"max_ram.main.private_rss\""));
}

}  // namespace
}  // namespace wattle
