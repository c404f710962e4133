#include "otlp/http_answer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>

namespace wattle::otlp {
namespace {

constexpr std::int64_t kNow = 1'700'000'000;  // Tue, 14 Nov 2023 22:13:20 GMT

/// What an answer means whose bytes come in pieces of that size.
struct Taken {
  AnswerExtent extent = AnswerExtent::part;
  OtlpAnswer answer{};
  bool keeps_connection = false;
};
Taken take(std::string_view text, std::size_t piece) {
  HttpAnswer answer(kNow);
  AnswerExtent extent = AnswerExtent::part;
  for (std::size_t at = 0; at < text.size() && extent == AnswerExtent::part; at += piece) {
    extent = answer.add(text.substr(at, piece));
  }
  return {extent, answer.get(), answer.keeps_connection()};
}

/// The same, however the bytes are divided.
Taken take(std::string_view text) {
  const Taken whole = take(text, text.size());
  for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{7}}) {
    const Taken pieces = take(text, piece);
    EXPECT_EQ(pieces.extent, whole.extent) << text;
    EXPECT_EQ(pieces.answer.status, whole.answer.status) << text;
    EXPECT_EQ(pieces.answer.body, whole.answer.body) << text;
  }
  return whole;
}

TEST(HttpAnswer, HasABodyOfItsLength) {
  const Taken taken =
      take("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
  EXPECT_EQ(taken.extent, AnswerExtent::whole);
  EXPECT_EQ(taken.answer.status, 200);
  EXPECT_EQ(taken.answer.body, "{}");
  EXPECT_TRUE(taken.keeps_connection);
}

TEST(HttpAnswer, HasABodyOfChunks) {
  const Taken taken = take(
      "HTTP/1.1 400 Bad\r\ntransfer-encoding: "
      "Chunked\r\n\r\n4\r\nabcd\r\nA;x=y\r\n0123456789\r\n0\r\nTrailer: 1\r\n\r\n");
  EXPECT_EQ(taken.extent, AnswerExtent::whole);
  EXPECT_EQ(taken.answer.body, "abcd0123456789");
  EXPECT_TRUE(taken.keeps_connection);
}

TEST(HttpAnswer, WithoutALengthEndsWithTheConnection) {
  HttpAnswer answer(kNow);
  EXPECT_EQ(answer.add("HTTP/1.0 200 OK\n\nab"), AnswerExtent::part);
  EXPECT_EQ(answer.add("c"), AnswerExtent::part);
  EXPECT_EQ(answer.end(), AnswerExtent::whole);
  EXPECT_EQ(answer.get().body, "abc");
  EXPECT_FALSE(answer.keeps_connection());
}

TEST(HttpAnswer, IsNotWholeIfTheConnectionEndsBeforeItsBody) {
  HttpAnswer answer(kNow);
  EXPECT_EQ(answer.add("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"), AnswerExtent::part);
  EXPECT_EQ(answer.end(), AnswerExtent::part);
}

TEST(HttpAnswer, ComesAfterThoseThatOnlySayToContinue) {
  const Taken taken = take(
      "HTTP/1.1 100 Continue\r\nRetry-After: 5\r\n\r\nHTTP/1.1 204 No Content\r\nConnection: "
      "keep-alive, Close\r\n\r\n");
  EXPECT_EQ(taken.extent, AnswerExtent::whole);
  EXPECT_EQ(taken.answer.status, 204);
  EXPECT_FALSE(taken.answer.retry_after);
  EXPECT_FALSE(taken.keeps_connection);
}

TEST(HttpAnswer, HasATimeToWait) {
  const auto wait_of = [](const std::string& value) {
    return take("HTTP/1.1 429 Too Many\r\nRetry-After: " + value + "\r\nContent-Length: 0\r\n\r\n")
        .answer.retry_after;
  };
  using std::chrono::seconds;
  EXPECT_EQ(wait_of("120"), seconds(120));
  EXPECT_EQ(wait_of("Tue, 14 Nov 2023 22:13:50 GMT"), seconds(30));
  EXPECT_FALSE(wait_of("Tue, 14 Nov 2023 22:13:00 GMT")) << "it is past";
  for (const char* const bad :
       {"", "-5", "soon", "99999999999999999999", "Tue, 31 Feb 2024 22:13:50 GMT",
        "Tue, 14 Foo 2023 22:13:50 GMT", "Tue, 14 Nov 99999 22:13:50 GMT"}) {
    EXPECT_FALSE(wait_of(bad)) << bad;
  }
}

TEST(HttpAnswer, IsGarbledIfItIsNoAnswer) {
  for (const char* const text :
       {"SSH-2.0-OpenSSH_9.2\r\n", "HTTP/2 200 OK\r\n", "HTTP/1.1 20 OK\r\n",
        "HTTP/1.1 99999 OK\r\n", "HTTP/1.1 -20 OK\r\n", "\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n"}) {
    EXPECT_EQ(take(text).extent, AnswerExtent::garbled) << text;
  }
}

TEST(HttpAnswer, KeepsOfALongBodyWhatCanMeanAnything) {
  const std::size_t size = 3 * kMostAnswerBytes;
  const Taken taken = take("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) +
                               "\r\n\r\n" + std::string(size, 'x'),
                           4096);
  EXPECT_EQ(taken.extent, AnswerExtent::whole);
  EXPECT_EQ(taken.answer.body.size(), kMostAnswerBytes);
}

TEST(HttpAnswer, TakesNoHeadWithoutEnd) {
  HttpAnswer lines(kNow);
  EXPECT_EQ(lines.add("HTTP/1.1 200 OK\r\n"), AnswerExtent::part);
  AnswerExtent extent = AnswerExtent::part;
  int count = 0;
  while (extent == AnswerExtent::part && ++count < 100'000) extent = lines.add("X: y\r\n");
  EXPECT_EQ(extent, AnswerExtent::garbled);
  HttpAnswer line(kNow);
  EXPECT_EQ(line.add(std::string(1 << 20, 'a')), AnswerExtent::garbled);
}

TEST(HttpAnswer, IsBoundedWhateverComes) {
  std::mt19937 random(48);  // NOLINT(cert-msc51-cpp,bugprone-random-generator-seed)
  constexpr std::array<std::string_view, 12> kPieces = {"HTTP/1.1 200 OK\r\n",
                                                        "HTTP/1.1 100 x\r\n",
                                                        "Content-Length: 3\r\n",
                                                        "Transfer-Encoding: chunked\r\n",
                                                        "\r\n",
                                                        "\n",
                                                        "ffffffffffffffff\r\n",
                                                        "0\r\n",
                                                        "abc",
                                                        std::string_view("\0\xff", 2),
                                                        ":",
                                                        "Connection: close\r\n"};
  for (int i = 0; i < 20'000; ++i) {
    HttpAnswer answer(kNow);
    for (int j = 0; j < 12; ++j) answer.add(kPieces[random() % kPieces.size()]);
    answer.end();
    ASSERT_LE(answer.get().body.size(), kMostAnswerBytes);
    ASSERT_LE(answer.get().status, 999);
  }
}

}  // namespace
}  // namespace wattle::otlp
