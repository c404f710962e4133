// Phases of a run: `wattle mark`, `WATTLE_RUN`, wattle/mark.hpp.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>

#include "base/files/fd.hpp"
#include "base/marks.hpp"
#include "command.hpp"
#include "fakes/powercap_tree.hpp"

namespace wattle::integration {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class MarkCommand : public CommandTest {
 protected:
  /// A shell script in which $W is wattle.
  [[nodiscard]] Json phases_of(const std::string& script, const Words& options = {}) const {
    const auto [outcome, json] =
        measure(options, {"env", "W=" + wattle_program(), "sh", "-c", script});
    EXPECT_EQ(outcome.code(), 0) << outcome.err;
    err_ = outcome.err;
    return json["phases"];
  }
  mutable std::string err_;
};

TEST_F(MarkCommand, MakesARowForEachPhase) {
  const Json phases = phases_of(
      "$W mark a; sleep 0.05; $W mark b; $W mark --end a; $W mark --end; $W mark a; $W mark --next "
      "c");
  const Json& rows = phases["rows"];
  ASSERT_THAT(rows, SizeIs(3));
  EXPECT_EQ(rows[0]["name"], "a");
  EXPECT_EQ(rows[0]["parent"], nullptr);
  EXPECT_THAT(rows[0]["spans"], SizeIs(2));
  EXPECT_GE(rows[0]["time_s"], 0.05);
  EXPECT_EQ(rows[1]["name"], "b");
  EXPECT_EQ(rows[1]["parent"], 0);
  EXPECT_EQ(rows[2]["name"], "c");
  EXPECT_EQ(rows[2]["parent"], nullptr);
  EXPECT_EQ(phases["marks"], 6);
  EXPECT_EQ(phases["ignored_marks"], 0);
  EXPECT_TRUE(rows[0]["cpu_s"].is_number());
  EXPECT_GT(rows[0]["peak_memory_bytes"], 0);
}

TEST_F(MarkCommand, HasTheEnergyOfThePhase) {
  fakes::PowercapTree tree;
  tree.add_zone("intel-rapl:0", "package-0", fakes::kPackageUnit, 0);
  const System system = tree.system();
  const std::string play =
      player_program() + " 300 " + tree.zone_path("intel-rapl:0").string() + " ";
  std::ostringstream tick;
  tick.precision(17);
  tick << fakes::kPackageUnit.tick_j << " " << fakes::kPackageUnit.nanojoules << " 0";
  // The first player counts 40 W x 0.3 s, then nothing is counted.
  const Json phases = phases_of("$W mark work; " + play + "40 " + tick.str() +
                                    " > /dev/null; $W mark --end work; $W mark idle; sleep 0.3",
                                {"--sysfs", system.sysfs, "--procfs", system.procfs});
  ASSERT_THAT(phases["rows"], SizeIs(2));
  const Json& work = phases["rows"][0];
  EXPECT_NEAR(work["total_j"], 12.0, 1.0) << work;
  EXPECT_EQ(work["domains"][0]["name"], "package_0");
  EXPECT_GT(work["total_uncertainty_j"], 0.0);
  const Json& idle = phases["rows"][1];
  EXPECT_TRUE(idle["total_j"].is_null() || idle["total_j"] < 1.0) << idle;
}

TEST_F(MarkCommand, DividesTheEnergyAmongUnits) {
  fakes::PowercapTree tree;
  tree.add_zone("intel-rapl:0", "package-0", fakes::kPackageUnit, 0);
  const System system = tree.system();
  std::ostringstream play;
  play.precision(17);
  play << player_program() << " 400 " << tree.zone_path("intel-rapl:0").string() << " 40 "
       << fakes::kPackageUnit.tick_j << " " << fakes::kPackageUnit.nanojoules << " 0 > /dev/null";
  const auto [outcome, json] =
      measure({"--sysfs", system.sysfs, "--procfs", system.procfs},
              {"env", "W=" + wattle_program(), "sh", "-c",
               "$W mark --unit --id 1 a; $W mark --unit --id 2 --weight 3 b; " + play.str() +
                   "; $W mark --unit --end --id 1 a; $W mark --unit --end --id 2 --work 100 b"});
  ASSERT_EQ(outcome.code(), 0) << outcome.err;
  const Json& units = json["units"];
  ASSERT_THAT(units["tags"], SizeIs(2)) << units;
  const double a = units["tags"][0]["sum_j"];
  const double b = units["tags"][1]["sum_j"];
  // Both run nearly all of the time, in which 16 J are counted.
  EXPECT_NEAR(a + b, 16.0, 1.0) << units;
  EXPECT_NEAR(b / a, 3.0, 1.0) << units;
  EXPECT_EQ(units["tags"][1]["work"], 100.0);
  const Json& domain = units["domains"][0];
  const double sum = domain["units_j"].get<double>() + domain["running_j"].get<double>() +
                     domain["idle_j"].get<double>() + domain["without_units_j"].get<double>();
  EXPECT_NEAR(sum, domain["measured_j"].get<double>(), 1e-9);
  EXPECT_NEAR(domain["measured_j"].get<double>(), json["energy"]["total_j"].get<double>(), 0.01);
}

TEST_F(MarkCommand, WritesARowForEachUnit) {
  fakes::PowercapTree tree;
  tree.add_zone("intel-rapl:0", "package-0", fakes::kPackageUnit, 0);
  const System system = tree.system();
  const auto [outcome, json] =
      measure({"--sysfs", system.sysfs, "--procfs", system.procfs, "--units", path("units.csv"),
               "--html", path("run.html")},
              {"env", "W=" + wattle_program(), "sh", "-c",
               "$W mark --unit --id 1 a; $W mark --unit --id 2 a; $W mark --unit --id 3 '<b>'; "
               "$W mark --unit --end --id 2 --work 5 a; $W mark --unit --end --id 3 '<b>'"});
  ASSERT_EQ(outcome.code(), 0) << outcome.err;
  const std::string rows = content_of(path("units.csv"));
  EXPECT_THAT(rows, HasSubstr("\na,2,"));
  EXPECT_THAT(rows, HasSubstr("\n<b>,3,"));
  EXPECT_EQ(std::ranges::count(rows, '\n'), 3) << "1 has not ended\n" << rows;
  EXPECT_THAT(content_of(path("run.html")), HasSubstr("<th scope=\"row\">&lt;b&gt;</th>"));
}

TEST_F(MarkCommand, NamesAUnitByTheProcessThatCallsIt) {
  const auto [outcome, json] = measure(
      {}, {"env", "W=" + wattle_program(), "sh", "-c",
           "$W mark --unit a; sh -c '$W mark --unit a; $W mark --unit --end a'; $W mark --unit a; "
           "$W mark --unit --end a; $W mark --unit --end a"});
  ASSERT_EQ(outcome.code(), 0) << outcome.err;
  EXPECT_EQ(json["units"]["running"], 0) << json["units"];
  // A second start, and a second end.
  EXPECT_EQ(json["phases"]["ignored_marks"], 2);
}

TEST_F(MarkCommand, RefusesUnitsThatAreNone) {
  const auto message_of = [&](const Words& words) {
    Words all = {"mark", "--unit"};
    all.insert(all.end(), words.begin(), words.end());
    const Outcome outcome = run(wattle(all));
    EXPECT_EQ(outcome.code(), 64);
    return outcome.err;
  };
  EXPECT_THAT(message_of({}), HasSubstr("the tag of a unit is missing"));
  EXPECT_THAT(message_of({"--weight", "0", "a"}), HasSubstr("--weight must be a number from"));
  EXPECT_THAT(message_of({"--weight", "nan", "a"}), HasSubstr("--weight must be a number from"));
  EXPECT_THAT(message_of({"--end", "--work", "-1", "a"}), HasSubstr("--work must be a number"));
  EXPECT_THAT(message_of({"--work", "1", "a"}), HasSubstr("--end"));
  EXPECT_THAT(message_of({"--id", "a b", "a"}), HasSubstr("--id has at most 64 bytes"));
  EXPECT_THAT(message_of({"--next", "a"}), HasSubstr("--next is for phases"));
}

TEST_F(MarkCommand, ComesFromAnyProcessAndLanguage) {
  const Json phases = phases_of(
      "(setsid sh -c '$W mark grandchild'); python3 -c \"import os, socket; "
      "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'start python', "
      "os.environ['WATTLE_RUN'])\"");
  ASSERT_THAT(phases["rows"], SizeIs(2));
  EXPECT_EQ(phases["rows"][0]["name"], "grandchild");
  EXPECT_EQ(phases["rows"][1]["name"], "python");
  EXPECT_EQ(phases["rows"][1]["parent"], 0);
}

TEST_F(MarkCommand, BelongsToTheInnermostRun) {
  const std::string inner = path("inner.json").string();
  const Json phases =
      phases_of("$W mark outer; $W run --quiet --json " + inner + " -- \"$W\" mark inner");
  ASSERT_THAT(phases["rows"], SizeIs(1));
  EXPECT_EQ(phases["rows"][0]["name"], "outer");
  EXPECT_EQ(parse_json(content_of(inner))["phases"]["rows"][0]["name"], "inner");
}

TEST_F(MarkCommand, DoesNothingOutsideOfARun) {
  const Outcome outcome = run(wattle({"mark", "a"}));
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_EQ(outcome.err,
            "wattle mark: not in a wattle run (WATTLE_RUN names no socket); ignored\n");
  EXPECT_THAT(run(wattle({"mark", "--quiet", "a"})).err, IsEmpty());
}

TEST_F(MarkCommand, SaysThatTheRunHasEnded) {
  Start start = wattle({"mark", "a"});
  start.environment["WATTLE_RUN"] = path("gone").string();
  const Outcome outcome = run(start);
  EXPECT_EQ(outcome.code(), 1);
  EXPECT_THAT(outcome.err, HasSubstr("it has ended"));
}

/// The socket of a run that reads nothing.
class UnreadMarks {
 public:
  explicit UnreadMarks(const std::string& path) : socket_(new_socket()) {
    path.copy(static_cast<char*>(address_.sun_path), sizeof address_.sun_path - 1);
    EXPECT_EQ(::bind(socket_.get(), address(), sizeof address_), 0);
  }
  void fill() const {
    // One sender may have no more room of its own before the queue is full: then the next one goes
    // on.
    bool is_full = false;
    while (!is_full) {
      const Fd sender = new_socket();
      is_full = true;
      while (::sendto(sender.get(), "x", 1, 0, address(), sizeof address_) == 1) is_full = false;
      ASSERT_EQ(errno, EAGAIN);
    }
  }

 private:
  static Fd new_socket() { return Fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0)); }
  [[nodiscard]] const sockaddr* address() const {
    return static_cast<const sockaddr*>(static_cast<const void*>(&address_));
  }
  sockaddr_un address_{.sun_family = AF_UNIX, .sun_path = {}};
  Fd socket_;
};

TEST_F(MarkCommand, DoesNotWaitForARunThatDoesNotRead) {
  const std::string socket = path("marks").string();
  const UnreadMarks marks(socket);
  Start start = wattle({"mark", "a"});
  start.environment["WATTLE_RUN"] = socket;
  EXPECT_EQ(run(start).code(), 0) << "the queue has room";
  marks.fill();
  const Outcome outcome = run(start);
  EXPECT_EQ(outcome.code(), 1);
  EXPECT_THAT(outcome.err, HasSubstr("it does not read its marks"));
}

TEST_F(MarkCommand, SaysThatTheRunIsAnotherUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  const std::string socket = path("marks").string();
  const UnreadMarks marks(socket);
  ASSERT_EQ(::chmod(socket.c_str(), 0700), 0);
  Start start = wattle({"mark", "a"});
  start.environment["WATTLE_RUN"] = socket;
  constexpr uid_t kNobody = 65534;
  start.prepare = [] { (void)!::setuid(kNobody); };
  const Outcome outcome = run(start);
  EXPECT_EQ(outcome.code(), 1);
  EXPECT_THAT(outcome.err, HasSubstr("it belongs to another user"));
}

TEST_F(MarkCommand, RefusesNamesThatAreNone) {
  EXPECT_EQ(run(wattle({"mark"})).code(), kUsage);
  EXPECT_EQ(run(wattle({"mark", ""})).code(), kUsage);
  EXPECT_THAT(run(wattle({"mark", std::string(10'000, 'x')})).err, HasSubstr("at most 255 bytes"));
}

TEST_F(MarkCommand, KeepsAnyNameApartFromTheTerminal) {
  const auto [outcome, json] = measure(
      {}, {"env", "W=" + wattle_program(), "sh", "-c", "$W mark \"$(printf 'a\\nb\\033[31m')\""});
  EXPECT_EQ(json["phases"]["rows"][0]["name"], "a\nb\x1b[31m");
  const Outcome text = run(wattle_run({}, {wattle_program(), "mark", "a\nb\x1b[31m"}));
  EXPECT_THAT(text.err, HasSubstr("a\\x0ab\\x1b[31m"));
}

TEST_F(MarkCommand, IgnoresWhatIsNoMark) {
  const Json phases = phases_of(
      "python3 -c \"import os, socket; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); "
      "[s.sendto(m, os.environ['WATTLE_RUN']) for m in (b'', b'start', b'start ', b'x y', b'end "
      "a', "
      "b'start ' + b'n' * 10000)]\"");
  EXPECT_EQ(phases["ignored_marks"], 5);
  ASSERT_THAT(phases["rows"], SizeIs(1));
  EXPECT_EQ(phases["rows"][0]["name"], std::string(kMostMarkBytes, 'n'));
}

TEST_F(MarkCommand, TakesManyMarks) {
  const Json phases = phases_of(
      "python3 -c \"import os, socket; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); "
      "s.connect(os.environ['WATTLE_RUN']); "
      "[s.send(b'next %d' % (i % 10)) for i in range(100000)]\"");
  EXPECT_EQ(phases["marks"], 100'000);
  EXPECT_THAT(phases["rows"], SizeIs(10));
  EXPECT_EQ(phases["dropped"], 90'000);
}

TEST_F(MarkCommand, LeavesNoFiles) {
  const std::string runtime = path("runtime").string();
  std::filesystem::create_directory(runtime);
  Start start =
      wattle_run({"--quiet"}, {"sh", "-c", "ls -ld ${WATTLE_RUN%/*}; test -S $WATTLE_RUN"});
  start.environment["XDG_RUNTIME_DIR"] = runtime;
  const Outcome outcome = run(start);
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.out, testing::StartsWith("drwx------"));
  EXPECT_TRUE(std::filesystem::is_empty(runtime));
}

TEST_F(MarkCommand, TakesTheNextFolderWhereOneCannotBeUsed) {
  Start start = wattle_run({"--quiet"}, {"sh", "-c", "echo $WATTLE_RUN"});
  start.environment["XDG_RUNTIME_DIR"] = path("absent").string();
  const std::string temporary = path("temporary").string();
  std::filesystem::create_directory(temporary);
  start.environment["TMPDIR"] = temporary;
  EXPECT_THAT(run(start).out, testing::StartsWith(temporary + "/wattle-run-"));
}

TEST_F(MarkCommand, TakesAFolderInMemoryWhereNoneIsNamed) {
  Start start = wattle_run({"--quiet"}, {"sh", "-c", "echo $WATTLE_RUN"});
  start.environment["XDG_RUNTIME_DIR"] = "";
  start.environment["TMPDIR"] = "";
  EXPECT_THAT(run(start).out, testing::StartsWith("/dev/shm/wattle-run-"));
}

}  // namespace
}  // namespace wattle::integration
