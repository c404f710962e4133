#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "unit/energy/mongodb/mongo_test.hpp"

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing_mongo::one_sample;
using testing_mongo::Thrown;
using testing_mongo::thrown_by;
using Answer = fakes::MongoServer::Answer;
using Cause = DatabaseError::Cause;
using MongoHandlerTest = testing_mongo::MongoTest;

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

TEST_F(MongoHandlerTest, StoresNothingBeforeItIsAsked) {
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
