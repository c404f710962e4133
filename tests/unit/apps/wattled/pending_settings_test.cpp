// Which of the settings that wait for one GPU are made, and how the others end.
#include "control/pending_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace wattle::daemon {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const DeviceFault kRefused{400, "refused"};

class Pending : public testing::Test {
 protected:
  PendingSettings::Ticket add(const std::string& name, std::vector<DeviceSetting> settings,
                              bool is_awaited = true) {
    return pending_.add(
        settings,
        [this, name](const SettingOutcome& outcome) {
          const std::string end = outcome.fault           ? "failed"
                                  : outcome.is_superseded ? "superseded"
                                                          : "made";
          ended_.push_back(name + " " + end);
          if (outcome.superseded > 0) ended_.back() += " for " + std::to_string(outcome.superseded);
        },
        is_awaited);
  }
  /// The settings of the next attempt, which succeeds or fails.
  std::vector<DeviceSetting> make(bool joins = false, bool succeeds = true) {
    const auto attempt = pending_.start(joins);
    if (!attempt) return {};
    pending_.finish(succeeds ? std::nullopt : std::optional(kRefused));
    return attempt->settings;
  }

  PendingSettings pending_;
  std::vector<std::string> ended_;
};

const DeviceSetting kFreeGpu = FreeClocks{ClockKind::gpu};
const DeviceSetting kFreeMemory = FreeClocks{ClockKind::memory};
const DeviceSetting kLockGpu = LockedClocks{ClockKind::gpu, 210, 1410};
const DeviceSetting kLockMemory = LockedClocks{ClockKind::memory, 800, 800};

TEST_F(Pending, MakesTheNewestOfAKindWhichAnswersTheOthers) {
  add("a", {PowerLimit{1}});
  add("b", {PowerLimit{2}});
  add("c", {PowerLimit{3}}, false);
  EXPECT_THAT(make(), ElementsAre(DeviceSetting(PowerLimit{3})));
  EXPECT_THAT(ended_, ElementsAre("a superseded", "b superseded", "c made for 2"));
  EXPECT_THAT(make(), IsEmpty());
}

TEST_F(Pending, MakesAnOlderSettingIfTheNewerOnesFail) {
  add("a", {PowerLimit{1}}, false);
  add("b", {PowerLimit{2}});
  add("c", {PowerLimit{3}}, false);
  EXPECT_THAT(make(false, false), ElementsAre(DeviceSetting(PowerLimit{3})));
  EXPECT_THAT(make(false, false), ElementsAre(DeviceSetting(PowerLimit{2})));
  EXPECT_THAT(make(), ElementsAre(DeviceSetting(PowerLimit{1})));
  EXPECT_THAT(ended_, ElementsAre("c failed", "b failed", "a made"));
}

TEST_F(Pending, MakesAnOlderSettingBeforeWhatArrivesAfterAFailure) {
  add("a", {PowerLimit{1}}, false);
  add("b", {PowerLimit{2}});
  EXPECT_THAT(make(false, false), ElementsAre(DeviceSetting(PowerLimit{2})));
  add("c", {PowerLimit{3}});
  EXPECT_THAT(make(), ElementsAre(DeviceSetting(PowerLimit{1})));
  EXPECT_THAT(make(), ElementsAre(DeviceSetting(PowerLimit{3})));
  EXPECT_THAT(ended_, ElementsAre("b failed", "a made", "c made"));
}

TEST_F(Pending, LeavesWhatArrivesDuringAnAttemptForTheNextOne) {
  add("a", {PowerLimit{1}});
  const auto attempt = pending_.start(false);
  ASSERT_TRUE(attempt);
  add("b", {PowerLimit{2}});
  EXPECT_FALSE(pending_.start(false)) << "one at a time";
  pending_.finish(std::nullopt);
  EXPECT_THAT(ended_, ElementsAre("a made"));
  EXPECT_THAT(make(), ElementsAre(DeviceSetting(PowerLimit{2})));
}

TEST_F(Pending, KindsDoNotSupersedeEachOtherAndTakeTurns) {
  add("limit", {PowerLimit{1}});
  add("mode", {PersistenceMode{true}});
  add("clocks", {kLockGpu});
  add("limit 2", {PowerLimit{2}});
  EXPECT_THAT(make(), ElementsAre(DeviceSetting(PersistenceMode{true})));
  add("limit 3", {PowerLimit{3}});
  EXPECT_THAT(make(), ElementsAre(kLockGpu));
  EXPECT_THAT(make(), ElementsAre(DeviceSetting(PowerLimit{3})));
  EXPECT_THAT(ended_, ElementsAre("mode made", "clocks made", "limit superseded",
                                  "limit 2 superseded", "limit 3 made for 2"));
}

TEST_F(Pending, FreeingAClockSupersedesLockingIt) {
  add("lock", {kLockGpu});
  add("free", {kFreeGpu});
  EXPECT_THAT(make(), ElementsAre(kFreeGpu));
  EXPECT_THAT(ended_, ElementsAre("lock superseded", "free made for 1"));
}

TEST_F(Pending, ARequestOfTwoSettingsEndsWithItsLastOne) {
  add("both", {kFreeGpu, kFreeMemory});
  EXPECT_THAT(make(), ElementsAre(kFreeGpu));
  EXPECT_THAT(ended_, IsEmpty());
  EXPECT_THAT(make(false, false), ElementsAre(kFreeMemory));
  EXPECT_THAT(ended_, ElementsAre("both failed"));
}

TEST_F(Pending, ARequestOfTwoSettingsIsOneCallWhereThatIsPossible) {
  add("both", {kFreeGpu, kFreeMemory});
  add("lock", {kLockMemory});
  EXPECT_THAT(make(true), ElementsAre(kFreeGpu, kFreeMemory));
  EXPECT_THAT(make(true), ElementsAre(kLockMemory)) << "the newer setting comes last";
  EXPECT_THAT(ended_, ElementsAre("both made", "lock made"));
}

TEST_F(Pending, OneCallForTwoSettingsLeavesANewerOneThatWasMade) {
  add("both", {kFreeGpu, kFreeMemory});
  add("lock memory", {kLockMemory});
  add("lock gpu", {kLockGpu});
  EXPECT_THAT(make(true), ElementsAre(kLockMemory));
  EXPECT_THAT(make(true, false), ElementsAre(kLockGpu));
  EXPECT_THAT(make(true), ElementsAre(kFreeGpu)) << "the memory stays locked";
  EXPECT_THAT(ended_, ElementsAre("lock memory made for 1", "lock gpu failed", "both made"));
}

TEST_F(Pending, WhatIsWithdrawnIsNotMade) {
  const auto ticket = add("a", {PowerLimit{1}});
  add("b", {PersistenceMode{true}});
  EXPECT_TRUE(pending_.withdraw(ticket));
  EXPECT_EQ(pending_.awaited(), 1U);
  EXPECT_THAT(make(), ElementsAre(DeviceSetting(PersistenceMode{true})));
  EXPECT_THAT(make(), IsEmpty());
  EXPECT_THAT(ended_, ElementsAre("b made"));
}

TEST_F(Pending, WhatIsBeingMadeCannotBeWithdrawn) {
  const auto ticket = add("a", {PowerLimit{1}});
  ASSERT_TRUE(pending_.start(false));
  EXPECT_FALSE(pending_.withdraw(ticket));
  pending_.finish(std::nullopt);
  EXPECT_TRUE(pending_.withdraw(ticket)) << "it has ended";
  EXPECT_EQ(pending_.awaited(), 0U);
}

TEST_F(Pending, AllThatAreNotBeingMadeAreDropped) {
  add("a", {PowerLimit{1}});
  ASSERT_TRUE(pending_.start(false));
  add("b", {PowerLimit{2}});
  add("both", {kFreeGpu, kFreeMemory});
  pending_.drop({503, "the end"});
  EXPECT_THAT(ended_, ElementsAre("b failed", "both failed"));
  pending_.finish(std::nullopt);
  EXPECT_THAT(ended_, ElementsAre("b failed", "both failed", "a made"));
  EXPECT_THAT(make(), IsEmpty());
}

TEST_F(Pending, KeepsAFewOfThoseForWhichNobodyWaits) {
  add("first", {PowerLimit{1}}, false);
  for (std::size_t i = 0; i < PendingSettings::kMostUnawaited; ++i) {
    EXPECT_THAT(ended_, IsEmpty());
    pending_.add(
        {PowerLimit{2}}, [](const SettingOutcome&) {}, false);
  }
  EXPECT_THAT(ended_, ElementsAre("first superseded"));
}

TEST_F(Pending, MayGetNewRequestsFromThoseThatEnd) {
  std::vector<std::string> made;
  pending_.add(
      {PowerLimit{1}}, [&](const SettingOutcome&) { add("next", {PowerLimit{2}}); }, true);
  EXPECT_THAT(make(), ElementsAre(DeviceSetting(PowerLimit{1})));
  EXPECT_THAT(make(), ElementsAre(DeviceSetting(PowerLimit{2})));
  EXPECT_THAT(ended_, ElementsAre("next made"));
}

// Requests, failures and ends at random: each request ends once; one that neither failed nor was
// withdrawn was made, or a later one of its kind was; the last made of each kind is the newest.
TEST_F(Pending, EveryRequestIsMadeOrSupersededByALaterOneThatWasMade) {
  std::mt19937 random(42);
  for (int round = 0; round < 200; ++round) {
    PendingSettings pending;
    struct Asked {
      std::size_t kind = 0;
      int ends = 0;
      SettingOutcome outcome{};
      bool is_made = false;
    };
    std::map<PendingSettings::Ticket, Asked> asked;
    const auto make_one = [&] {
      const auto attempt = pending.start(false);
      if (!attempt) return false;
      const bool succeeds = random() % 4 != 0;
      asked.at(attempt->ticket).is_made = succeeds;
      pending.finish(succeeds ? std::nullopt : std::optional(kRefused));
      return true;
    };
    for (PendingSettings::Ticket next = 1; next <= 100; ++next) {
      const DeviceSetting setting =
          random() % 2 == 0 ? DeviceSetting(PowerLimit{1}) : DeviceSetting(kFreeGpu);
      asked[next].kind = setting.index();
      ASSERT_EQ(pending.add(
                    {setting},
                    [&asked, next](const SettingOutcome& outcome) {
                      ++asked.at(next).ends;
                      asked.at(next).outcome = outcome;
                    },
                    random() % 2 == 0),
                next);
      if (random() % 4 == 0) (void)make_one();
    }
    while (make_one()) {
    }
    EXPECT_EQ(pending.awaited(), 0U);
    for (auto at = asked.begin(); at != asked.end(); ++at) {
      const Asked& each = at->second;
      ASSERT_EQ(each.ends, 1);
      if (each.outcome.fault) continue;
      EXPECT_NE(each.is_made, each.outcome.is_superseded);
      const bool is_covered = std::any_of(at, asked.end(), [&](const auto& later) {
        return later.second.kind == each.kind && later.second.is_made;
      });
      EXPECT_TRUE(is_covered);
    }
  }
}

}  // namespace
}  // namespace wattle::daemon
