#include "sampling/counters/cross_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::SizeIs;

using Results = std::vector<DomainFigure>;

constexpr Seconds kTogether{0.0};

/// A domain's energy over a second.
DomainFigure result(std::string source, const Domain& domain, std::optional<Joules> energy,
                    Joules uncertainty = Joules(0.1)) {
  DomainFigure result{.domain = domain,
                      .source = std::move(source),
                      .figure = {.energy = energy, .uncertainty = uncertainty}};
  if (energy) result.figure.mean = *energy / Seconds(1.0);
  return result;
}

TEST(CrossCheck, ComparesADomainWithEveryOtherInterfaceThatShowsIt) {
  const auto checks = cross_check({{result("perf", Domain::package(0), Joules(50.0))},
                                   {result("powercap", Domain::package(0), Joules(50.1)),
                                    result("powercap", Domain::dram(0), Joules(5.0))},
                                   {result("daemon", Domain::package(0), Joules(49.9))}},
                                  kTogether);
  EXPECT_THAT(checks, ElementsAre(Field(&CrossCheck::other_source, "powercap"),
                                  Field(&CrossCheck::other_source, "daemon")));
  EXPECT_EQ(checks[0].source, "perf");
  EXPECT_EQ(checks[0].energy.energy, Joules(50.0));
  EXPECT_EQ(checks[0].other_energy.energy, Joules(50.1));
}

TEST(CrossCheck, IsEmptyWhereNothingIsShownTwice) {
  EXPECT_THAT(cross_check({{result("perf", Domain::package(0), Joules(1.0))},
                           {result("powercap", Domain::dram(0), Joules(1.0))}},
                          kTogether),
              IsEmpty());
  EXPECT_THAT(cross_check({}, kTogether), IsEmpty());
}

TEST(CrossCheck, AgreesWithinTheCombinedUncertainty) {
  const auto checked = [](double other_j) {
    return cross_check({{result("perf", Domain::package(0), Joules(50.0), Joules(0.3))},
                        {result("powercap", Domain::package(0), Joules(other_j), Joules(0.4))}},
                       kTogether)[0];
  };
  EXPECT_DOUBLE_EQ(checked(50.0).tolerance.si(), 0.5);
  EXPECT_TRUE(checked(50.49).agrees());
  EXPECT_TRUE(checked(49.51).agrees());
  EXPECT_FALSE(checked(50.51).agrees());
  EXPECT_FALSE(checked(49.49).agrees());
}

TEST(CrossCheck, AllowsForWhatIsSpentBetweenTheReads) {
  const Results one = {result("perf", Domain::package(0), Joules(50.0))};
  const Results other = {result("powercap", Domain::package(0), Joules(60.0))};
  EXPECT_FALSE(cross_check({one, other}, kTogether)[0].agrees());
  EXPECT_TRUE(cross_check({one, other}, Seconds(0.2))[0].agrees()) << "12 J at 60 W";
}

TEST(CrossCheck, IsUnknownWhereASideIs) {
  const auto checks = cross_check({{result("perf", Domain::package(0), std::nullopt)},
                                   {result("powercap", Domain::package(0), Joules(1.0))}},
                                  kTogether);
  ASSERT_THAT(checks, SizeIs(1));
  EXPECT_FALSE(checks[0].difference().has_value());
  EXPECT_FALSE(checks[0].agrees());
}

}  // namespace
}  // namespace wattle
