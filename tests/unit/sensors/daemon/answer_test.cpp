#include "sensors/daemon/answer.hpp"

#include <gtest/gtest.h>

#include <string>

namespace wattle::daemon_source {
namespace {

TEST(DaemonHead, IsWholeWhenItsBodyIs) {
  const std::string text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_EQ(parse_head(text.substr(0, length)).extent, Extent::part) << length;
  }
  const Head head = parse_head(text);
  EXPECT_EQ(head.extent, Extent::whole);
  EXPECT_EQ(head.status, 200U);
  EXPECT_EQ(text.substr(head.body_at, head.body_bytes), "hello");
  EXPECT_FALSE(head.closes);
}

TEST(DaemonHead, NamesOfFieldsMayBeWrittenAnyhow) {
  const Head head =
      parse_head("HTTP/1.0 404 Not Found\r\ncontent-LENGTH:0\r\nConnection: Close\r\n\r\n");
  EXPECT_EQ(head.extent, Extent::whole);
  EXPECT_EQ(head.status, 404U);
  EXPECT_TRUE(head.closes);
}

TEST(DaemonHead, WhatIsNoAnswerIsReportedAtOnce) {
  for (const char* text : {"S", "HTTP/2", "\r\n", "http/1.1", "\x16\x03"}) {
    EXPECT_EQ(parse_head(text).extent, Extent::none) << text;
  }
}

TEST(DaemonHead, WhatCannotBeMeasuredIsNoAnswer) {
  const char* const heads[] = {
      "HTTP/1.1 200 OK\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1 1\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 4294967296\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n",
      "HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 abc\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 2000\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 100 Continue\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 \r\n\r\n",
  };
  for (const char* head : heads) EXPECT_EQ(parse_head(head).extent, Extent::none) << head;
}

TEST(DaemonCounters, AreThoseOfEachCpu) {
  const auto all = parse_counters(
      R"({"0":{"cpu_energy_uj":123456,"dram_energy_uj":78901,"since_ms":1762000000000},)"
      R"("11":{"cpu_energy_uj":18446744073709551615,"dram_energy_uj":null}})");
  ASSERT_TRUE(all);
  ASSERT_EQ(all->count, 2U);
  EXPECT_EQ(all->cpus[0],
            (CpuCounters{.id = 0, .cpu_uj = 123456, .dram_uj = 78901, .since_ms = 1762000000000}));
  ASSERT_NE(all->find(11), nullptr);
  EXPECT_EQ(all->find(11)->cpu_uj, UINT64_MAX);
  EXPECT_EQ(all->find(11)->dram_uj, std::nullopt);
  EXPECT_EQ(all->find(5), nullptr);
}

TEST(DaemonCounters, OrderBlanksAndOtherKeysDoNotMatter) {
  const auto all = parse_counters(
      " { \"0\" : {\r\n\t\"x\":[1,{\"y\":\"}\\\"\"},-2.5e3,true],\"dram_energy_uj\" : 2 ,"
      "\"z\":{},\"cpu_energy_uj\" : 1 } } ");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->find(0)->cpu_uj, 1U);
  EXPECT_EQ(all->find(0)->dram_uj, 2U);
}

TEST(DaemonCounters, NoCpuIsAnAnswer) {
  const auto all = parse_counters("{}");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->count, 0U);
}

TEST(DaemonCounters, WhatIsNotThemIsNothing) {
  for (const char* number : {"-1", "1.5", "1e3", "\"1\"", "18446744073709551616", "true", "01", "",
                             "NaN", "nullx", "1x", "[1]"}) {
    const std::string text = std::string(R"({"0":{"cpu_energy_uj":)") + number + "}}";
    EXPECT_FALSE(parse_counters(text)) << text;
  }
  for (const char* text :
       {"", "null", "[]", "{", "{}x", R"({"a":{}})", R"({"-1":{}})", R"({"4294967296":{}})",
        R"({"0":{},"0":{}})", R"({"0":5})", R"({"0":{}"1":{}})", R"({"0":{},})", R"({"0":{"a"}})",
        R"({"0":{"a":}})", R"({"0":{"a":tru!}})", "{\"0", "{\"0\\"}) {
    EXPECT_FALSE(parse_counters(text)) << text;
  }
}

TEST(DaemonCounters, DeepNestingIsNotFollowed) {
  std::string text = R"({"0":{"a":)";
  text.append(1'000'000, '[');
  EXPECT_FALSE(parse_counters(text));
}

TEST(DaemonCounters, MoreCpusThanThereCanBeAreNothing) {
  std::string text = "{";
  for (std::size_t i = 0; i <= kMostCpus; ++i) {
    text += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":{}";
  }
  EXPECT_FALSE(parse_counters(text + "}"));
}

}  // namespace
}  // namespace wattle::daemon_source
