#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "sanitized.hpp"
#include "unit/energy/samples.hpp"
#include "wattle/error.hpp"
#include "wattle/handlers.hpp"

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing_samples::joules;
using testing_samples::nothing_known;
using testing_samples::sample;

TEST(ToTable, OfAnEmptyTraceIsEmpty) {
  EXPECT_EQ(to_table(EnergyTrace()), EnergyTable());
  EXPECT_EQ(to_table(EnergyTrace()).rows(), 0U);
}

TEST(ToTable, HasARowForEachSampleAndAColumnForEachDomain) {
  const EnergyTable table = to_table(EnergyTrace(
      {sample("a", {{"d1", joules(1)}, {"d2", joules(2)}}, {.duration_s = 0.5}),
       sample("b", {{"d1", joules(3)}, {"d2", nothing_known()}}, {.timestamp_unix_s = 1.0})}));
  EXPECT_EQ(table.rows(), 2U);
  EXPECT_THAT(table.timestamps, ElementsAre(from_unix(1669000000.0), from_unix(1.0)));
  EXPECT_THAT(table.tags, ElementsAre("a", "b"));
  EXPECT_THAT(table.durations, ElementsAre(Seconds(0.5), Seconds(1.0)));
  ASSERT_THAT(table.domains, SizeIs(2));
  EXPECT_EQ(table.domains[0].domain, "d1");
  EXPECT_THAT(table.domains[0].energies, ElementsAre(joules(1), joules(3)));
  EXPECT_EQ(table.domains[1].domain, "d2");
  EXPECT_THAT(table.domains[1].energies, ElementsAre(joules(2), nothing_known()));
}

TEST(ToTable, RefusesSamplesOfOtherDomainsOrAnotherOrder) {
  const EnergySample first = sample("a", {{"d1", joules(1)}, {"d2", joules(2)}});
  for (const EnergySample& other :
       {sample("b", {{"d1", joules(1)}}), sample("b", {{"d2", joules(1)}, {"d1", joules(2)}}),
        sample("b", {{"d1", joules(1)}, {"d3", joules(2)}})}) {
    EXPECT_THROW((void)to_table(EnergyTrace({first, other})), InconsistentSamples);
  }
}

TEST(TableHandler, HasNoTableBeforeTheFirstSample) {
  TableHandler handler;
  EXPECT_THROW((void)handler.table(), NoSampleProcessed);
  handler.process(EnergyTrace());
  EXPECT_THROW((void)handler.table(), NoSampleProcessed);
}

TEST(TableHandler, JoinsAllTracesAndKeepsThem) {
  TableHandler handler;
  handler.process(
      EnergyTrace({sample("a", {{"d1", joules(1)}}), sample("b", {{"d1", joules(2)}})}));
  EXPECT_THAT(handler.table().tags, ElementsAre("a", "b"));
  handler.process(EnergyTrace({sample("c", {{"d1", joules(3)}})}));
  EXPECT_THAT(handler.table().tags, ElementsAre("a", "b", "c"));
  EXPECT_EQ(handler.table(), handler.table());
}

TEST(TableHandler, RefusesATableOfInconsistentSamples) {
  TableHandler handler;
  handler.process(EnergyTrace({sample("a", {{"d1", joules(1)}})}));
  handler.process(EnergyTrace({sample("b", {{"d2", joules(1)}})}));
  EXPECT_THROW((void)handler.table(), InconsistentSamples);
}

TEST(TableHandler, TakesTracesFromManyThreads) {
  TableHandler handler;
  constexpr int kThreads = 16;
  constexpr int kEach = 50;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&handler] {
        for (int n = 0; n < kEach; ++n) {
          handler.process(EnergyTrace({sample("a", {{"d1", joules(1)}})}));
        }
      });
    }
  }
  EXPECT_EQ(handler.table().rows(), 800U);
}

TEST(TableHandler, HoldsAMillionSamples) {
  TableHandler handler;
  constexpr std::size_t kMany = kSanitized ? 100'000 : 1'000'000;
  handler.process(testing_samples::many_samples(kMany));
  const EnergyTable table = handler.table();
  EXPECT_EQ(table.rows(), kMany);
  EXPECT_EQ(table.tags.back(), std::to_string(kMany - 1));
  EXPECT_THAT(table.domains[1].energies, SizeIs(kMany));
}

}  // namespace
}  // namespace wattle
