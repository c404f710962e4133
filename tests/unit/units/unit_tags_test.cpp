#include "units/unit_tags.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace wattle::detail {
namespace {

TEST(UnitTags, GiveANameOneColumn) {
  UnitTags tags(4);
  const auto request = tags.column("request");
  EXPECT_NE(request, UnitTags::kOther);
  EXPECT_EQ(tags.column("request"), request);
  EXPECT_NE(tags.column("query"), request);
  EXPECT_EQ(tags.name(request).name, "request");
}

TEST(UnitTags, KeepPhasesOfTagsApart) {
  UnitTags tags(8);
  const auto a = tags.column("a");
  const auto b = tags.column("b");
  const auto prefill = tags.column("prefill", a);
  EXPECT_NE(prefill, tags.column("prefill", b));
  EXPECT_NE(prefill, tags.column("prefill"));
  EXPECT_EQ(tags.name(prefill).of, a);
}

TEST(UnitTags, CountWhatDoesNotFitInAsOther) {
  UnitTags tags(3);
  for (int i = 0; i < 1'000; ++i) (void)tags.column("request " + std::to_string(i));
  EXPECT_EQ(tags.size(), 4U);
  EXPECT_EQ(tags.beyond(), 997U);
  EXPECT_EQ(tags.column("request 5"), UnitTags::kOther);
  EXPECT_NE(tags.column("request 2"), UnitTags::kOther);
}

TEST(UnitTags, HaveOneOther) {
  UnitTags tags(3);
  EXPECT_EQ(tags.column("other"), UnitTags::kOther);
}

TEST(UnitTags, CutLongNames) {
  UnitTags tags(3);
  EXPECT_EQ(tags.column(std::string(300, 'x')), tags.column(std::string(255, 'x')));
}

TEST(UnitTags, AreTheSameForAllThreads) {
  UnitTags tags(64);
  std::vector<std::vector<std::uint16_t>> found(4);
  std::vector<std::thread> threads;
  for (auto& own : found) {
    threads.emplace_back([&] {
      for (int i = 0; i < 64; ++i) own.push_back(tags.column(std::to_string(i)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& own : found) EXPECT_EQ(own, found.front());
  EXPECT_EQ(tags.beyond(), 0U);
}

}  // namespace
}  // namespace wattle::detail
