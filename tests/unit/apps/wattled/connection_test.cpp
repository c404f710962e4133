#include "http/connection.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>

#include "serve/log.hpp"
#include "virtual_loop.hpp"

namespace wattle::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

/// What a client sends, and how much it takes.
struct Wire {
  std::string in;
  std::string out;
  std::size_t room = 65536;
};

class FakeTransport final : public SocketTransport {
 public:
  explicit FakeTransport(Wire& wire) : wire_(wire) {}
  [[nodiscard]] ssize_t receive(std::span<char> room) noexcept override {
    if (wire_.in.empty()) return fail();
    const std::size_t count = wire_.in.copy(room.data(), room.size());
    wire_.in.erase(0, count);
    return static_cast<ssize_t>(count);
  }
  [[nodiscard]] ssize_t send(std::string_view bytes) noexcept override {
    const std::string_view taken = bytes.substr(0, wire_.room);
    if (taken.empty()) return fail();
    wire_.out += taken;
    wire_.room -= taken.size();
    return static_cast<ssize_t>(taken.size());
  }
  void finish() noexcept override {}

 private:
  static ssize_t fail() noexcept {
    errno = EAGAIN;
    return -1;
  }
  Wire& wire_;
};

class Owner final : public ConnectionOwner {
 public:
  [[nodiscard]] Loop& loop() noexcept override { return virtual_loop; }
  [[nodiscard]] Service& service() noexcept override { return service_; }
  [[nodiscard]] std::span<char> scratch() noexcept override { return scratch_; }
  void set_busy(Connection& /*connection*/, bool /*is_busy*/) override {}
  void set_partial_record(Connection& /*connection*/, bool /*has_partial_record*/) override {}
  void set_unread(Connection& connection, std::size_t bytes) override {
    connection.set_unread_bytes(bytes);
  }
  void schedule(Connection& connection) override {
    virtual_loop.poster()([self = connection.shared_from_this()] { self->take_turn(); });
  }
  void remove(Connection& /*connection*/) override { is_removed = true; }

  VirtualLoop virtual_loop;
  bool is_removed = false;

 private:
  Service service_{Inventory{}, virtual_loop, ServiceOptions{}};
  std::array<char, 1024> scratch_{};
};

/// A client that listens to a stream, and takes no more of it.
class StuckReader : public testing::Test {
 protected:
  StuckReader() {
    connection_ = std::make_shared<Connection>(owner_, Fd(), std::make_unique<FakeTransport>(wire_),
                                               Peer{.is_local_socket = true});
    connection_->start();
    wire_.in = "GET /cpu/stream_power HTTP/1.1\r\nHost: localhost\r\n\r\n";
    owner_.virtual_loop.run_readable();
    wire_.room = 0;
  }
  ~StuckReader() override { connection_->close(); }

  void deliver() { connection_->deliver(std::make_shared<const std::string>("frame")); }
  /// As the server does each second.
  [[nodiscard]] bool is_open_after(std::chrono::nanoseconds step) {
    owner_.virtual_loop.advance(step);
    const TimePoint now = owner_.virtual_loop.now();
    const bool is_overdue = connection_->is_overdue(now);
    connection_->end_overdue(now);
    EXPECT_EQ(is_overdue, owner_.is_removed);
    return !owner_.is_removed;
  }

  Wire wire_;
  Owner owner_;
  std::shared_ptr<Connection> connection_;
};

TEST_F(StuckReader, HasTheHeadFirst) { EXPECT_TRUE(wire_.out.starts_with("HTTP/1.1 200 OK\r\n")); }

TEST_F(StuckReader, IsCutAfterThirtySecondsWithoutProgress) {
  deliver();
  EXPECT_TRUE(is_open_after(milliseconds(29'999)));
  EXPECT_FALSE(is_open_after(milliseconds(1)));
}

TEST_F(StuckReader, IsCutAlthoughMoreAndMoreWaits) {
  for (int second = 0; second < 30; ++second) {
    deliver();
    EXPECT_TRUE(is_open_after(seconds(second == 29 ? 0 : 1))) << second;
  }
  EXPECT_FALSE(is_open_after(seconds(1)));
}

TEST_F(StuckReader, IsNotCutWhileItTakesAnything) {
  deliver();
  for (int round = 0; round < 5; ++round) {
    EXPECT_TRUE(is_open_after(milliseconds(29'999)));
    wire_.room = 1;
    owner_.virtual_loop.run_writable();
  }
  EXPECT_TRUE(is_open_after(milliseconds(29'999)));
}

TEST_F(StuckReader, IsNotCutWhereNothingWaitsForIt) { EXPECT_TRUE(is_open_after(minutes(60))); }

TEST_F(StuckReader, HearsNothingAfterItWasCut) {
  deliver();
  ASSERT_FALSE(is_open_after(seconds(30)));
  wire_.room = 100;
  const std::string before = wire_.out;
  deliver();
  EXPECT_EQ(wire_.out, before);
}

/// A client that asks and takes nothing of the answer.
class UnreadAnswer : public testing::Test {
 protected:
  UnreadAnswer() {
    wire_.room = 0;
    connection_ = std::make_shared<Connection>(owner_, Fd(), std::make_unique<FakeTransport>(wire_),
                                               Peer{.is_local_socket = true});
    wire_.in = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    connection_->start();
    owner_.virtual_loop.run_readable();
  }
  ~UnreadAnswer() override { connection_->close(); }
  [[nodiscard]] bool is_open_after(std::chrono::nanoseconds step) {
    owner_.virtual_loop.advance(step);
    connection_->end_overdue(owner_.virtual_loop.now());
    return !owner_.is_removed;
  }

  Wire wire_;
  Owner owner_;
  std::shared_ptr<Connection> connection_;
};

TEST_F(UnreadAnswer, IsCutAfterThreeSecondsAndCounted) {
  EXPECT_TRUE(is_open_after(milliseconds(2'999)));
  EXPECT_FALSE(is_open_after(milliseconds(1)));
  EXPECT_EQ(owner_.service().turned_away()[TurnedAway::unread], 1U);
}

TEST_F(UnreadAnswer, IsCutAfterTenSecondsHoweverSlowlyItIsRead) {
  for (int second = 0; second < 9; ++second) {
    EXPECT_TRUE(is_open_after(seconds(1)));
    wire_.room = 1;
    owner_.virtual_loop.run_writable();
  }
  EXPECT_FALSE(is_open_after(seconds(1)));
}

TEST(Connections, AnswerAHeadWithoutTheBodyWhoseLengthTheyReport) {
  Wire wire;
  Owner owner;
  const auto connection = std::make_shared<Connection>(
      owner, Fd(), std::make_unique<FakeTransport>(wire), Peer{.is_local_socket = true});
  connection->start();
  const auto answer_to = [&](const std::string& method) {
    wire.out.clear();
    wire.in = method + " /gpu/set_power_limit HTTP/1.1\r\nHost: localhost\r\n\r\n";
    owner.virtual_loop.run_readable();
    return wire.out;
  };
  const std::string whole = answer_to("POST");
  const std::size_t head = whole.find("\r\n\r\n") + 4;
  EXPECT_GT(whole.size(), head);
  EXPECT_EQ(answer_to("HEAD"), whole.substr(0, head));
  EXPECT_EQ(answer_to("POST"), whole);
  connection->close();
}

TEST(Connections, AreCutWithoutAnAnswerWhereNothingWasAsked) {
  Wire wire;
  Owner owner;
  const auto connection = std::make_shared<Connection>(
      owner, Fd(), std::make_unique<FakeTransport>(wire), Peer{.is_local_socket = true});
  connection->start();
  owner.virtual_loop.advance(minutes(10));
  connection->end_overdue(owner.virtual_loop.now());
  EXPECT_TRUE(owner.is_removed);
  EXPECT_EQ(wire.out, "");
}

TEST(Refusals, OfOneClientAreCountedWhereThereAreTooManyForTheLog) {
  VirtualLoop loop;
  Service service(Inventory{}, loop, ServiceOptions{});
  testing::internal::CaptureStderr();
  for (int i = 0; i < 1000; ++i) service.audit({.name = "192.0.2.1"}, "may not");
  service.tick();
  service.tick();
  end_log();
  const std::string log = testing::internal::GetCapturedStderr();
  const std::size_t summary = log.find(" more requests were refused");
  ASSERT_NE(summary, std::string::npos) << log;
  EXPECT_EQ(log.find(" more requests were refused", summary + 1), std::string::npos) << log;
}

}  // namespace
}  // namespace wattle::daemon
