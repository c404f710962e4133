#include "usage/cpu_ledger.hpp"

#include <gtest/gtest.h>

namespace wattle {
namespace {

using namespace std::chrono_literals;

TEST(CpuLedger, CountsFromItsBegin) {
  CpuLedger ledger(10s, 5s);
  EXPECT_EQ(ledger.total(), 0s);
  ledger.see_own(12s);
  ledger.see_waited(6s);
  EXPECT_EQ(ledger.own(), 2s);
  EXPECT_EQ(ledger.children(), 1s);
  EXPECT_EQ(ledger.total(), 3s);
}

TEST(CpuLedger, NeverFalls) {
  CpuLedger ledger;
  ledger.see_own(3s);
  ledger.see_waited(2s);
  ledger.see_own(1s);
  ledger.see_waited(0s);
  EXPECT_EQ(ledger.total(), 5s);
}

TEST(CpuLedger, CountsAChildThatWasWaitedForOnce) {
  CpuLedger child;
  child.see_own(4s);
  CpuLedger parent;
  parent.inherit(child);
  EXPECT_EQ(parent.children(), 4s);
  parent.see_waited(4s + 5ms);  // with what it did after it was last seen
  EXPECT_EQ(parent.children(), 4s + 5ms);
}

TEST(CpuLedger, KeepsAChildThatNobodyWaitedFor) {
  CpuLedger child;
  child.see_own(4s);
  CpuLedger parent(0s, 7s);
  parent.inherit(child);
  parent.see_waited(7s);
  EXPECT_EQ(parent.children(), 4s);
}

TEST(CpuLedger, LeavesOutWhatAChildDidBeforeItWasWatched) {
  CpuLedger child(100s, 20s);
  child.see_own(101s);
  CpuLedger parent;
  parent.inherit(child);
  parent.see_waited(121s);
  EXPECT_EQ(parent.children(), 1s);
}

TEST(CpuLedger, LeavesOutAChildThatDoesNotCountButNotItsChildren) {
  CpuLedger grandchild;
  grandchild.see_own(1s);
  CpuLedger child;
  child.see_own(5s);
  child.inherit(grandchild);
  child.see_waited(1s);
  CpuLedger parent;
  parent.inherit_children_of(child);
  EXPECT_EQ(parent.children(), 1s);
  parent.see_waited(6s);
  EXPECT_EQ(parent.children(), 1s);
}

TEST(CpuLedger, HandsOnWhatItInherited) {
  CpuLedger grandchild;
  grandchild.see_own(1s);
  CpuLedger child;
  child.see_own(2s);
  child.inherit(grandchild);
  CpuLedger parent;
  parent.inherit(child);
  EXPECT_EQ(parent.total(), 3s);
}

}  // namespace
}  // namespace wattle
