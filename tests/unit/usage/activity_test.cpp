#include <gtest/gtest.h>

#include "usage/process/process_ledgers.hpp"

namespace wattle {
namespace {

TEST(IoLedger, CountsFromItsBegin) {
  IoLedger ledger;
  ledger.begin(100);
  ledger.update(130);
  ledger.update(120);  // not believed
  EXPECT_EQ(ledger.total(), 30);
}

TEST(IoLedger, CountsAChildThatWasWaitedForOnce) {
  IoLedger parent;
  parent.update(10);
  IoLedger child;
  child.update(70);
  parent.inherit(child);
  parent.update(10 + 75);  // it did a little more before it ended
  EXPECT_EQ(parent.total(), 85);
}

TEST(IoLedger, LeavesOutWhatAChildDidBeforeItWasWatched) {
  IoLedger parent;
  IoLedger child;
  child.begin(1000);
  child.update(1005);
  parent.inherit(child);
  parent.update(1005 + 2);
  EXPECT_EQ(parent.total(), 7);
}

TEST(IoLedger, KeepsAChildThatNobodyWaitedFor) {
  IoLedger parent;
  IoLedger child;
  child.update(70);
  parent.inherit(child);
  EXPECT_EQ(parent.total(), 70);
}

TEST(IoLedger, LeavesOutAChildThatDoesNotCount) {
  IoLedger parent;
  parent.update(5);
  IoLedger child;
  child.update(70);
  parent.leave_out(child);
  parent.update(5 + 70);
  EXPECT_EQ(parent.total(), 5);
}

TEST(SwitchLedger, CountsThreadsFromWhereTheyCame) {
  SwitchLedger ledger;
  ledger.update({{.number = 5, .counts = {100, 10}}}, false);
  EXPECT_EQ(ledger.total(), (SwitchCounts{0, 0}));
  ledger.update({{.number = 3, .counts = {4, 1}}, {.number = 5, .counts = {101, 12}}}, true);
  EXPECT_EQ(ledger.total(), (SwitchCounts{5, 3}));
}

TEST(SwitchLedger, KeepsThreadsThatEnded) {
  SwitchLedger ledger;
  ledger.update({{.number = 3, .counts = {4, 1}}, {.number = 5, .counts = {7, 0}}}, true);
  ledger.update({{.number = 5, .counts = {9, 0}}}, true);
  EXPECT_EQ(ledger.total(), (SwitchCounts{13, 1}));
}

TEST(SwitchLedger, DistinguishesAThreadFromTheNextOfItsNumber) {
  SwitchLedger ledger;
  ledger.update({{.number = 3, .counts = {40, 0}}}, true);
  ledger.update({{.number = 3, .counts = {2, 1}}}, true);
  EXPECT_EQ(ledger.total(), (SwitchCounts{42, 1}));
}

TEST(ProcessActivity, OfATrackerCountsForTheFaultsOfItsChildrenAlone) {
  ProcessActivity tracker;
  tracker.io[0].update(9);
  tracker.minor_faults.update_own(4);
  tracker.minor_faults.update_waited(3);
  tracker.switches.update({{.number = 1, .counts = {6, 6}}}, true);
  ActivityTotals totals;
  tracker.add_to(totals, true);
  EXPECT_EQ(totals.minor_faults, 3);
  EXPECT_EQ(totals.io[0], 0);
  EXPECT_EQ(totals.switches[0], 0);
  tracker.add_to(totals, false);
  EXPECT_EQ(totals.minor_faults, 3 + 7);
  EXPECT_EQ(totals.io[0], 9);
}

}  // namespace
}  // namespace wattle
