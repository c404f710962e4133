#include "shares/share_ledger.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace wattle::daemon {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

CgroupGroup pod(const std::string& name) { return {CgroupKind::pod, name}; }

/// Everything of a domain, with what has ended.
std::uint64_t sum_of(const ShareLedger& ledger, std::size_t place) {
  const LedgerDomain& domain = ledger.domains().at(place);
  std::uint64_t sum = domain.idle.uj + domain.unexplained.uj + domain.rest.uj +
                      domain.undivided.uj + domain.other.uj + domain.ended_uj;
  for (const auto& [group, row] : ledger.rows()) sum += row.at(place).uj;
  return sum;
}

/// A ledger of one domain, in virtual time.
class ShareLedgerTest : public testing::Test {
 protected:
  using Uses = std::map<CgroupGroup, std::uint64_t>;

  /// An interval of 5 s in which these groups are there.
  void add(const Uses& groups_uj, std::uint64_t rest_uj = 0) {
    at_ += seconds(5);
    DividedEnergy cpu{.domain = "cpu",
                      .covers = {"package_0"},
                      .measured_uj = rest_uj,
                      .groups_uj = groups_uj,
                      .rest_uj = rest_uj};
    std::set<CgroupGroup> live;
    for (const auto& [group, uj] : groups_uj) {
      cpu.measured_uj += uj;
      live.insert(group);
    }
    ledger_.add(at_, Seconds(5.0), {cpu}, live);
    ASSERT_EQ(sum_of(ledger_, 0), ledger_.domains()[0].measured.uj);
  }
  std::uint64_t uj(const std::string& name) { return ledger_.rows().at(pod(name)).at(0).uj; }
  const LedgerDomain& cpu() { return ledger_.domains().at(0); }

  TimePoint at_{minutes(10)};
  ShareLedger ledger_{2};
};

TEST_F(ShareLedgerTest, CumulatesEachGroup) {
  add({{pod("a"), 0}}, 100);
  add({{pod("a"), 30}}, 5);
  add({{pod("a"), 12}}, 5);
  EXPECT_EQ(uj("a"), 42U);
  EXPECT_EQ(ledger_.rows().at(pod("a")).at(0).last_uj, 12U);
  EXPECT_EQ(cpu().rest.uj, 110U);
  EXPECT_EQ(cpu().rest.last_uj, 5U);
}

TEST_F(ShareLedgerTest, AddsUpWhereAShareLies) {
  const auto add_range = [&](std::uint64_t uj, GroupRange range) {
    at_ += seconds(5);
    ledger_.add(at_, Seconds(5.0),
                {{.domain = "cpu",
                  .measured_uj = uj,
                  .groups_uj = {{pod("a"), uj}},
                  .ranges_uj = {{pod("a"), range}}}},
                {pod("a")});
  };
  add({{pod("a"), 0}}, 1);
  add_range(10, {.low_uj = 4, .high_uj = 12});
  EXPECT_EQ(ledger_.rows().at(pod("a")).at(0).uncertainty_uj(), 6U);
  add_range(10, {.low_uj = 8, .high_uj = 40});
  const SharedAmount amount = ledger_.rows().at(pod("a")).at(0);
  EXPECT_EQ(amount.range.low_uj, 12U);
  EXPECT_EQ(amount.range.high_uj, 52U);
  EXPECT_EQ(amount.uncertainty_uj(), 32U);
  EXPECT_EQ(amount.last_uncertainty_uj(), 30U) << "of the last interval alone";
  add({{pod("a"), 5}});
  EXPECT_EQ(ledger_.rows().at(pod("a")).at(0).last_uncertainty_uj(), 0U);
  EXPECT_EQ(ledger_.rows().at(pod("a")).at(0).uncertainty_uj(), 32U) << "what is certain adds none";
}

TEST_F(ShareLedgerTest, HasAGroupInOtherUntilItWasThereBefore) {
  add({{pod("a"), 30}});
  EXPECT_TRUE(ledger_.rows().empty());
  EXPECT_EQ(cpu().other.uj, 30U);
  add({{pod("a"), 12}});
  EXPECT_EQ(uj("a"), 12U);
  EXPECT_EQ(cpu().other.uj, 30U) << "what is there stays there";
}

TEST_F(ShareLedgerTest, GivesRowsToThoseThatUseMost) {
  const Uses none = {{pod("a"), 0}, {pod("b"), 0}, {pod("c"), 0}};
  add(none, 1);
  add({{pod("a"), 1}, {pod("b"), 7}, {pod("c"), 5}});
  EXPECT_FALSE(ledger_.rows().contains(pod("a")));
  EXPECT_EQ(uj("b"), 7U);
  EXPECT_EQ(uj("c"), 5U);
  EXPECT_EQ(cpu().other.uj, 1U);
  EXPECT_EQ(ledger_.hidden(), 1U);
}

TEST_F(ShareLedgerTest, KeepsTheRowOfAGroupAsLongAsItIsThere) {
  add({{pod("a"), 0}, {pod("b"), 0}}, 1);
  add({{pod("a"), 3}, {pod("b"), 3}});
  for (int i = 0; i < 1000; ++i) add({{pod("a"), 0}, {pod("b"), 0}, {pod("c"), 100}});
  EXPECT_EQ(uj("a"), 3U);
  EXPECT_EQ(cpu().other.uj, 100'000U);
}

TEST_F(ShareLedgerTest, ShowsTheLastValueOfAGroupThatEndedForAWhile) {
  add({{pod("a"), 0}}, 1);
  add({{pod("a"), 9}});
  add({}, 1);
  EXPECT_TRUE(ledger_.rows().at(pod("a")).ended);
  EXPECT_EQ(uj("a"), 9U);
  EXPECT_EQ(ledger_.rows().at(pod("a")).at(0).last_uj, 0U);
  for (int i = 0; i < 23; ++i) add({}, 1);
  EXPECT_EQ(uj("a"), 9U);
  add({}, 1);
  EXPECT_TRUE(ledger_.rows().empty());
  EXPECT_EQ(cpu().ended_uj, 9U);
}

TEST_F(ShareLedgerTest, GoesOnWithAGroupThatComesBackInTime) {
  add({{pod("a"), 0}}, 1);
  add({{pod("a"), 9}});
  add({}, 1);
  add({{pod("a"), 0}}, 1);
  add({{pod("a"), 2}});
  EXPECT_EQ(uj("a"), 11U);
  EXPECT_FALSE(ledger_.rows().at(pod("a")).ended);
}

TEST_F(ShareLedgerTest, KnowsADomainThatComesLater) {
  add({{pod("a"), 1}});
  ledger_.add(at_ + seconds(5), Seconds(5.0),
              {{.domain = "nvidia_gpu_0", .measured_uj = 7, .groups_uj = {{pod("a"), 7}}}}, {});
  EXPECT_EQ(ledger_.domains().at(1).measured.uj, 7U);
  EXPECT_EQ(ledger_.rows().at(pod("a")).at(1).uj, 7U) << "its processes are there: it is, too";
  EXPECT_EQ(cpu().length, Seconds(0)) << "it was not known in this interval";
  EXPECT_EQ(cpu().measured.last_uj, 0U);
}

/// Pods that come and go, 400 at a time.
TEST(ShareLedgerProperty, ClosesAndNeverFallsWhateverComesAndGoes) {
  std::mt19937_64 random(48);  // NOLINT(cert-msc51-cpp,bugprone-random-generator-seed)
  const auto up_to = [&](std::uint64_t most) { return random() % (most + 1); };
  constexpr std::size_t kRows = 50;
  ShareLedger ledger(kRows);
  std::map<std::string, std::uint64_t> shown;  // the last value of each counter
  TimePoint at{minutes(10)};
  std::vector<std::string> live;
  std::uint64_t next = 0;
  for (int interval = 0; interval < 400; ++interval) {
    // 5,000 a minute come and go: 417 in 5 s.
    std::erase_if(live, [&](const std::string&) { return up_to(9) > 0; });
    while (live.size() < 460) live.push_back("pod" + std::to_string(next++));
    if (up_to(20) == 0) live.emplace_back("pod" + std::to_string(up_to(next)));  // an old name
    std::set<CgroupGroup> groups;
    std::vector<DividedEnergy> divided;
    for (const char* const name : {"cpu", "nvidia_gpu_0"}) {
      if (up_to(10) == 0) continue;  // not known this time
      DividedEnergy energy{.domain = name,
                           .covers = {},
                           .idle_uj = up_to(1000),
                           .unexplained_uj = up_to(10),
                           .rest_uj = up_to(100),
                           .undivided_uj = up_to(3)};
      energy.measured_uj =
          energy.idle_uj + energy.unexplained_uj + energy.rest_uj + energy.undivided_uj;
      for (const std::string& pod_name : live) {
        if (up_to(2) == 0) continue;
        const std::uint64_t uj = up_to(10'000);
        if (energy.groups_uj.emplace(pod(pod_name), uj).second) energy.measured_uj += uj;
      }
      divided.push_back(std::move(energy));
    }
    for (const std::string& pod_name : live) groups.insert(pod(pod_name));
    at += seconds(5);
    ledger.add(at, Seconds(5.0), divided, std::move(groups));

    ASSERT_LE(ledger.rows().size(), kRows);
    std::map<std::string, std::uint64_t> now;
    for (std::size_t place = 0; place < ledger.domains().size(); ++place) {
      const LedgerDomain& domain = ledger.domains()[place];
      ASSERT_EQ(sum_of(ledger, place), domain.measured.uj) << "interval " << interval;
      const std::string name = domain.name + ' ';
      now[name + "measured"] = domain.measured.uj;
      now[name + "idle"] = domain.idle.uj;
      now[name + "unexplained"] = domain.unexplained.uj;
      now[name + "rest"] = domain.rest.uj;
      now[name + "undivided"] = domain.undivided.uj;
      now[name + "other"] = domain.other.uj;
      now[name + "ended"] = domain.ended_uj;
      for (const auto& [group, row] : ledger.rows()) now[name + group.name] = row.at(place).uj;
    }
    for (const auto& [name, value] : now) {
      const auto before = shown.find(name);
      if (before == shown.end()) continue;
      ASSERT_GE(value, before->second) << name;
    }
    shown = std::move(now);
  }
  EXPECT_GT(ledger.domains()[0].ended_uj, 0U) << "the test has seen rows end";
}

}  // namespace
}  // namespace wattle::daemon
