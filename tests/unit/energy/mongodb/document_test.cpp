// With WATTLE_TEST_MONGODB_URI set, what is stored is checked on that server too, in a database
// that is dropped again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "unit/energy/mongodb/mongo_test.hpp"

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing_mongo::Collection;
using testing_mongo::one_sample;
using testing_mongo::Thrown;
using testing_mongo::thrown_by;
using testing_samples::joules;
using testing_samples::nothing_known;
using testing_samples::sample;
using Cause = DatabaseError::Cause;
using DocumentTest = testing_mongo::MongoTest;

/// On the server in tests/fakes, and on a real one where there is one.
class StoredTest : public DocumentTest, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    if (!GetParam()) {
      uri_ = server_.uri();
      return;
    }
    const char* const uri = std::getenv("WATTLE_TEST_MONGODB_URI");
    if (uri == nullptr) GTEST_SKIP() << "WATTLE_TEST_MONGODB_URI names no server";
    uri_ = uri;
    database_ += "_" + std::to_string(::getpid());
    stored().drop();
  }
  void TearDown() override {
    if (GetParam() && !uri_.empty()) stored().drop();
  }

  [[nodiscard]] MongoHandler handler(const std::string& prefix = "trace_",
                                     SampleDetails details = {}) const {
    return MongoHandler({.uri = uri_,
                         .database = database_,
                         .collection = "traces",
                         .trace_name_prefix = prefix,
                         .details = details});
  }
  [[nodiscard]] Collection stored() const { return {uri_, database_, "traces"}; }

  std::string uri_;
  std::string database_ = "wattle_test";
};

INSTANTIATE_TEST_SUITE_P(Mongo, StoredTest, testing::Bool(),
                         [](const auto& real) { return real.param ? "OnARealServer" : "OnAFake"; });

TEST_P(StoredTest, EachTraceIsADocumentOfNumbersWithTheirTypes) {
  MongoHandler handler = this->handler();
  handler.process(
      EnergyTrace({sample("a", {{"package_0", joules(0.123456)}, {"nvidia_gpu_0", joules(0.004)}},
                          {.timestamp_unix_s = 1669000000.5, .duration_s = 1e-5}),
                   sample("b", {{"package_0", nothing_known()}, {"nvidia_gpu_0", nothing_known()}},
                          {.timestamp_unix_s = 1669000001.0, .duration_s = 2.0})}));
  handler.process(EnergyTrace());
  handler.save_data();
  EXPECT_THAT(
      stored().documents(),
      ElementsAre("{ \"name\" : \"trace_0\", \"trace\" : [ "
                  "{ \"timestamp\" : { \"$numberDouble\" : \"1669000000.5\" }, \"tag\" : \"a\", "
                  "\"duration\" : { \"$numberDouble\" : \"1.0000000000000000818e-05\" }, "
                  "\"energy\" : { \"package_0\" : { \"$numberDouble\" : \"123456.0\" }, "
                  "\"nvidia_gpu_0\" : { \"$numberLong\" : \"4000\" } } }, "
                  "{ \"timestamp\" : { \"$numberDouble\" : \"1669000001.0\" }, \"tag\" : \"b\", "
                  "\"duration\" : { \"$numberDouble\" : \"2.0\" }, "
                  "\"energy\" : { \"package_0\" : null, \"nvidia_gpu_0\" : null } } ] }",
                  "{ \"name\" : \"trace_1\", \"trace\" : [  ] }"));
}

/// Of a counter that restarted.
EnergySample unsound_sample() {
  return sample("a",
                {{"package_0",
                  {.energy = Joules(0.5),
                   .uncertainty = Joules(0.000061),
                   .unknown = Seconds(0.25),
                   .flags = Flags::of(Flag::reset)}},
                 {"dram_0", nothing_known()}},
                {.timestamp_unix_s = 1669000000.5, .duration_s = 2.0});
}

TEST_P(StoredTest, ALowerBoundIsNullAndTheLogSaysSo) {
  std::vector<std::string> lines;
  set_log([&](std::string_view line) { lines.emplace_back(line); });
  MongoHandler handler = this->handler();
  handler.process(EnergyTrace({unsound_sample()}));
  handler.save_data();
  set_log({});
  EXPECT_THAT(stored().documents(), ElementsAre(HasSubstr("\"energy\" : { \"package_0\" : null")));
  EXPECT_THAT(lines, ElementsAre(HasSubstr("1 energy for trace_0 is a lower bound and was left "
                                           "out (package_0)")));
}

TEST_P(StoredTest, ALowerBoundIsReportedByItsDetails) {
  std::vector<std::string> lines;
  set_log([&](std::string_view line) { lines.emplace_back(line); });
  MongoHandler handler = this->handler("trace_", {.details = true});
  handler.process(EnergyTrace({unsound_sample()}));
  handler.save_data();
  set_log({});
  EXPECT_THAT(stored().documents(),
              ElementsAre(HasSubstr(
                  "\"energy\" : { \"package_0\" : { \"$numberDouble\" : \"500000.0\" }, "
                  "\"dram_0\" : null }, \"details\" : { "
                  "\"package_0\" : { \"uncertainty\" : { \"$numberDouble\" : \"61.0\" }, "
                  "\"unknown_s\" : { \"$numberDouble\" : \"0.25\" }, \"flags\" : [ \"reset\" ] }, "
                  "\"dram_0\" : { \"uncertainty\" : null, "
                  "\"unknown_s\" : { \"$numberDouble\" : \"0.0\" }, \"flags\" : [  ] } }")));
  EXPECT_THAT(lines, testing::IsEmpty());
}

TEST_P(StoredTest, TextIsUtf8) {
  MongoHandler handler = this->handler("prefix \xff ");
  const std::string long_tag(1'000'000, 'x');
  handler.process(
      EnergyTrace({sample("\u20ac\xc3(", {{"my.\xffsource", joules(1)}}), sample(long_tag, {})}));
  handler.save_data();
  const std::vector<std::string> documents = stored().documents();
  ASSERT_THAT(documents, SizeIs(1));
  EXPECT_THAT(documents[0], HasSubstr("\"name\" : \"prefix \uFFFD 0\""));
  EXPECT_THAT(documents[0], HasSubstr("\"tag\" : \"\u20ac\uFFFD(\""));
  EXPECT_THAT(documents[0], HasSubstr("\"my.\uFFFDsource\""));
  EXPECT_THAT(documents[0], HasSubstr("\"tag\" : \"" + long_tag + "\""));
}

TEST_P(StoredTest, ATagMayHoldAnyCharacter) {
  MongoHandler handler = this->handler();
  handler.process(EnergyTrace({sample(std::string("a\0b;\n\"", 6), {})}));
  handler.save_data();
  const std::vector<std::string> documents = stored().documents();
  ASSERT_THAT(documents, SizeIs(1));
  EXPECT_THAT(documents[0], HasSubstr(R"("tag" : "a\u0000b;\n\"")"));
}

TEST_F(DocumentTest, SaysThatATraceIsLargerThanADocumentCanBe) {
  MongoHandler handler(options());
  handler.process(testing_samples::many_samples(1'000'000));
  handler.process(one_sample("small"));
  const Thrown thrown = thrown_by([&] { handler.save_data(); });
  EXPECT_EQ(thrown.cause, Cause::server);
  EXPECT_THAT(thrown.message, HasSubstr("the 1000000 samples of trace_0 are more than a MongoDB "
                                        "document can hold (16 MiB)"));
  EXPECT_THAT(names(), ElementsAre("trace_1"));
}

TEST_F(DocumentTest, SaysThatATagIsLargerThanADocumentCanBe) {
  MongoHandler handler(options());
  handler.process(one_sample(std::string(std::size_t{17} << 20U, 'x')));
  EXPECT_THAT(thrown_by([&] { handler.save_data(); }).message, HasSubstr("16 MiB"));
}

}  // namespace
}  // namespace wattle
