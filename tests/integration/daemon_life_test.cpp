// How the daemon begins and ends, and the sockets it makes.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "base/unix_address.hpp"
#include "certificate.hpp"
#include "daemon.hpp"
#include "sanitized.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;

class DaemonLife : public DaemonTest {
 protected:
  void expect_no_start(const Words& options, std::string_view reason) const {
    const Outcome outcome = run(wattled(Words{"serve"} + options));
    EXPECT_EQ(outcome.code(), 1);
    EXPECT_TRUE(logs(HasSubstr(std::string(reason))));
  }
  [[nodiscard]] mode_t mode_of_socket() const {
    struct stat status {};
    EXPECT_EQ(::lstat(socket().c_str(), &status), 0);
    EXPECT_TRUE(S_ISSOCK(status.st_mode));
    return status.st_mode & 0777U;
  }
};

TEST_F(DaemonLife, TheSocketIsForOwnerAndGroup) {
  serve();
  EXPECT_EQ(mode_of_socket(), 0660U);
}

TEST_F(DaemonLife, TheSocketHasTheModeThatWasAskedFor) {
  serve({"--socket-permissions", "600"});
  EXPECT_EQ(mode_of_socket(), 0600U);
}

TEST_F(DaemonLife, AFileThatIsNoSocketStays) {
  std::ofstream(socket()) << "precious";
  expect_no_start({"--socket-path", socket()}, "it is not a socket");
  EXPECT_EQ(content_of(socket()), "precious");
}

TEST_F(DaemonLife, ASocketThatIsInUseStays) {
  serve();
  expect_no_start({"--socket-path", socket()}, "another program is listening there");
  EXPECT_EQ(get("/time").status, 200);
}

TEST_F(DaemonLife, RemovesItsSocketAtTheEnd) {
  for (const int signal : {SIGTERM, SIGINT}) {
    for (const std::string& name : {socket(), std::string("relative.sock")}) {
      std::filesystem::remove(path("log"));  // that of the daemon before
      Start start = wattled({"serve", "--socket-path", name});
      start.prepare = [redirect = start.prepare, folder = folder_.path().string()] {
        redirect();
        (void)!::chdir(folder.c_str());
      };
      Process daemon(start);
      const std::string file = (folder_.path() / name).string();
      ASSERT_TRUE(eventually([&] { return ::access(file.c_str(), F_OK) == 0; }));
      ASSERT_TRUE(logs(HasSubstr("serves")));
      daemon.send(signal);
      EXPECT_EQ(daemon.wait().code(), 0);
      EXPECT_NE(::access(file.c_str(), F_OK), 0) << name;
    }
  }
}

TEST_F(DaemonLife, RemovesItsSocketAlsoOnceItIsNoLongerRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives up root";
  if (kSanitized) GTEST_SKIP() << "the sanitizer looks for leaks by means that are forbidden";
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  socket_ = path("made/s.sock").string();
  serve({"--user", "nobody"});
  daemon_->send(SIGTERM);
  EXPECT_EQ(daemon_->wait().code(), 0);
  EXPECT_NE(::access(socket().c_str(), F_OK), 0);
}

TEST_F(DaemonLife, AStaleSocketIsReplaced) {
  serve();
  daemon_->send(SIGKILL);
  (void)daemon_->wait();
  EXPECT_EQ(mode_of_socket(), 0660U);
  serve();
  EXPECT_EQ(get("/time").status, 200);
}

TEST_F(DaemonLife, MissingFoldersAreMade) {
  socket_ = path("a/b/s.sock").string();
  serve();
  EXPECT_EQ(get("/time").status, 200);
}

TEST_F(DaemonLife, APortThatIsInUseIsNamed) {
  serve();
  const std::string address = "127.0.0.1:" + std::to_string(port_);
  expect_no_start({"--mode", "tcp", "--tcp-bind-address", address}, "cannot listen at " + address);
}

TEST_F(DaemonLife, LetsNeitherEveryUserNorOtherMachinesInClearSetGpus) {
  const Words control = {"--enable", "gpu-read,gpu-control"};
  const std::string at = path("control.sock").string();
  expect_no_start(control + Words{"--socket-path", at, "--socket-permissions", "666"},
                  "will not let every user of this machine set GPUs");
  expect_no_start(
      control + Words{"--mode", "tcp", "--tcp-bind-address", "0.0.0.0:0", "--signing-key-path",
                      key_file(std::string(40, 'k')), "--allow-plain-http"},
      "without encryption: use --tls-cert FILE");
  EXPECT_FALSE(std::filesystem::exists(at));
}

TEST_F(DaemonLife, ARefusedStartLeavesNoSocket) {
  serve();
  const std::string used = "127.0.0.1:" + std::to_string(port_);
  const std::string other = path("other.sock").string();
  const Words both = {"--mode", "uds,tcp", "--socket-path", other, "--tcp-bind-address"};
  expect_no_start(both + Words{used}, "cannot listen at " + used);
  EXPECT_FALSE(std::filesystem::exists(other));
  expect_no_start(both + Words{"0.0.0.0:0"}, "without a key");
  EXPECT_FALSE(std::filesystem::exists(other));
  expect_no_start(both + Words{"127.0.0.1:0", "--socket-group", "no-such-group"},
                  "there is no group no-such-group: make it with sudo groupadd --system");
  EXPECT_FALSE(std::filesystem::exists(other));
}

TEST_F(DaemonLife, AStartThatFailsLaterLeavesNoSocket) {
  const Words control = {"--enable", "gpu-read,gpu-control", "--settings-journal",
                         path("settings/gpus").string(), "--socket-path"};
  serve(Words(control.begin(), control.end() - 1));
  const std::string other = path("new/folder/other.sock").string();
  expect_no_start(control + Words{other}, "another wattled uses its folder");
  EXPECT_FALSE(std::filesystem::exists(path("new")));
  if (::geteuid() != 0) return;
  expect_no_start({"--socket-path", other, "--user", "no-such-user", "--enable", "gpu-control",
                   "--settings-journal", path("more/gpus").string()},
                  "there is no user");
  EXPECT_FALSE(std::filesystem::exists(path("new")));
  EXPECT_FALSE(std::filesystem::exists(path("more")));
}

TEST_F(DaemonLife, SaysWhoMayConnect) {
  serve();
  EXPECT_TRUE(logs(testing::ContainsRegex("wattled.sock: .* may connect")));
  serve({"--socket-permissions", "666"});
  EXPECT_TRUE(logs(HasSubstr(socket() + ": every user may connect")));
  serve({"--socket-permissions", "600"});
  EXPECT_TRUE(logs(testing::ContainsRegex("only [^ ]+ may connect")));
}

TEST_F(DaemonLife, TheSocketIsOfTheGroupThatWasAskedFor) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives a socket away";
  serve({"--socket-group", "daemon"});
  struct stat status {};
  ASSERT_EQ(::stat(socket().c_str(), &status), 0);
  EXPECT_EQ(status.st_gid, 1U);
  EXPECT_TRUE(
      logs(HasSubstr("members of the group daemon may connect; to add one: sudo usermod "
                     "-aG daemon USER")));
}

TEST_F(DaemonLife, ACertificateThatIsNoneIsNamed) {
  std::ofstream(path("cert")) << "nothing";
  const std::string cert = path("cert").string();
  const std::string none = path("none").string();
  expect_no_start({"--socket-path", socket(), "--tls-cert", cert, "--tls-key", cert},
                  "cannot use " + cert +
                      " as the server's certificate: it does not contain a "
                      "certificate; name a PEM file with a certificate in --tls-cert");
  expect_no_start({"--socket-path", socket(), "--tls-cert", none, "--tls-key", cert},
                  "cannot use " + none +
                      " as the server's certificate: No such file or directory; "
                      "name a PEM file with a certificate in --tls-cert");
}

TEST_F(DaemonLife, AKeyThatIsNotOfTheCertificateIsNamed) {
  const std::string cert = path("cert").string();
  const std::string other = path("other-key").string();
  write_certificate(cert, path("cert-key").string(), "IP:127.0.0.1");
  write_certificate(path("other").string(), other, "IP:127.0.0.1");
  ::chmod(other.c_str(), 0600);
  const std::string text = key_file("nothing");
  const Words serves = {"--socket-path", socket(), "--tls-cert", cert, "--tls-key"};
  expect_no_start(serves + Words{other},
                  "cannot use " + other +
                      " as the server's key: it is not the key of the "
                      "certificate; name the key of the certificate in --tls-key");
  expect_no_start(serves + Words{text},
                  "cannot use " + text +
                      " as the server's key: it does not contain a key without "
                      "a password; name a PEM file with a key without a password in --tls-key");
}

TEST_F(DaemonLife, AFolderThatCannotBeMadeIsNamed) {
  std::ofstream(path("file")) << "nothing";
  const std::string at = path("file/folder/s.sock").string();
  expect_no_start({"--socket-path", at}, "cannot listen at " + at +
                                             ": cannot make its folder: Not a directory; name "
                                             "another path with --socket-path");
  expect_no_start({"--mode", "tcp", "--tcp-bind-address", "192.0.2.1:0"},
                  "cannot listen at 192.0.2.1:0: Cannot assign requested address; name an address "
                  "of this machine with --tcp-bind-address");
}

TEST_F(DaemonLife, WarnsOfATokenThatPermitsNothing) {
  const Words issue = {"token",  "issue", "--signing-key-path", key_file(std::string(40, 'k')),
                       "--user", "x",     "--expires",          "1h"};
  const Outcome outcome = run(wattled(issue));
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_EQ(log(), "wattled: warning: the token permits nothing: give --scope\n");
}

TEST_F(DaemonLife, EndsWithinASecondWithClientsConnected) {
  serve();
  std::vector<HttpClient> clients;
  for (int i = 0; i < 50; ++i) {
    clients.push_back(i % 2 == 0 ? client() : tcp_client());
    clients.back().send("GET /gpu/stream_power HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_THAT(clients.back().read_head(), HasSubstr("200 OK"));
  }
  const auto begin = std::chrono::steady_clock::now();
  daemon_->send(SIGTERM);
  for (HttpClient& each : clients) {
    // Cut off, not ended: a client that took it for an end would be back at once.
    EXPECT_EQ(each.read_to_end().find("\r\n0\r\n\r\n"), std::string::npos);
  }
  EXPECT_TRUE(eventually([&] { return ::access(socket().c_str(), F_OK) != 0; }));
  const auto until_cut_off = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(daemon_->wait().code(), 0);
  const auto until_end = std::chrono::steady_clock::now() - begin;
  // ThreadSanitizer sleeps for a second between the end of main and that of the program.
  EXPECT_LT(kSanitized ? until_cut_off : until_end, std::chrono::seconds(1));
}

TEST_F(DaemonLife, EndsWithADriverThatHangs) {
  serve({}, "gpu A\npower step 0 75\nhang nvmlDeviceGetFieldValues from 1.5\n");
  HttpClient client = this->client();
  client.send("GET /gpu/stream_power HTTP/1.1\r\nHost: localhost\r\n\r\n");
  std::string chunk = client.read_head();
  while ((chunk = client.next_chunk()).find("does not answer") == std::string::npos) {
    ASSERT_FALSE(chunk.empty());
  }
  daemon_->send(SIGTERM);
  EXPECT_EQ(daemon_->wait().code(), 0);
}

TEST_F(DaemonLife, SaysInOneLineWhereItServes) {
  serve();
  EXPECT_TRUE(logs(HasSubstr("serves 2 GPUs and 2 CPUs at " + socket() + " and 127.0.0.1:")));
}

TEST_F(DaemonLife, NotifiesTheServiceManagerThatItIsReady) {
  const int manager = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const Fd owned(manager);
  const std::string place = path("notify").string();
  const UnixAddress address = UnixAddress::of(place).value();
  ASSERT_EQ(::bind(manager, address.get(), address.size()), 0);
  const timeval deadline{.tv_sec = kDeadline.count(), .tv_usec = 0};
  ::setsockopt(manager, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof deadline);
  Start start = wattled({"serve", "--socket-path", socket()});
  start.environment["NOTIFY_SOCKET"] = place;
  start.environment["WATCHDOG_USEC"] = "200000";
  Process daemon(start);
  std::string heard;
  for (int i = 0; i < 3; ++i) {
    std::array<char, 100> text{};
    const ssize_t count = ::recv(manager, text.data(), text.size(), 0);
    ASSERT_GT(count, 0);
    heard += std::string(text.data(), static_cast<std::size_t>(count)) + " ";
  }
  EXPECT_EQ(heard, "READY=1 WATCHDOG=1 WATCHDOG=1 ");
}

TEST_F(DaemonLife, StartedByRootItIsItsUsersOnceEverythingIsOpen) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives up root";
  if (kSanitized) GTEST_SKIP() << "the sanitizer looks for leaks by means that are forbidden";
  play(50.0);
  serve({"--user", "nobody", "--history", "60"});
  EXPECT_EQ(get("/gpu/get_power").status, 200);
  EXPECT_EQ(get_tcp("/cpu/get_cumulative_energy?cpu=true&dram=true").status, 200);
  const std::string tasks = "/proc/" + std::to_string(daemon_->pid()) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    const std::string status = content_of(task.path() / "status");
    for (const char* const line :
         {"\nUid:\t65534\t65534\t65534\t65534\n", "\nCapPrm:\t0000000000000000\n",
          "\nCapEff:\t0000000000000000\n", "\nCapAmb:\t0000000000000000\n", "\nNoNewPrivs:\t1\n",
          "\nSeccomp:\t2\n"}) {
      EXPECT_THAT(status, HasSubstr(line));
    }
  }
  HttpClient stream = client();
  stream.send("GET /gpu/stream_power HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(stream.read_head(), HasSubstr("200 OK"));
  EXPECT_THAT(stream.next_event(), testing::StartsWith("data: "));
  daemon_->send(SIGTERM);
  EXPECT_EQ(daemon_->wait().code(), 0);
}

TEST_F(DaemonLife, TheThreadsOfGpusKeepTheRightToSetThemAlsoWithAHistory) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives up root";
  if (kSanitized) GTEST_SKIP() << "the sanitizer looks for leaks by means that are forbidden";
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  serve({"--user", "nobody", "--history", "60", "--enable", "gpu-read,gpu-control",
         "--settings-journal", path("settings/gpus").string()});
  EXPECT_EQ(get("/gpu/get_power").status, 200);
  const std::string tasks = "/proc/" + std::to_string(daemon_->pid()) + "/task";
  int may_set = 0;
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    const std::string status = content_of(task.path() / "status");
    // CAP_SYS_ADMIN
    if (status.find("\nCapEff:\t0000000000200000\n") != std::string::npos) ++may_set;
  }
  EXPECT_GE(may_set, 3) << "the main thread, and one of each GPU";
}

TEST_F(DaemonLife, StaysNoRootWhereItsUserIsNone) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives up root";
  expect_no_start({"--socket-path", socket(), "--user", "no-such-user"}, "there is no user");
}

TEST_F(DaemonLife, WrongOptionsAreNamed) {
  for (const Words& words :
       {Words{"serve", "--mode", "pigeon"}, Words{"serve", "--enable", "gpu-weather"},
        Words{"serve", "--enable", "x"}, Words{"serve", "--tcp-bind-address", "nowhere"},
        Words{"serve", "--socket-permissions", "9"}, Words{"serve", "--stream-format", "x"},
        Words{"serve", "--gpu-backend", "x"}, Words{"serve", "--history", "-1"},
        Words{"serve", "--history", "345601"}, Words{"serve", "--num-workers", "many"},
        Words{"serve", "--public-cpu-period", "0.001"}, Words{"serve", "--public-cpu-period", "-1"},
        Words{"serve", "--public-cpu-period", "nan"}, Words{"serve", "--no-such-option"}, Words{},
        Words{"token"},
        Words{"token", "issue", "--user", "x", "--signing-key-path", "y", "--expires", "soon"}}) {
    EXPECT_EQ(run(wattled(words)).code(), 64) << testing::PrintToString(words);
  }
  EXPECT_TRUE(logs(HasSubstr("--mode takes uds or tcp")));
}

TEST_F(DaemonLife, AnEmptyPathIsAnErrorAndSwitchesNothingOff) {
  const Words serve = {"serve", "--socket-path", socket(), "--mode", "uds"};
  const std::string file = path("file").string();
  for (const Words& words :
       {Words{"--signing-key-path", ""}, Words{"--signing-key-path="}, Words{"--tls-cert", ""},
        Words{"--tls-cert", file, "--tls-key", ""}, Words{"--tls-cert", "", "--tls-key", ""},
        Words{"--tls-cert", file, "--tls-key", file, "--tls-client-ca", ""}, Words{"--revoked", ""},
        Words{"--socket-path", ""}, Words{"--sysfs", ""}, Words{"--procfs", ""},
        Words{"--nvml-library", ""}, Words{"--signing-key-path"}, Words{"--audience", ""}}) {
    EXPECT_EQ(run(wattled(serve + words)).code(), 64) << testing::PrintToString(words);
  }
  EXPECT_EQ(
      run(wattled({"token", "issue", "--signing-key-path", "", "--user", "x", "--expires", "1h"}))
          .code(),
      64);
}

TEST_F(DaemonLife, ASignalToReadAgainDoesNotEndItBeforeItServes) {
  // The driver takes so long that the signal comes while it is asked.
  nvml_ = std::make_unique<fakes::FakeNvml>(std::string("latency nvmlInit_v2 300\n") + kTwoGpus);
  daemon_ = std::make_unique<Process>(wattled({"serve", "--socket-path", socket()}));
  ASSERT_TRUE(eventually([&] { return accepts(); }));
  for (int i = 0; i < 5; ++i) daemon_->send(SIGHUP);
  EXPECT_EQ(get("/time").status, 200);
}

TEST_F(DaemonLife, ASignalToReadAgainDoesNotEndItBeforeItsOwnCodeRuns) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer wants to be the first library";
  // A library that sends the signal when it starts, as all of them do before `main`.
  Start start = wattled({"serve", "--socket-path", socket()});
  start.environment["LD_PRELOAD"] = WATTLE_TEST_EARLY_HANGUP;
  daemon_ = std::make_unique<Process>(start);
  ASSERT_TRUE(eventually([&] { return accepts(); })) << log();
  EXPECT_EQ(get("/time").status, 200);
}

TEST_F(DaemonLife, NamesOptionsThatHaveNoEffect) {
  serve({"--num-workers", "10"});
  EXPECT_TRUE(logs(HasSubstr("--num-workers has no effect")));
}

TEST_F(DaemonLife, ServesTheGpusOfTheBackendThatWasAskedFor) {
  for (const auto& [backend, gpus] : {std::pair("auto", 2U), {"nvml", 2U}, {"amdsmi", 0U}}) {
    serve({"--gpu-backend", backend});
    const Json found = parse_json(get("/discover").body);
    EXPECT_EQ(found["gpus"].size(), gpus) << backend;
    EXPECT_EQ(found["cpus"].size(), 2U) << backend;
  }
}

TEST_F(DaemonLife, HelpNamesTheOptions) {
  const Outcome outcome = run(wattled({"serve", "--help"}));
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.out, HasSubstr("--tcp-bind-address"));
}

}  // namespace
}  // namespace wattle::integration
