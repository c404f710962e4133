// Names and errors of devices, and what a daemon answers, whatever text they hold: no command's
// output moves a terminal's cursor, breaks a line or turns text around.
#include <algorithm>
#include <csignal>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "command.hpp"
#include "fakes/http_server.hpp"
#include "fakes/hwmon_tree.hpp"
#include "fakes/nvml/control.hpp"
#include "fakes/powercap_tree.hpp"
#include "foreign_text.hpp"
#include "pty.hpp"
#include "wire/message_json.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;

/// `kEvil` without its line end, for files in which each line is a value.
std::string evil_line() {
  std::string text(kEvil);
  std::erase(text, '\n');
  return text;
}

void expect_clean(const Outcome& outcome, const Start& start) {
  std::string words;
  for (const std::string& word : start.command) words += word.substr(0, 60) + " ";
  EXPECT_EQ(evil_in(outcome.out), "") << words;
  EXPECT_EQ(evil_in(outcome.err), "") << words;
  EXPECT_NE(outcome.out + outcome.err, "") << words;
}

class ForeignText : public CommandTest {
 protected:
  /// Runs it; ends it with Ctrl-C once it has printed `until`, if that is not empty.
  static Outcome clean(const Start& start, std::string_view until = "") {
    Process process(start);
    if (!until.empty()) {
      EXPECT_TRUE(process.prints(until)) << until;
      process.send(SIGINT);
    }
    Outcome outcome = process.wait();
    expect_clean(outcome, start);
    return outcome;
  }
};

TEST_F(ForeignText, OfDevicesReachesNoTerminal) {
  const std::string evil = evil_line();
  fakes::FakeNvml gpus("gpu NVIDIA H100" + evil + "\nuuid GPU-a" + evil + "\npci 0000:41:00" +
                       evil + "\npower step 0 75\ngpu Other" + evil +
                       "\nuuid GPU-b\npower step 0 40\nerror nvmlDeviceGetPowerUsage 15\n");
  fakes::PowercapTree cpus;
  cpus.add_zone("intel-rapl:0", "package-0");
  cpus.add_zone("intel-rapl:1", "package-1" + evil);
  cpus.add_zone("intel-rapl:0:0", evil);
  cpus.write_file("intel-rapl:0", "max_energy_range_uj", evil);
  cpus.set_cpu_info("processor\t: 0\nvendor_id\t: Genuine" + evil + "\nmodel name\t: Xeon" + evil +
                    "\nphysical id\t: 0\n\n");
  fakes::HwmonTree rails;
  rails.add_power_meter(0, 0, "Rail" + evil);
  rails.add_chip(1, "i2c-1/1-0040", "chip" + evil, {{"power1_input", evil}});
  std::filesystem::create_directory_symlink(rails.system().sysfs / "class/hwmon",
                                            cpus.system().sysfs / "class/hwmon");
  const auto on_machine = [&](const Words& words) {
    Start start =
        wattle(words + Words{"--sysfs", cpus.system().sysfs, "--procfs", cpus.system().procfs,
                             "--nvml-library", gpus.library_path()});
    start.environment = {{"WATTLE_FAKE_NVML", gpus.script_path()},
                         {"WATTLE_SOCK_PATH", "none"},
                         {"WATTLE_HISTORY", path("history.db").string()}};
    return start;
  };
  EXPECT_THAT(clean(on_machine({"sensors"})).out, HasSubstr("NVIDIA H100"));
  for (const Words& words :
       {Words{"sensors", "--json"}, Words{"doctor"}, Words{"doctor", "--verbose"},
        Words{"doctor", "--json"}, Words{"top", "--once", "--duration", "0.2"},
        Words{"bench", "-r", "2", "-N", "--html", path("b.html").string(), "true"}}) {
    clean(on_machine(words));
  }
  for (const auto& [command, unit] : {std::pair{"power", " W"}, {"energy", " J"}}) {
    clean(on_machine({command, "--period", "0.05"}), unit);
    clean(on_machine({command, "--period", "0.05", "--json"}), "\"reading\"");
  }
  Start run = on_machine({"run", "--save", "--json", path("run.json").string()});
  for (const char* word : {"--", "sleep", "0.2"}) run.command.emplace_back(word);
  clean(run);
  for (const Words& words :
       {Words{"report", path("run.json").string()}, Words{"history"}, Words{"history", "--csv"},
        Words{"report", "--html", path("r.html").string(), path("run.json").string()}}) {
    Start start = wattle(words);
    start.environment["WATTLE_HISTORY"] = path("history.db").string();
    clean(start);
  }
  for (const char* page : {"b.html", "r.html"}) {
    EXPECT_EQ(evil_in(content_of(path(page))), "") << page;
  }
}

TEST_F(ForeignText, OfDaemonsReachesNoTerminal) {
  const std::string evil(kEvil);
  const auto now_ms = [] {
    return static_cast<wire::UnixMs>(1e3 * to_unix(TimePoint::clock::now()));
  };
  fakes::HttpServer daemon([&](const fakes::HttpRequest& request, fakes::HttpPeer& peer) {
    const std::string_view path = request.path();
    const Json error = {{"error", "out of order" + evil}};
    if (path == "/discover") {
      const Json discovery = {
          {"gpus",
           {{{"id", 0}, {"name", "A" + evil}, {"uuid", "GPU-a" + evil}, {"pci_address", evil}},
            {{"id", 1}, {"name", evil}, {"domain", "nvidia_gpu_1" + evil}}}},
          {"cpus", Json::array({{{"id", 0}, {"dram_available", true}}})},
          {"enabled_api_groups", {"gpu-read", "cpu-read", evil}},
          {"server", evil},
          {"version", evil},
          {"auth_required", false}};
      (void)peer.send(fakes::http_answer(200, discovery.dump()));
    } else if (path == "/time") {
      (void)peer.send(fakes::http_answer(200, wire::encode_time(now_ms())));
    } else if (path == "/gpu/stream_power") {
      peer.close();
      bool goes_on = peer.send(fakes::http_stream_head());
      while (goes_on) {
        goes_on =
            peer.send(fakes::http_chunk(wire::event(wire::encode_event(now_ms(), 0, 75'000)))) &&
            peer.send(fakes::http_chunk(": gpu 1: its driver failed" + evil_line() + "\n\n")) &&
            peer.wait(std::chrono::milliseconds(20));
      }
    } else {
      (void)peer.send(fakes::http_answer(500, error.dump()));
    }
  });
  const auto at_daemon = [&](const Words& words) {
    return wattle(Words{"stream", "--period", "0.05"} + words + Words{daemon.address()});
  };
  EXPECT_THAT(clean(at_daemon({}), "\"power_w\":75.0").err, HasSubstr("out of order"));
  if (!Pty::available()) GTEST_SKIP() << "this system gives no terminals";
  for (const Words& words : {Words{}, Words{"--energy"}, Words{"--by", "node"}}) {
    Pty terminal;
    Start start = at_daemon(words);
    start.environment["TERM"] = "dumb";
    start.prepare = [&] { terminal.become_terminal(); };
    Process process(start);
    EXPECT_TRUE(terminal.shows("75.00 W"));
    terminal.type("\x03");
    EXPECT_EQ(process.wait().code(), 0);
    std::string text = terminal.text();
    std::erase(text, '\r');  // the terminal's own
    EXPECT_EQ(evil_in(text), "");
  }
}

}  // namespace
}  // namespace wattle::integration
