#include "stream/stream_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/environment.hpp"
#include "fakes/temp_folder.hpp"

namespace wattle::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

const char* nothing_set(const char* /*name*/) { return nullptr; }

StreamOptions options_of(std::vector<std::string> words,
                         const Environment& environment = nothing_set) {
  const auto parsed = parse_stream_options(std::move(words), environment);
  const auto* answer = std::get_if<Answer>(&parsed);
  EXPECT_EQ(answer, nullptr) << (answer != nullptr ? answer->text : "");
  return answer == nullptr ? std::get<StreamOptions>(parsed) : StreamOptions{};
}

std::string error_of(std::vector<std::string> words) {
  const auto parsed = parse_stream_options(std::move(words), nothing_set);
  const auto* answer = std::get_if<Answer>(&parsed);
  if (answer == nullptr || !answer->is_error) return "";
  return answer->text;
}

TEST(StreamOptions, NameTheValueThatAnOptionLacks) {
  EXPECT_THAT(error_of({"a:1", "--hosts"}), HasSubstr("--hosts needs a value: FILE\n"));
}

TEST(StreamOptions, NameServersOfAllKinds) {
  const StreamOptions options =
      options_of({"node1:4938", "https://node2:443", "unix:/run/a.sock", "/run/b.sock"});
  ASSERT_EQ(options.servers.size(), 4U);
  EXPECT_EQ(options.servers[0].endpoint, "node1:4938");
  EXPECT_EQ(options.servers[0].transport, Server::Transport::http);
  EXPECT_EQ(options.servers[1].transport, Server::Transport::https);
  EXPECT_EQ(options.servers[2].endpoint, "/run/a.sock");
  EXPECT_EQ(options.servers[3].transport, Server::Transport::unix_socket);
}

TEST(StreamOptions, MeanEverythingOfThisMachinesDaemonWithoutWords) {
  ::unsetenv("ZEUSD_SOCK_PATH");
  ::unsetenv("ZEUSD_HOST_PORT");
  const StreamOptions options = options_of({});
  ASSERT_EQ(options.servers.size(), 1U);
  EXPECT_EQ(options.servers[0].endpoint, "/run/wattled/wattled.sock");
  EXPECT_EQ(options.servers[0].gpu_indices, std::nullopt);
  EXPECT_EQ(options.period, std::chrono::seconds(1));
  EXPECT_FALSE(options.table.shows_energy);
}

TEST(StreamOptions, MeanTheDaemonThatTheOtherCommandsAsk) {
  ::setenv("ZEUSD_SOCK_PATH", "/tmp/zeusd.sock", 1);
  const auto endpoint_where_it_is = [](const char* value) {
    ::setenv("WATTLE_SOCK_PATH", value, 1);
    return options_of({}, environment_variable).servers.at(0).endpoint;
  };
  EXPECT_EQ(endpoint_where_it_is("/tmp/w.sock"), "/tmp/w.sock");
  EXPECT_EQ(endpoint_where_it_is(""), "/tmp/zeusd.sock");
  EXPECT_EQ(endpoint_where_it_is("none"), "/tmp/zeusd.sock");
  ::setenv("WATTLE_TOKEN", "own", 1);
  ::setenv("ZEUSD_TOKEN", "zeus", 1);
  EXPECT_EQ(options_of({}, environment_variable).servers.at(0).token, "own");
  const Server named = options_of({"node1:4938"}, environment_variable).servers.at(0);
  EXPECT_EQ(named.endpoint, "node1:4938");
  EXPECT_EQ(named.token, "zeus") << "our own daemon's goes nowhere else";
  ::unsetenv("ZEUSD_SOCK_PATH");
  ::setenv("ZEUSD_HOST_PORT", "node2:4938", 1);
  EXPECT_EQ(options_of({}, environment_variable).servers.at(0).token, "zeus");
  for (const char* const name :
       {"WATTLE_SOCK_PATH", "WATTLE_TOKEN", "ZEUSD_TOKEN", "ZEUSD_HOST_PORT"}) {
    ::unsetenv(name);
  }
}

TEST(StreamOptions, ChooseDevicesOfAllServers) {
  const StreamOptions options = options_of({"a:1", "b:1", "--gpus", "0,2", "--cpus", "none"});
  for (const Server& server : options.servers) {
    EXPECT_THAT(server.gpu_indices, Optional(ElementsAre(0, 2)));
    EXPECT_THAT(server.cpu_indices, Optional(IsEmpty()));
  }
}

TEST(StreamOptions, ReadTheTokenFromAFilesFirstLine) {
  const fakes::TempFolder folder;
  const std::string path = folder.path() / "token";
  std::ofstream(path) << "aaa.bbb.ccc\n";
  EXPECT_EQ(options_of({"a:1", "--token-file", path}).servers[0].token, "aaa.bbb.ccc");
}

TEST(StreamOptions, ReadTheTokenFromTheEnvironment) {
  const auto environment = [](const char* name) {
    return std::string_view(name) == "ZEUSD_TOKEN" ? "aaa" : nullptr;
  };
  EXPECT_EQ(options_of({"a:1"}, environment).servers[0].token, "aaa");
}

TEST(StreamOptions, ReadServersFromTheLinesOfAFile) {
  const fakes::TempFolder folder;
  const std::string path = folder.path() / "hosts";
  std::ofstream(path) << "# rack 1\nnode1:1  # with a GPU\n\n  node2:1\n";
  const StreamOptions options = options_of({"--hosts", path});
  ASSERT_EQ(options.servers.size(), 2U);
  EXPECT_EQ(options.servers[1].endpoint, "node2:1");
}

TEST(StreamOptions, RefuseTwoServersInOneLineOfAFile) {
  const fakes::TempFolder folder;
  const std::string path = folder.path() / "hosts";
  std::ofstream(path) << "node1:1\n\nnode2:1 node3:1\n";
  EXPECT_THAT(error_of({"--hosts", path}), HasSubstr(path + ":3: unexpected 'node3:1'"));
}

TEST(StreamOptions, RefuseCertificatesThatCannotBeRead) {
  EXPECT_THAT(error_of({"a:1", "--ca-file", "/nowhere"}),
              HasSubstr("cannot read the certificates in /nowhere: No such file or directory"));
  EXPECT_THAT(error_of({"a:1", "--ca-file", "/dev/null"}), HasSubstr("holds no certificate"));
}

TEST(StreamOptions, GoThroughAProxyByChoice) {
  EXPECT_FALSE(options_of({"a:1"}).servers[0].uses_proxy);
  EXPECT_TRUE(options_of({"a:1", "--proxy"}).servers[0].uses_proxy);
}

TEST(StreamOptions, TakeNoTokenAsAWord) {
  EXPECT_THAT(error_of({"a:1", "--token", "aaa"}), HasSubstr("--token"));
}

TEST(StreamOptions, ThatAreWrongAreNamed) {
  EXPECT_THAT(error_of({"--gpus", "0,,1"}), HasSubstr("--gpus takes all, none"));
  EXPECT_THAT(error_of({"--cpus", "-1"}), HasSubstr("--cpus takes all, none"));
  EXPECT_THAT(error_of({"--period", "0"}), HasSubstr("--period takes"));
  EXPECT_THAT(error_of({"--period", "nan"}), HasSubstr("--period takes"));
  EXPECT_THAT(error_of({"--token-file", "/nowhere"}), HasSubstr("cannot read the token"));
  EXPECT_THAT(error_of({"--token-file", "/dev/null"}), HasSubstr("holds no token"));
  EXPECT_THAT(error_of({"ftp://a"}), HasSubstr("Try: wattle stream --help"));
}

TEST(StreamOptions, HelpNamesTheForms) {
  const auto parsed = parse_stream_options({"--help"}, nothing_set);
  const auto& answer = std::get<Answer>(parsed);
  EXPECT_FALSE(answer.is_error);
  EXPECT_THAT(answer.text, HasSubstr("usage: wattle stream [options] [SERVER...]"));
  EXPECT_THAT(answer.text, HasSubstr("unix:/path"));
}

}  // namespace
}  // namespace wattle::app
