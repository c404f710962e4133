#include <gtest/gtest.h>

#include <set>
#include <string>

#include "runs/history/saved_run_json.hpp"

namespace wattle {
namespace {

TEST(RunId, HasEightLettersAndDigits) {
  EXPECT_EQ(run_id_text(0), "00000000");
  EXPECT_EQ(run_id_text((std::uint64_t{1} << kRunIdBits) - 1), "zzzzzzzz");
}

TEST(RunId, IsReadAgain) {
  for (const std::uint64_t id : {std::uint64_t{1}, run_id_of("a"), run_id_of("{}")}) {
    const auto range = parse_run_id(run_id_text(id));
    ASSERT_TRUE(range);
    EXPECT_EQ(range->first, id);
    EXPECT_EQ(range->last, id);
  }
}

TEST(RunId, IsFoundByItsBeginning) {
  const std::uint64_t id = run_id_of("some record");
  const auto range = parse_run_id(run_id_text(id).substr(0, 4));
  ASSERT_TRUE(range);
  EXPECT_LE(range->first, id);
  EXPECT_GE(range->last, id);
  EXPECT_EQ(range->last - range->first, (std::uint64_t{1} << 20U) - 1);
}

TEST(RunId, IsReadInCapitals) {
  EXPECT_EQ(parse_run_id("K3M9X2QA")->first, parse_run_id("k3m9x2qa")->first);
}

TEST(RunId, IsNothingElse) {
  for (const char* text : {"", "abc", "k3m9x2qab", "k3m9x2q!", "run.json", "hallo", "übe1"}) {
    EXPECT_FALSE(parse_run_id(text)) << text;
  }
}

TEST(RunId, DiffersForRecordsThatResembleEachOther) {
  std::set<std::uint64_t> ids;
  for (int i = 0; i < 1000; ++i) ids.insert(run_id_of("record " + std::to_string(i)));
  EXPECT_EQ(ids.size(), 1000U);
}

TEST(RunId, HasANextOne) {
  EXPECT_EQ(next_run_id(7), 8U);
  EXPECT_EQ(next_run_id((std::uint64_t{1} << kRunIdBits) - 1), 0U);
}

}  // namespace
}  // namespace wattle
