#include <gtest/gtest.h>

#include "usage/process/process_ledgers.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;

TEST(CpuLedger, CountsFromItsBegin) {
  CpuLedger ledger(10s, 5s);
  EXPECT_EQ(ledger.total(), 0s);
  ledger.update_own(12s);
  ledger.update_waited(6s);
  EXPECT_EQ(ledger.own(), 2s);
  EXPECT_EQ(ledger.children(), 1s);
  EXPECT_EQ(ledger.total(), 3s);
}

TEST(CpuLedger, NeverFalls) {
  CpuLedger ledger;
  ledger.update_own(3s);
  ledger.update_waited(2s);
  ledger.update_own(1s);
  ledger.update_waited(0s);
  EXPECT_EQ(ledger.total(), 5s);
}

TEST(CpuLedger, CountsAChildThatWasWaitedForOnce) {
  CpuLedger child;
  child.update_own(4s);
  CpuLedger parent;
  parent.inherit(child);
  EXPECT_EQ(parent.children(), 4s);
  parent.update_waited(4s + 5ms);  // with what it did after it was last seen
  EXPECT_EQ(parent.children(), 4s + 5ms);
}

TEST(CpuLedger, KeepsAChildThatNobodyWaitedFor) {
  CpuLedger child;
  child.update_own(4s);
  CpuLedger parent(0s, 7s);
  parent.inherit(child);
  parent.update_waited(7s);
  EXPECT_EQ(parent.children(), 4s);
}

TEST(CpuLedger, LeavesOutWhatAChildDidBeforeItWasWatched) {
  CpuLedger child(100s, 20s);
  child.update_own(101s);
  CpuLedger parent;
  parent.inherit(child);
  parent.update_waited(121s);
  EXPECT_EQ(parent.children(), 1s);
}

TEST(CpuLedger, LeavesOutAChildThatDoesNotCountButNotItsChildren) {
  CpuLedger grandchild;
  grandchild.update_own(1s);
  CpuLedger child;
  child.update_own(5s);
  child.inherit(grandchild);
  child.update_waited(1s);
  CpuLedger parent;
  parent.inherit_children_of(child);
  EXPECT_EQ(parent.children(), 1s);
  parent.update_waited(6s);
  EXPECT_EQ(parent.children(), 1s);
}

TEST(CpuLedger, HandsOnWhatItInherited) {
  CpuLedger grandchild;
  grandchild.update_own(1s);
  CpuLedger child;
  child.update_own(2s);
  child.inherit(grandchild);
  CpuLedger parent;
  parent.inherit(child);
  EXPECT_EQ(parent.total(), 3s);
}

}  // namespace
}  // namespace wattle
