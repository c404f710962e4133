// The daemon's command line.
#include "serve/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace wattle::daemon {
namespace {

Options parsed(std::vector<const char*> words) {
  words.insert(words.begin(), "wattled");
  return parse_options(static_cast<int>(words.size()), words.data());
}

ServeOptions serve(std::vector<const char*> words) {
  words.insert(words.begin(), "serve");
  const Options options = parsed(std::move(words));
  const auto* const answer = std::get_if<TextAnswer>(&options);
  EXPECT_EQ(answer, nullptr) << (answer != nullptr ? answer->text : "");
  return answer == nullptr ? std::get<ServeOptions>(options) : ServeOptions{};
}

std::string error_of(std::vector<const char*> words) {
  const Options options = parsed(std::move(words));
  const auto* const answer = std::get_if<TextAnswer>(&options);
  if (answer == nullptr || !answer->is_error) return "";
  EXPECT_EQ(answer->exit_status, kUsageError);
  return answer->text;
}

TEST(DaemonOptions, HaveTheirDefaults) {
  const ServeOptions options = serve({});
  EXPECT_TRUE(options.serves_file);
  EXPECT_FALSE(options.serves_tcp);
  EXPECT_EQ(options.socket.path, "/run/wattled/wattled.sock");
  EXPECT_EQ(options.socket.mode, 0660U);
  EXPECT_EQ(options.socket.owner, std::nullopt);
  EXPECT_EQ(options.tcp.port, 4938);
  EXPECT_EQ(options.enabled, (std::vector{TokenScope::gpu_read, TokenScope::cpu_read}));
  EXPECT_EQ(options.stream_format, wire::StreamFormat::per_device);
  EXPECT_EQ(options.gpu_hz, 20U);
  EXPECT_EQ(options.cpu_hz, 10U);
  EXPECT_EQ(options.history.count(), 0);
  EXPECT_EQ(options.gpu_backend, GpuBackend::all);
  EXPECT_THAT(options.without_effect, testing::IsEmpty());
  EXPECT_EQ(options.most_connections, 4096U);
  EXPECT_EQ(options.most_per_client, 0U);
}

TEST(DaemonOptions, NameTheMachinesOfTheDashboard) {
  const ServeOptions options =
      serve({"--mode", "tcp", "--enable", "dashboard", "--dashboard-machines",
             "node1, http://node2:80,node1:4938", "--dashboard-machines", "localhost:5001",
             "--allow-dashboards", "head,127.0.0.1"});
  EXPECT_EQ(options.pages.machines, (std::vector<std::string>{"https://node1:4938", "http://node2",
                                                              "http://localhost:5001"}));
  EXPECT_FALSE(options.pages.takes_machines);
  EXPECT_EQ(options.pages.readers,
            (std::vector<std::string>{"https://head:4938", "http://127.0.0.1:4938"}));
  EXPECT_TRUE(serve({"--enable", "dashboard", "--dashboard-machines", "any"}).pages.takes_machines);
}

TEST(DaemonOptions, RefuseMachinesThatNoBrowserReaches) {
  EXPECT_EQ(
      error_of({"serve", "--dashboard-machines", "node1,[::1]:4938"}),
      "wattled: --dashboard-machines takes HOST[:PORT], with http:// or https:// before it or "
      "not; no IPv6 address, not '[::1]:4938'\n");
  EXPECT_THAT(error_of({"serve", "--allow-dashboards", "any*"}),
              testing::HasSubstr("--allow-dashboards takes HOST[:PORT]"));
  std::string many;
  for (int i = 0; i < 65; ++i) many += "n" + std::to_string(i) + ",";
  EXPECT_EQ(error_of({"serve", "--dashboard-machines", many.c_str()}),
            "wattled: --dashboard-machines takes at most 64 machines\n");
}

TEST(DaemonOptions, ChooseModesAndGroups) {
  const ServeOptions options =
      serve({"--mode", "tcp", "--enable", "cpu-read,gpu-control,cpu-read", "--socket-uid", "5",
             "--stream-format", "snapshot", "--gpu-backend", "amdsmi"});
  EXPECT_FALSE(options.serves_file);
  EXPECT_TRUE(options.serves_tcp);
  EXPECT_EQ(options.enabled, (std::vector{TokenScope::cpu_read, TokenScope::gpu_control}));
  EXPECT_EQ(options.socket.owner, 5U);
  EXPECT_EQ(options.stream_format, wire::StreamFormat::snapshot);
  EXPECT_EQ(options.gpu_backend, GpuBackend::amd);
}

TEST(DaemonOptions, EnableTheDashboardBesideTheGroups) {
  const std::vector reading{TokenScope::gpu_read, TokenScope::cpu_read};
  EXPECT_FALSE(serve({}).serves_dashboard);
  const ServeOptions alone = serve({"--enable", "dashboard"});
  EXPECT_TRUE(alone.serves_dashboard);
  EXPECT_EQ(alone.enabled, reading);
  const ServeOptions chosen = serve({"--enable", "dashboard,cpu-read,dashboard"});
  EXPECT_TRUE(chosen.serves_dashboard);
  EXPECT_EQ(chosen.enabled, std::vector{TokenScope::cpu_read});
}

TEST(DaemonOptions, EnableSharesBesideTheGroups) {
  EXPECT_FALSE(serve({}).shares);
  const ServeOptions alone = serve({"--enable", "shares", "--sysfs", "/s"});
  ASSERT_TRUE(alone.shares);
  EXPECT_EQ(alone.enabled, (std::vector{TokenScope::gpu_read, TokenScope::cpu_read}));
  EXPECT_EQ(alone.shares->most_rows, 200U);
  EXPECT_EQ(alone.shares->most_processes, 0U);
  EXPECT_EQ(alone.shares->interval, std::chrono::seconds(5));
  EXPECT_EQ(alone.shares->places.system.sysfs, "/s");
  const ServeOptions chosen =
      serve({"--enable", "cpu-read,shares,dashboard", "--shares-top", "7", "--shares-interval",
             "60", "--kubelet-dir", "/k", "--pod-logs-dir", "/l", "--shares-baseline", "/b"});
  ASSERT_TRUE(chosen.shares);
  EXPECT_TRUE(chosen.serves_dashboard);
  EXPECT_EQ(chosen.enabled, std::vector{TokenScope::cpu_read});
  EXPECT_EQ(chosen.shares->most_rows, 7U);
  EXPECT_EQ(chosen.shares->interval, std::chrono::minutes(1));
  EXPECT_EQ(chosen.shares->places.kubelet.folder, "/k");
  EXPECT_EQ(chosen.shares->places.kubelet.pod_logs, "/l");
  EXPECT_EQ(chosen.shares->places.baseline, "/b");
  EXPECT_EQ(error_of({"serve", "--enable", "shares", "--shares-top", "0"}),
            "wattled: --shares-top takes a whole number from 1 to 2000, not '0'\n");
  EXPECT_EQ(serve({"--enable", "shares", "--shares-gpu-processes", "0"}).shares->most_processes,
            0U);
  EXPECT_EQ(serve({"--enable", "shares", "--shares-gpu-processes", "9"}).shares->most_processes,
            9U);
  EXPECT_EQ(error_of({"serve", "--enable", "shares", "--shares-gpu-processes", "2001"}),
            "wattled: --shares-gpu-processes takes a whole number from 0 to 2000, not '2001'\n");
  EXPECT_THAT(serve({"--shares-top", "9"}).without_effect,
              testing::ElementsAre("--shares-top has no effect: --enable shares is not given"));
}

TEST(DaemonOptions, NameThoseThatHaveNoEffect) {
  const auto without_effect = [](std::vector<const char*> words) {
    return serve(std::move(words)).without_effect;
  };
  using testing::ElementsAre;
  EXPECT_THAT(without_effect({"--num-workers", "3"}),
              ElementsAre("--num-workers has no effect: one thread serves all clients"));
  EXPECT_THAT(without_effect({"--dashboard-machines", "node1", "--allow-dashboards", "node1"}),
              ElementsAre("--allow-dashboards has no effect: --mode tcp is not given",
                          "--dashboard-machines has no effect: --enable dashboard is not given"));
  EXPECT_THAT(without_effect({"--tcp-bind-address", "0.0.0.0:4938"}),
              ElementsAre("--tcp-bind-address has no effect: --mode tcp is not given"));
  EXPECT_THAT(without_effect({"--mode", "tcp", "--socket-path", "/a", "--audience", "a"}),
              ElementsAre("--socket-path has no effect: --mode uds is not given",
                          "--audience has no effect: --signing-key-path is not given"));
  EXPECT_THAT(without_effect({"--keep-settings"}),
              ElementsAre("--keep-settings has no effect: --enable gpu-control is not given"));
  EXPECT_THAT(
      without_effect({"--mode", "tcp", "--public-cpu-period", "1", "--signing-key-path", "/k"}),
      ElementsAre("--public-cpu-period has no effect: with --signing-key-path, clients need a "
                  "token"));
  EXPECT_THAT(without_effect({"--mode", "uds,tcp", "--tcp-bind-address", "[::1]:1", "--socket-path",
                              "/a", "--signing-key-path", "/k", "--revoked", "/r", "--enable",
                              "gpu-control", "--keep-settings"}),
              testing::IsEmpty());
}

// zeusd does the same.
TEST(DaemonOptions, TakeNoSamplesASecondAsOne) {
  const ServeOptions options = serve({"--gpu-power-poll-hz", "0", "--cpu-power-poll-hz", "0"});
  EXPECT_EQ(options.gpu_hz, 1U);
  EXPECT_EQ(options.cpu_hz, 1U);
  EXPECT_EQ(serve({"--gpu-power-poll-hz", "100000"}).gpu_hz, 1000U);
}

TEST(DaemonOptions, NameTheOptionOfAWrongNumberAndWhatItTakes) {
  for (const char* const given : {"-1", "x", "", "1.5", "345601"}) {
    EXPECT_EQ(error_of({"serve", "--history", given}),
              "wattled: --history: '" + std::string(given) +
                  "' is not a whole number from 0 to 345600 (see wattled serve --help)\n");
  }
  for (const char* const option :
       {"--socket-uid", "--socket-gid", "--gpu-power-poll-hz", "--cpu-power-poll-hz",
        "--num-workers", "--max-connections", "--max-connections-per-client",
        "--max-failures-per-client", "--max-streams-per-token"}) {
    EXPECT_THAT(error_of({"serve", option, "-1"}),
                testing::MatchesRegex("wattled: " + std::string(option) +
                                      ": '-1' is not a whole number from [01] to 4294967295 \\(see "
                                      "wattled serve --help\\)\n"));
  }
  EXPECT_NE(error_of({"serve", "--max-connections", "0"}), "");
}

TEST(DaemonOptions, KeepTwoDaysOnDiskUnlessALengthIsGiven) {
  EXPECT_EQ(serve({"--history-dir", "/d"}).history, std::chrono::hours(48));
  EXPECT_EQ(serve({"--history-dir", "/d"}).history_dir, "/d");
  EXPECT_EQ(serve({"--history-dir", "/d", "--history", "600"}).history.count(), 600);
  EXPECT_EQ(error_of({"serve", "--history-dir", "/d", "--history", "0"}),
            "wattled: --history-dir keeps nothing with --history 0\n");
}

TEST(DaemonOptions, BoundTheHistoryOnDisk) {
  EXPECT_EQ(serve({"--history-dir", "/d"}).history_size_mib, 512U);
  EXPECT_EQ(serve({"--history-dir", "/d", "--history-size", "16"}).history_size_mib, 16U);
  EXPECT_EQ(error_of({"serve", "--history-size", "15"}),
            "wattled: --history-size: '15' is not a whole number from 16 to 1048576 (see wattled "
            "serve --help)\n");
  EXPECT_THAT(serve({"--history-size", "100"}).without_effect,
              testing::ElementsAre("--history-size has no effect: --history-dir is not given"));
}

TEST(DaemonOptions, TakeNumbersAsDecimal) {
  EXPECT_EQ(serve({"--max-connections", "0100"}).most_connections, 100U);
  EXPECT_EQ(serve({"--gpu-power-poll-hz", "08"}).gpu_hz, 8U);
  EXPECT_EQ(serve({"--socket-uid", "010"}).socket.owner, 10U);
}

TEST(DaemonOptions, TakeAListInPartsToo) {
  const ServeOptions options =
      serve({"--mode", "uds", "--mode", "tcp", "--enable", "gpu-read,cpu-read", "--enable",
             "gpu-control", "--enable", "cpu-read"});
  EXPECT_TRUE(options.serves_file);
  EXPECT_TRUE(options.serves_tcp);
  EXPECT_EQ(options.enabled,
            (std::vector{TokenScope::gpu_read, TokenScope::cpu_read, TokenScope::gpu_control}));
  const Options token = parsed({"token", "issue", "--signing-key-path", "f", "--user", "u",
                                "--expires", "1h", "--scope", "gpu-read", "--scope", "cpu-read"});
  ASSERT_TRUE(std::holds_alternative<TokenOptions>(token));
  EXPECT_EQ(std::get<TokenOptions>(token).scopes,
            (std::vector{TokenScope::gpu_read, TokenScope::cpu_read}));
}

TEST(DaemonOptions, NameTheValueThatAnOptionLacks) {
  EXPECT_EQ(error_of({"serve", "--history"}),
            "wattled: --history needs a value: SECONDS (see wattled serve --help)\n");
}

TEST(DaemonOptions, NameTheWordsThatAnOptionTakes) {
  EXPECT_EQ(error_of({"serve", "--mode", "pigeon"}),
            "wattled: --mode takes uds or tcp, not 'pigeon'\n");
  EXPECT_EQ(error_of({"serve", "--mode", ","}),
            "wattled: --mode needs a value: TEXT (see wattled serve --help)\n");
  EXPECT_EQ(error_of({"serve", "--enable", "gpu-weather"}),
            "wattled: --enable takes gpu-read, cpu-read, gpu-control, dashboard or shares, not "
            "'gpu-weather'\n");
  EXPECT_EQ(error_of({"serve", "--enable", ""}),
            "wattled: --enable takes a list of what to serve, not ''\n");
  EXPECT_EQ(error_of({"serve", "--socket-permissions", "9"}),
            "wattled: --socket-permissions takes a file mode in octal, such as 660, not '9'\n");
  EXPECT_EQ(error_of({"serve", "--tls-cert", "f"}),
            "wattled: --tls-cert needs --tls-key FILE, the key of the certificate\n");
}

TEST(DaemonOptions, PointToTheHelpThatListsThem) {
  EXPECT_EQ(error_of({"serve", "--bogus"}),
            "wattled: unknown option --bogus (see wattled serve --help)\n");
  EXPECT_EQ(error_of({"token", "issue", "--signing-key-path", "f", "--user", "u", "--expires", "1h",
                      "--scopes", "x"}),
            "wattled: unknown option --scopes; did you mean --scope? (see wattled token issue "
            "--help)\n");
  const Options options = parsed({"serve", "--help"});
  EXPECT_THAT(std::get<TextAnswer>(options).text, testing::HasSubstr("\nUsage: wattled serve ["));
}

}  // namespace
}  // namespace wattle::daemon
