#include "run/phases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace wattle::app {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::SizeIs;

const TimePoint kBegin{1h};

/// A run in which a watt is spent all the time, and a core is used.
class PhasesTest : public testing::Test {
 protected:
  [[nodiscard]] static SharedEnd at(std::chrono::nanoseconds time, std::uint64_t memory = 100) {
    return std::make_shared<PhaseEnd>(
        PhaseEnd{.at = kBegin + time, .counters = {}, .cpu = time, .memory_bytes = memory});
  }
  void take(MarkKind kind, const std::string& name, std::chrono::nanoseconds time) {
    phases_.take(Mark{.kind = kind, .name = name}, at(time));
  }
  [[nodiscard]] PhasesReport report() const {
    return phases_.report(
        kBegin,
        [](const PhaseEnd& begin, const PhaseEnd& end) {
          EnergyFigure figure;
          figure.known = end.at - begin.at;
          figure.energy = Watts(1.0) * figure.known;
          figure.uncertainty = Joules(0.3);
          figure.mean = Watts(1.0);
          return std::vector<DomainFigure>{{.domain = Domain::package(0),
                                            .contained_in = {},
                                            .source = "powercap",
                                            .figure = figure}};
        },
        "no procfs");
  }
  Phases phases_;
};

TEST_F(PhasesTest, HaveTimeEnergyCpuAndMemory) {
  take(MarkKind::start, "a", 1s);
  phases_.sample(500);
  take(MarkKind::end, "a", 3s);
  phases_.sample(900);
  const PhasesReport phases = report();
  ASSERT_THAT(phases.rows, SizeIs(1));
  const PhaseReport& row = phases.rows[0];
  EXPECT_EQ(row.time, Seconds(2.0));
  EXPECT_EQ(row.total.energy, Joules(2.0));
  EXPECT_EQ(row.cpu, Seconds(2.0));
  EXPECT_EQ(row.peak_memory_bytes, 500U) << "the highest sample within";
  EXPECT_EQ(row.spans[0].begin, Seconds(1.0));
  EXPECT_THAT(row.unknown, IsEmpty());
}

TEST_F(PhasesTest, OfOneNameAndParentShareARow) {
  for (int i = 0; i < 4; ++i) {
    take(MarkKind::start, "a", (2s * i));
    take(MarkKind::end, "a", (2s * i) + 1s);
  }
  const PhasesReport phases = report();
  ASSERT_THAT(phases.rows, SizeIs(1));
  EXPECT_THAT(phases.rows[0].spans, SizeIs(4));
  EXPECT_EQ(phases.rows[0].total.energy, Joules(4.0));
  EXPECT_NEAR(phases.rows[0].total.uncertainty.si(), 0.6, 1e-9) << "in quadrature";
}

TEST_F(PhasesTest, LieInsideOfEachOther) {
  take(MarkKind::start, "b", 0s);
  take(MarkKind::end, "b", 1s);
  take(MarkKind::start, "a", 1s);
  take(MarkKind::start, "b", 2s);
  take(MarkKind::start, "c", 3s);
  take(MarkKind::end, "a", 4s);  // before what began in it
  take(MarkKind::end, "", 5s);
  phases_.end(at(6s));
  const PhasesReport phases = report();
  ASSERT_THAT(phases.rows, SizeIs(4));
  EXPECT_EQ(phases.rows[0].name, "b");
  EXPECT_EQ(phases.rows[0].parent, std::nullopt);
  EXPECT_EQ(phases.rows[1].name, "a");
  EXPECT_EQ(phases.rows[2].name, "b");
  EXPECT_EQ(phases.rows[2].parent, 1U);
  EXPECT_EQ(phases.rows[2].depth, 1U);
  EXPECT_EQ(phases.rows[2].time, Seconds(4.0)) << "to the end of the run";
  EXPECT_EQ(phases.rows[3].parent, 2U);
  EXPECT_EQ(phases.rows[3].time, Seconds(2.0));
}

TEST_F(PhasesTest, FollowEachOther) {
  take(MarkKind::next, "a", 0s);
  take(MarkKind::next, "b", 1s);
  take(MarkKind::next, "a", 2s);
  phases_.end(at(3s));
  const PhasesReport phases = report();
  ASSERT_THAT(phases.rows, SizeIs(2));
  EXPECT_EQ(phases.rows[0].time, Seconds(2.0));
  EXPECT_EQ(phases.rows[1].parent, std::nullopt);
}

TEST_F(PhasesTest, IgnoreWhatHasNoMeaning) {
  phases_.take(std::nullopt, at(0s));
  take(MarkKind::end, "a", 1s);
  take(MarkKind::end, "", 1s);
  EXPECT_EQ(report().ignored, 3U);
  EXPECT_THAT(report().rows, IsEmpty());
}

TEST_F(PhasesTest, AreBounded) {
  for (std::size_t i = 0; i < 2 * Phases::kMostSpans; ++i) {
    take(MarkKind::start, std::to_string(i), 1s);
    take(MarkKind::end, std::to_string(i), 2s);
  }
  EXPECT_THAT(report().rows, SizeIs(Phases::kMostRows));
  EXPECT_EQ(report().dropped, 2 * Phases::kMostSpans - Phases::kMostRows);
}

TEST_F(PhasesTest, SayWhatIsUnknown) {
  const auto without = std::make_shared<PhaseEnd>(PhaseEnd{.at = kBegin});
  phases_.take(Mark{.kind = MarkKind::start, .name = "a"}, without);
  phases_.end(without);
  EXPECT_EQ(report().rows[0].cpu, std::nullopt);
  EXPECT_EQ(report().rows[0].peak_memory_bytes, std::nullopt);
  EXPECT_EQ(report().rows[0].unknown, "no procfs");
}

}  // namespace
}  // namespace wattle::app
