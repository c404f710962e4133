#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "wire/event.hpp"
#include "wire/message_json.hpp"

namespace wattle::wire {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Events = std::vector<std::string>;

void feed(SseReader& reader, std::string_view bytes, Events& events) {
  while (const auto event = reader.next(bytes)) events.emplace_back(*event);
  EXPECT_TRUE(bytes.empty());
}

Events read(std::string_view bytes) {
  SseReader reader;
  Events events;
  feed(reader, bytes, events);
  return events;
}

/// Fed byte by byte.
Events read_bytes(std::string_view bytes) {
  SseReader reader;
  Events events;
  for (const char& byte : bytes) feed(reader, {&byte, 1}, events);
  return events;
}

TEST(SseReading, FindsEventsWhateverTheirLinesEndIn) {
  EXPECT_THAT(read("data: a\n\ndata: b\n\n"), ElementsAre("a", "b"));
  EXPECT_THAT(read("data: a\r\n\r\ndata: b\r\n\r\n"), ElementsAre("a", "b"));
  EXPECT_THAT(read("data: a\r\rdata: b\r\r"), ElementsAre("a", "b"));
}

TEST(SseReading, TakesDataWithAndWithoutTheBlank) {
  EXPECT_THAT(read("data:a\n\ndata:  b\n\n"), ElementsAre("a", " b"));
}

TEST(SseReading, JoinsLinesOfData) {
  EXPECT_THAT(read("data: {\ndata:\"a\":1}\n\n"), ElementsAre("{\n\"a\":1}"));
  EXPECT_THAT(read("data\ndata: x\n\n"), ElementsAre("\nx"));
}

TEST(SseReading, PassesOverCommentsAndOtherFields) {
  EXPECT_THAT(read(comment("alive") + "event: power\nid: 7\nretry: 10\ndata: a\nodd\n\n: b\n\n"),
              ElementsAre("a"));
  EXPECT_THAT(read(" data: a\n\ndatas: b\n\n"), IsEmpty());
}

TEST(SseReading, GivesCommentsToWhoeverAskedForThem) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{1000}}) {
    Events comments;
    SseReader reader([&](std::string_view comment) { comments.emplace_back(comment); });
    const std::string bytes = comment("gpu 0: lost") + "data: a\n:bare\n\n:\n\n";
    Events events;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      feed(reader, std::string_view(bytes).substr(at, piece), events);
    }
    EXPECT_THAT(comments, ElementsAre("gpu 0: lost", "bare", ""));
    EXPECT_THAT(events, ElementsAre("a"));
  }
}

TEST(SseReading, GivesNothingForAnEventWithoutData) {
  EXPECT_THAT(read("\n\n\ndata\n\ndata:\n\n"), IsEmpty());
}

TEST(SseReading, WaitsForTheEndOfAnEvent) { EXPECT_THAT(read("data: a\n"), IsEmpty()); }

TEST(SseReading, PassesOverAByteOrderMarkAtTheBegin) {
  EXPECT_THAT(read("\xEF\xBB\xBF"
                   "data: a\n\n"),
              ElementsAre("a"));
  EXPECT_THAT(read_bytes("\xEF\xBB\xBF"
                         "data: a\n\n"),
              ElementsAre("a"));
}

TEST(SseReading, GivesTheSameEventsHoweverTheBytesAreSplit) {
  const std::vector<std::string> parts = {"data: a\n\n",
                                          "data:b\r\n\r\n",
                                          "data: c\r\r",
                                          ": comment\n\n",
                                          "data: d\ndata: e\n\n",
                                          "\n",
                                          "\r",
                                          "\r\n",
                                          "event: x\n",
                                          "data",
                                          ":",
                                          "data: {\"a\":\"\xC3\xA9\"}\n",
                                          " ",
                                          "x",
                                          "data: " + std::string(3000, 'y') + "\n\n"};
  std::minstd_rand random(20260101);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (int i = 0; i < 12; ++i) text += parts[random() % parts.size()];
    const Events expected = read(text);
    EXPECT_EQ(read_bytes(text), expected) << text;
    SseReader reader;
    Events events;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t length = 1 + random() % 40;
      feed(reader, std::string_view(text).substr(at, length), events);
      at += length;
    }
    EXPECT_EQ(events, expected) << text;
  }
}

class LongEvents : public testing::TestWithParam<std::size_t> {
 protected:
  /// In pieces of that size.
  void feed_pieces(std::string_view bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += GetParam()) {
      feed(reader_, bytes.substr(at, GetParam()), events_);
      most_ = std::max(most_, reader_.memory_bytes());
    }
  }

  SseReader reader_;
  Events events_;
  std::size_t most_ = 0;
};

TEST_P(LongEvents, AreDroppedWithoutTakingMoreThanTheirLimit) {
  feed_pieces("data: a\n\n");
  // Ten megabytes without a line end.
  for (int i = 0; i < 10; ++i) feed_pieces("data: " + std::string(std::size_t{1} << 20U, 'x'));
  EXPECT_EQ(reader_.dropped(), 1U);
  EXPECT_LE(most_, 2 * SseReader::kLongestEvent);
  feed_pieces("\ndata: still the same event\n\ndata: b\n\n");
  EXPECT_THAT(events_, ElementsAre("a", "b"));
  EXPECT_EQ(reader_.dropped(), 1U);
  EXPECT_LE(reader_.memory_bytes(), 4096U);
}

TEST_P(LongEvents, AreDroppedWhereTheyHaveTooManyLines) {
  const std::string line = "data: " + std::string(1000, 'x') + "\n";
  for (int i = 0; i < 3000; ++i) feed_pieces(line);
  feed_pieces("\ndata: b\n\n");
  EXPECT_THAT(events_, ElementsAre("b"));
  EXPECT_EQ(reader_.dropped(), 1U);
  EXPECT_LE(most_, 3 * SseReader::kLongestEvent);
}

TEST_P(LongEvents, JustWithinTheLimitAreTaken) {
  const std::string data(SseReader::kLongestEvent - 6, 'x');
  feed_pieces("data: " + data + "\n\n");
  feed_pieces("data: x" + data + "\n\n");
  EXPECT_EQ(events_, Events{data});
  EXPECT_EQ(reader_.dropped(), 1U);
}

INSTANTIATE_TEST_SUITE_P(InPieces, LongEvents, testing::Values(1000, 16'384, 100'000'000));

}  // namespace
}  // namespace wattle::wire
