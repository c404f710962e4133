// With WATTLE_TEST_MONGODB_URI set, what is stored is checked on that server too, in a database
// that is dropped again; failures are always those of the server in tests/fakes.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mongoc/mongoc.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "fakes/mongo_server.hpp"
#include "unit/energy/samples.hpp"
#include "wattle/error.hpp"
#include "wattle/mongodb.hpp"

namespace wattle {
namespace {

using fakes::MongoServer;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing_samples::joules;
using testing_samples::nothing_known;
using testing_samples::sample;
using Answer = MongoServer::Answer;
using Cause = DatabaseError::Cause;

EnergyTrace one_sample(const std::string& tag) {
  return EnergyTrace({sample(tag, {{"d1", joules(1)}})});
}

/// A collection of a database, as any client sees it.
class Collection {
 public:
  Collection(const std::string& uri, const std::string& database, const std::string& collection) {
    ::mongoc_init();
    client_ = ::mongoc_client_new(uri.c_str());
    collection_ = ::mongoc_client_get_collection(client_, database.c_str(), collection.c_str());
  }
  ~Collection() {
    ::mongoc_collection_destroy(collection_);
    ::mongoc_client_destroy(client_);
  }
  Collection(const Collection&) = delete;
  Collection& operator=(const Collection&) = delete;

  /// Every document without its `_id`, as extended JSON, which shows the types of numbers.
  [[nodiscard]] std::vector<std::string> documents() {
    std::vector<std::string> documents;
    bson_t all;
    ::bson_init(&all);
    mongoc_cursor_t* const cursor =
        ::mongoc_collection_find_with_opts(collection_, &all, nullptr, nullptr);
    const bson_t* document = nullptr;
    while (::mongoc_cursor_next(cursor, &document)) documents.push_back(json_of(*document));
    bson_error_t error;
    EXPECT_FALSE(::mongoc_cursor_error(cursor, &error)) << &error.message[0];
    ::mongoc_cursor_destroy(cursor);
    ::bson_destroy(&all);
    return documents;
  }
  void drop() { ::mongoc_collection_drop(collection_, nullptr); }

 private:
  static std::string json_of(const bson_t& document) {
    bson_t rest;
    ::bson_init(&rest);
    ::bson_copy_to_excluding_noinit(&document, &rest, "_id", nullptr);
    char* const json = ::bson_as_canonical_extended_json(&rest, nullptr);
    std::string text = json;
    ::bson_free(json);
    ::bson_destroy(&rest);
    return text;
  }

  mongoc_client_t* client_ = nullptr;
  mongoc_collection_t* collection_ = nullptr;
};

class MongoHandlerTest : public testing::Test {
 protected:
  MongoHandlerTest() {
    set_log([this](std::string_view message) { messages_.emplace_back(message); });
  }
  ~MongoHandlerTest() override { set_log({}); }

  [[nodiscard]] MongoOptions options() const {
    return {.uri = server_.uri(),
            .database = "wattle",
            .collection = "traces",
            .connect_timeout = std::chrono::seconds(20)};
  }
  [[nodiscard]] Collection collection() const {
    return Collection(server_.uri(), "wattle", "traces");
  }
  /// The names of the stored traces, in order.
  [[nodiscard]] std::vector<std::string> names() const {
    const std::string before = "{ \"name\" : \"";
    std::vector<std::string> names;
    for (const std::string& document : collection().documents()) {
      names.push_back(
          document.substr(before.size(), document.find('"', before.size()) - before.size()));
    }
    return names;
  }

  MongoServer server_;
  std::vector<std::string> messages_;
};

/// What `call` throws.
struct Thrown {
  Cause cause{};
  std::string message;
};
Thrown thrown_by(const std::function<void()>& call) {
  try {
    call();
  } catch (const DatabaseError& error) {
    return {.cause = error.cause(), .message = error.what()};
  }
  ADD_FAILURE() << "no DatabaseError was thrown";
  return {};
}

/// On the server in tests/fakes, and on a real one where there is one.
class StoredTest : public MongoHandlerTest, public testing::WithParamInterface<bool> {
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

  [[nodiscard]] MongoHandler handler(const std::string& prefix = "trace_") const {
    return MongoHandler(
        {.uri = uri_, .database = database_, .collection = "traces", .trace_name_prefix = prefix});
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

TEST_F(MongoHandlerTest, CountsOnAfterASave) {
  MongoHandler handler(options());
  handler.process(one_sample("a"));
  handler.save_data();
  EXPECT_THROW(handler.save_data(), NoSampleProcessed);
  handler.process(one_sample("b"));
  handler.process(one_sample("c"));
  handler.save_data();
  EXPECT_THAT(names(), ElementsAre("trace_0", "trace_1", "trace_2"));
  EXPECT_THAT(messages_, IsEmpty());
}

TEST_F(MongoHandlerTest, OfItsOwnCountsFromZero) {
  for (int i = 0; i < 2; ++i) {
    MongoHandler handler(options());
    handler.process(one_sample("a"));
    handler.save_data();
  }
  EXPECT_THAT(names(), ElementsAre("trace_0", "trace_0"));
}

TEST_F(MongoHandlerTest, StoresNothingBeforeItIsTold) {
  MongoHandler handler(options());
  EXPECT_THROW(handler.save_data(), NoSampleProcessed);
  handler.process(one_sample("a"));
  EXPECT_EQ(server_.inserts(), 0U);
  handler.save_data();
}

TEST_F(MongoHandlerTest, RefusesOptionsThatMeanNothing) {
  const auto with = [this](auto change) {
    MongoOptions changed = options();
    change(changed);
    return changed;
  };
  EXPECT_THROW(MongoHandler(with([](auto& o) { o.database = ""; })), InvalidArgument);
  EXPECT_THROW(MongoHandler(with([](auto& o) { o.collection = ""; })), InvalidArgument);
  EXPECT_THROW(MongoHandler(with([](auto& o) { o.collection = std::string("a\0b", 3); })),
               InvalidArgument);
  EXPECT_THROW(MongoHandler(with([](auto& o) { o.connect_timeout = {}; })), InvalidArgument);
}

TEST_F(MongoHandlerTest, TellsThatAUriCannotBeUnderstood) {
  for (const std::string uri :
       {"", "localhost", "http://localhost", "mongodb://", "mongodb://a:b"}) {
    MongoOptions bad = options();
    bad.uri = uri;
    const Thrown thrown = thrown_by([&] { MongoHandler{bad}; });
    EXPECT_EQ(thrown.cause, Cause::bad_uri) << uri;
    EXPECT_THAT(thrown.message, HasSubstr("it looks like mongodb://localhost:27017")) << uri;
  }
}

TEST_F(MongoHandlerTest, SendsLibmongocsWarningsToTheLog) {
  MongoOptions odd = options();
  odd.uri += "/?noSuchOption=1";
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  MongoHandler{odd};
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_THAT(messages_, ElementsAre(HasSubstr("libmongoc: ")));
}

/// A loopback port that nobody listens at, while this lives.
class SilentPort {
 public:
  SilentPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);  // as sockets are used in C
    EXPECT_EQ(::bind(socket_.get(), generic, size), 0);
    EXPECT_EQ(::getsockname(socket_.get(), generic, &size), 0);
    port_ = ::ntohs(address.sin_port);
  }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

 private:
  Fd socket_;
  std::uint16_t port_ = 0;
};

TEST_F(MongoHandlerTest, TellsThatNoServerAnswersAndKeepsThePasswordToItself) {
  const SilentPort silent;
  const std::string host = "127.0.0.1:" + std::to_string(silent.port());
  MongoOptions unreachable = options();
  unreachable.uri = "mongodb://user:secret@" + host;
  unreachable.connect_timeout = std::chrono::milliseconds(100);
  const Thrown thrown = thrown_by([&] { MongoHandler{unreachable}; });
  EXPECT_EQ(thrown.cause, Cause::unreachable);
  EXPECT_THAT(thrown.message, HasSubstr("no MongoDB server answers at " + host));
  EXPECT_THAT(thrown.message, Not(HasSubstr("secret")));
}

TEST_F(MongoHandlerTest, TellsThatTheServerRefusesTheUser) {
  MongoOptions refused = options();
  refused.uri = "mongodb://user:secret@127.0.0.1:" + std::to_string(server_.port()) +
                "/?authMechanism=SCRAM-SHA-256";
  const Thrown thrown = thrown_by([&] { MongoHandler{refused}; });
  EXPECT_EQ(thrown.cause, Cause::server);
  EXPECT_THAT(thrown.message, HasSubstr("Authentication failed"));
  EXPECT_THAT(thrown.message, Not(HasSubstr("secret")));
}

TEST_F(MongoHandlerTest, KeepsTracesThatTheServerRefusesUnderTheirNames) {
  MongoHandler handler(options());
  handler.process(one_sample("a"));
  handler.process(one_sample("b"));
  server_.answer_inserts({Answer::command_refused, Answer::command_refused});
  const Thrown thrown = thrown_by([&] { handler.save_data(); });
  EXPECT_EQ(thrown.cause, Cause::server);
  EXPECT_THAT(thrown.message, HasSubstr("cannot save 2 traces, which are kept"));
  EXPECT_THAT(thrown.message, HasSubstr("not authorized"));
  EXPECT_THAT(names(), IsEmpty());

  handler.process(one_sample("c"));
  handler.save_data();
  EXPECT_THAT(names(), ElementsAre("trace_0", "trace_1", "trace_2"));
  EXPECT_THROW(handler.save_data(), NoSampleProcessed);
}

TEST_F(MongoHandlerTest, KeepsOnlyTheTraceThatIsRefused) {
  MongoHandler handler(options());
  for (const char* tag : {"a", "b", "c"}) handler.process(one_sample(tag));
  server_.answer_inserts({Answer::inserted, Answer::document_refused});
  const Thrown thrown = thrown_by([&] { handler.save_data(); });
  EXPECT_THAT(thrown.message, HasSubstr("cannot save 1 trace, which is kept"));
  EXPECT_THAT(thrown.message, HasSubstr("Document failed validation"));
  EXPECT_THAT(names(), ElementsAre("trace_0", "trace_2"));

  handler.save_data();
  EXPECT_THAT(names(), ElementsAre("trace_0", "trace_2", "trace_1"));
}

TEST_F(MongoHandlerTest, KeepsWhatWasNotInsertedWhenTheServerHangsUp) {
  MongoHandler handler(options());
  for (const char* tag : {"a", "b", "c"}) handler.process(one_sample(tag));
  server_.answer_inserts({Answer::inserted, Answer::hang_up_before});
  EXPECT_EQ(thrown_by([&] { handler.save_data(); }).cause, Cause::unreachable);
  EXPECT_THAT(names(), ElementsAre("trace_0"));
  EXPECT_EQ(server_.inserts(), 2U) << "nobody answers: it is in vain to go on";

  handler.save_data();
  EXPECT_THAT(names(), ElementsAre("trace_0", "trace_1", "trace_2"));
}

TEST_F(MongoHandlerTest, InsertsNothingTwiceWhereTheServersAnswerWasLost) {
  for (const Answer answer : {Answer::hang_up_after, Answer::not_replicated}) {
    MongoHandler handler(options());
    const std::size_t before = names().size();
    handler.process(one_sample("a"));
    server_.answer_inserts({answer});
    (void)thrown_by([&] { handler.save_data(); });
    handler.save_data();
    EXPECT_THAT(names(), SizeIs(before + 1));
    EXPECT_THROW(handler.save_data(), NoSampleProcessed);
  }
}

TEST_F(MongoHandlerTest, DoesNotTakeAnotherKeysDuplicateForItsOwnDocument) {
  MongoHandler handler(options());
  handler.process(one_sample("a"));
  server_.answer_inserts({Answer::hang_up_before, Answer::another_key_is_taken});
  EXPECT_EQ(thrown_by([&] { handler.save_data(); }).cause, Cause::unreachable);
  EXPECT_EQ(thrown_by([&] { handler.save_data(); }).cause, Cause::server);
  EXPECT_THAT(names(), IsEmpty());
  handler.save_data();
  EXPECT_THAT(names(), ElementsAre("trace_0"));
}

TEST_F(MongoHandlerTest, SaysThatATraceIsLargerThanADocumentCanBe) {
  MongoHandler handler(options());
  handler.process(testing_samples::many_samples(1'000'000));
  handler.process(one_sample("small"));
  const Thrown thrown = thrown_by([&] { handler.save_data(); });
  EXPECT_EQ(thrown.cause, Cause::server);
  EXPECT_THAT(thrown.message, HasSubstr("the 1000000 samples of trace_0 are more than a MongoDB "
                                        "document can hold (16 MiB)"));
  EXPECT_THAT(names(), ElementsAre("trace_1"));
}

TEST_F(MongoHandlerTest, SaysThatATagIsLargerThanADocumentCanBe) {
  MongoHandler handler(options());
  handler.process(one_sample(std::string(std::size_t{17} << 20U, 'x')));
  EXPECT_THAT(thrown_by([&] { handler.save_data(); }).message, HasSubstr("16 MiB"));
}

TEST_F(MongoHandlerTest, SaysOnceThatTracesWereNotSaved) {
  {
    MongoHandler handler(options());
    handler.process(one_sample("a"));
    handler.process(one_sample("b"));
  }
  EXPECT_THAT(messages_, ElementsAre("2 traces for wattle.traces are lost: call save_data before "
                                     "the handler is destroyed"));
}

TEST_F(MongoHandlerTest, DoesNotUseTheConnectionOfAnotherProcess) {
  auto handler = std::make_unique<MongoHandler>(options());
  handler->process(one_sample("a"));
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const Thrown thrown = thrown_by([&] { handler->save_data(); });
    const bool told = thrown.message.find("after fork") != std::string::npos;
    handler.reset();
    ::_exit(told && messages_.empty() ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  handler->save_data();
  EXPECT_THAT(names(), ElementsAre("trace_0"));
}

TEST_F(MongoHandlerTest, IsSharedByManyThreads) {
  constexpr int kThreads = 16;
  constexpr int kEach = 20;
  MongoHandler handler(options());
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&handler] {
        for (int n = 0; n < kEach; ++n) {
          handler.process(one_sample("a"));
          try {
            if (n % 10 == 0) handler.save_data();
          } catch (const NoSampleProcessed&) {
            // Another thread saved ours.
          }
        }
      });
    }
  }
  handler.process(one_sample("a"));
  handler.save_data();
  const std::vector<std::string> stored = names();
  EXPECT_THAT(stored, SizeIs(321));
  EXPECT_THAT(std::set<std::string>(stored.begin(), stored.end()), SizeIs(321));
}

}  // namespace
}  // namespace wattle
