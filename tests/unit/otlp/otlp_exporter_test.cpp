#include "otlp/otlp_exporter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "fakes/temp_folder.hpp"

namespace wattle::otlp {
namespace {

using fakes::TempFolder;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A collector that gives the answers of a test, and the lines that the exporter says.
class ScriptedCollector {
 public:
  /// Later requests are accepted.
  void answer_next(std::vector<OtlpAnswer> answers) {
    const std::lock_guard lock(mutex_);
    script_.assign(answers.begin(), answers.end());
  }
  OtlpAnswer take(const OtlpBatch& batch) {
    const std::lock_guard lock(mutex_);
    ++requests_;
    OtlpAnswer answer{.status = 200, .body = "{}"};
    if (!script_.empty()) {
      answer = script_.front();
      script_.pop_front();
    }
    if (answer.status == 200) accepted_.push_back(batch.body);
    changed_.notify_all();
    return answer;
  }
  void say(std::string_view line) {
    const std::lock_guard lock(mutex_);
    lines_.emplace_back(line);
    changed_.notify_all();
  }
  /// False: it did not get that many within half a minute.
  bool wait_for_requests(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] { return requests_ >= count; });
  }
  std::vector<std::string> accepted() {
    const std::lock_guard lock(mutex_);
    return accepted_;
  }
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<OtlpAnswer> script_;
  std::size_t requests_ = 0;
  std::vector<std::string> accepted_;
  std::vector<std::string> lines_;
};

class ScriptedPost final : public OtlpPost {
 public:
  explicit ScriptedPost(ScriptedCollector& to) : to_(to) {}
  OtlpAnswer post(const OtlpBatch& batch, std::chrono::milliseconds,
                  const std::function<bool()>&) override {
    return to_.take(batch);
  }

 private:
  ScriptedCollector& to_;
};

class OtlpExporterTest : public testing::Test {
 protected:
  std::unique_ptr<OtlpExporter> exporter(const std::string& spool = "",
                                         std::uint64_t most_bytes = 1 << 20) {
    return std::make_unique<OtlpExporter>(
        OtlpExporterOptions{.name = "http://collector",
                            .spool = spool,
                            .most_bytes = most_bytes,
                            .first_delay = delay_,
                            .longest_delay = delay_,
                            .say = [this](std::string_view line) { collector_.say(line); }},
        std::make_unique<ScriptedPost>(collector_), machine_clock());
  }

  static OtlpBatch batch(const std::string& body) {
    return {.signal = OtlpSignal::metrics, .items = 2, .body = body};
  }

  std::chrono::nanoseconds delay_ = std::chrono::milliseconds(1);
  TempFolder temp_;
  std::string spool_ = (temp_.path() / "spool").string();
  ScriptedCollector collector_;
};

TEST_F(OtlpExporterTest, SendsInOrder) {
  const auto sender = exporter();
  sender->add(batch("a"));
  sender->add(batch("b"));
  EXPECT_TRUE(sender->finish(std::chrono::seconds(30)));
  EXPECT_THAT(collector_.accepted(), ElementsAre("a", "b"));
  EXPECT_THAT(collector_.lines(), IsEmpty());
}

TEST_F(OtlpExporterTest, SendsTheSameAgainUntilItIsAccepted) {
  collector_.answer_next({{.failure = "connection refused"},
                          {.status = 503},
                          {.status = 429},
                          {.status = 502},
                          {.status = 504}});
  const auto sender = exporter();
  sender->add(batch("a"));
  sender->add(batch("b"));
  EXPECT_TRUE(collector_.wait_for_requests(7));
  EXPECT_TRUE(sender->finish(std::chrono::seconds(30)));
  EXPECT_THAT(collector_.accepted(), ElementsAre("a", "b"));
  EXPECT_THAT(
      collector_.lines(),
      ElementsAre(HasSubstr("cannot send telemetry to http://collector: connection refused"),
                  HasSubstr("takes telemetry again")));
}

TEST_F(OtlpExporterTest, DropsWhatIsRefusedAndSaysSo) {
  collector_.answer_next({{.status = 400, .body = R"({"message":"bad unit"})"}});
  const auto sender = exporter();
  sender->add(batch("a"));
  sender->add(batch("b"));
  EXPECT_TRUE(sender->finish(std::chrono::seconds(30)));
  EXPECT_THAT(collector_.accepted(), ElementsAre("b"));
  EXPECT_THAT(collector_.lines(),
              ElementsAre(AllOf(HasSubstr("2 data points"), HasSubstr("400: bad unit"))));
}

TEST_F(OtlpExporterTest, CountsWhatIsDroppedLaterInOneLine) {
  collector_.answer_next({{.status = 400}, {.status = 400}, {.status = 400}});
  const auto sender = exporter();
  for (const char* const body : {"a", "b", "c"}) sender->add(batch(body));
  EXPECT_TRUE(collector_.wait_for_requests(3));
  EXPECT_TRUE(sender->finish(std::chrono::seconds(30)));
  std::uint64_t dropped = 0;
  for (const std::string& line : collector_.lines()) {
    const std::string number = line.substr(line.find(':') + 2);
    dropped += std::stoull(number);
  }
  EXPECT_EQ(dropped, 6U);
  EXPECT_LE(collector_.lines().size(), 2U);
}

TEST_F(OtlpExporterTest, WaitsAsLongAsTheCollectorAsks) {
  collector_.answer_next({{.status = 429, .retry_after = std::chrono::seconds(1000)}});
  const auto sender = exporter(spool_);
  sender->add(batch("a"));
  EXPECT_TRUE(collector_.wait_for_requests(1));
  EXPECT_TRUE(sender->finish(std::chrono::milliseconds(50)));
  EXPECT_THAT(collector_.accepted(), IsEmpty());
}

TEST_F(OtlpExporterTest, TheNextProcessSendsWhatIsInTheSpool) {
  delay_ = std::chrono::hours(1);
  collector_.answer_next({{.failure = "down"}});
  {
    const auto sender = exporter(spool_);
    sender->add(batch("a"));
    EXPECT_TRUE(collector_.wait_for_requests(1));
    sender->add(batch("b"));
    EXPECT_TRUE(sender->finish(std::chrono::milliseconds(10)));
  }
  const auto sender = exporter(spool_);
  EXPECT_TRUE(sender->finish(std::chrono::seconds(30)));
  EXPECT_THAT(collector_.accepted(), ElementsAre("a", "b"));
}

TEST_F(OtlpExporterTest, WithoutASpoolTheRestIsDroppedAtTheEndAndNamed) {
  delay_ = std::chrono::hours(1);
  collector_.answer_next({{.failure = "down"}});
  const auto sender = exporter();
  sender->add(batch("a"));
  EXPECT_TRUE(collector_.wait_for_requests(1));
  sender->add(batch("b"));
  EXPECT_TRUE(sender->finish(std::chrono::milliseconds(10)));
  EXPECT_THAT(collector_.lines(),
              Contains(AllOf(HasSubstr("4 data points"), HasSubstr("before they could be sent"))));
}

TEST_F(OtlpExporterTest, ForgetsTheOldestOfTooMuchAndSaysSo) {
  delay_ = std::chrono::hours(1);
  collector_.answer_next({{.failure = "down"}});
  const auto sender = exporter("", 1000);
  sender->add(batch(std::string(400, 'a')));
  EXPECT_TRUE(collector_.wait_for_requests(1));
  for (int i = 0; i < 4; ++i) sender->add(batch(std::string(400, 'b')));
  EXPECT_TRUE(sender->finish(std::chrono::milliseconds(10)));
  std::uint64_t dropped = 0;
  for (const std::string& line : collector_.lines()) {
    if (line.find("dropped") != std::string::npos)
      dropped += std::stoull(line.substr(line.find(':') + 2));
  }
  EXPECT_EQ(dropped, 10U);  // none was sent
}

}  // namespace
}  // namespace wattle::otlp
