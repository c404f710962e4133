// A machine on which many values are unknown: every output has "unknown" in texts, "-" in tables.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "command.hpp"
#include "fakes/nvml/control.hpp"
#include "fakes/powercap_tree.hpp"

namespace wattle::integration {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

/// What stands between two blanks or more.
std::vector<std::string> parts_of_line(const std::string& line) {
  static const std::regex kGap("  +");
  std::vector<std::string> cells;
  for (auto it = std::sregex_token_iterator(line.begin(), line.end(), kGap, -1);
       it != std::sregex_token_iterator(); ++it) {
    if (it->length() > 0) cells.push_back(*it);
  }
  return cells;
}

/// The first line that writes an unknown value otherwise; empty where there is none.
std::string spelled_otherwise(const std::string& text) {
  static const std::regex kOtherWords(
      R"(not known|\bn/a\b|N/A|\bnan\b|–|—|(^|[\s:,])\?+($|[\s:,])|(: |, | is )-($|[,;]|\s*$))",
      std::regex::icase | std::regex::optimize);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, kOtherWords)) return line;
    const std::vector<std::string> cells = parts_of_line(line);
    // A label and its value are a text; more cells are a row of a table.
    const bool is_row = cells.size() > 2;
    if (is_row && std::ranges::find(cells, "unknown") != cells.end()) return line;
  }
  return {};
}

/// The same of a page: cells of its tables, and all that stands around them.
std::string spelled_otherwise_in_page(const std::string& html) {
  // A cell beside another one; alone after a label it is a text.
  static const std::regex kCell(
      "<td[^>]*>(unknown|not known|n/a|N/A|\\?|–|—|nan)</td>\\s*<td|"
      "</td>\\s*<td[^>]*>(unknown|not known|n/a|N/A|\\?|–|—|nan)</td>",
      std::regex::optimize);
  static const std::regex kText(">[^<]*(not known|: -[.;,<]| is -[ .])[^<]*<",
                                std::regex::optimize);
  std::smatch found;
  if (std::regex_search(html, found, kCell) || std::regex_search(html, found, kText))
    return found[0];
  return {};
}

/// The first package has a counter that stands still, the second none that can be read; a GPU shows
/// nothing but its name, another one its power.
class UnknownValues : public CommandTest {
 protected:
  void SetUp() override {
    cpus_.add_zone("intel-rapl:0", "package-0");
    cpus_.add_zone("intel-rapl:1", "package-1");
    cpus_.write_file("intel-rapl:1", "energy_uj", "no number");
  }
  [[nodiscard]] Start on_machine(const Words& words, const Words& command = {}) const {
    Start start =
        wattle(words + Words{"--sysfs", cpus_.system().sysfs, "--procfs", cpus_.system().procfs,
                             "--nvml-library", gpus_.library_path()});
    if (!command.empty()) start.command = start.command + Words{"--"} + command;
    start.environment = {{"WATTLE_FAKE_NVML", gpus_.script_path()},
                         {"WATTLE_SOCK_PATH", "none"},
                         {"XDG_STATE_HOME", path("state").string()},
                         {"WATTLE_HISTORY", path("history.db").string()}};
    return start;
  }
  [[nodiscard]] Start history(const Words& words) const {
    Start start = wattle(Words{"history"} + words);
    start.environment = {{"WATTLE_HISTORY", path("history.db").string()}};
    return start;
  }
  /// What it printed; a failure of the test where an unknown value is spelled otherwise.
  static std::string checked(const Start& start, std::string_view until = "") {
    Process process(start);
    if (!until.empty()) {
      EXPECT_TRUE(process.prints(until)) << until;
      process.send(SIGINT);
    }
    const Outcome outcome = process.wait();
    std::string words;
    for (const std::string& word : start.command) words += word + " ";
    EXPECT_NE(outcome.out + outcome.err, "") << words;
    EXPECT_EQ(spelled_otherwise(outcome.out), "") << words << '\n' << outcome.out;
    EXPECT_EQ(spelled_otherwise(outcome.err), "") << words << '\n' << outcome.err;
    return outcome.out + outcome.err;
  }
  void check_page(const std::string& name) const {
    const std::string html = content_of(path(name));
    EXPECT_NE(html, "") << name;
    EXPECT_EQ(spelled_otherwise_in_page(html), "") << name;
  }

  fakes::PowercapTree cpus_;
  fakes::FakeNvml gpus_{
      "gpu NVIDIA B200\ncounter none\nmemory none\nutilization none\ntemperature none\nclocks "
      "none\n"
      "limit none\nerror nvmlDeviceGetPowerUsage 999 from 0.5\n"
      "error nvmlDeviceGetFieldValues 999 from 0.5\n"
      "gpu NVIDIA B200\ncounter none\npower step 0 300\nmemory none\n"};
};

/// The test of the test: each of these is found.
TEST_F(UnknownValues, AreFoundWhereTheyAreSpelledOtherwise) {
  for (const char* wrong :
       {"energy: not known", "energy  N/A", "power n/a W", "GPU 0  nan", "the user is ?",
        "energy: -", "total, -", "the power is -", "package_0  12.00 J  unknown  1.000 s"}) {
    EXPECT_EQ(spelled_otherwise(wrong), wrong);
  }
  for (const char* right : {"energy  unknown", "package_0  -  -", "the power is unknown",
                            "gpu-0: 1-2 J", "wattle run -o - true", "a table of - cells"}) {
    EXPECT_EQ(spelled_otherwise(right), "");
  }
  EXPECT_NE(spelled_otherwise_in_page("<td>1 J</td><td class=\"number\">unknown</td>"), "");
  EXPECT_EQ(spelled_otherwise_in_page("<td>-</td><td>-</td><th>a</th><td>unknown</td>"), "");
}

TEST_F(UnknownValues, OfDevicesAreSpelledAlike) {
  for (const Words& words :
       {Words{"sensors"}, Words{"sensors", "--cross-check"}, Words{"sensors", "--measure"},
        Words{"doctor"}, Words{"doctor", "--verbose"}, Words{"top", "--once", "--seconds", "0.2"},
        Words{"top", "--once", "--by", "user", "--seconds", "0.2"}}) {
    checked(on_machine(words));
  }
  checked(on_machine({"power", "--period", "0.1"}), "     -");  // its driver fails from then on
  checked(on_machine({"energy", "--period", "0.1"}), " J");
}

TEST_F(UnknownValues, OfRunsAreSpelledAlike) {
  const Words work = {"sleep", "0.3"};
  const std::string json = path("run.json");
  checked(on_machine({"run", "--save", "--json", json}, work));
  checked(on_machine({"run", "--status", "0.1"}, work));
  checked(on_machine({"run", "--html", path("run.html")}, work));
  checked(on_machine({"bench", "-r", "2", "-N", "--export-json", path("b.json"), "--html",
                      path("bench.html"), "true", "sleep 0.1"}));
  const std::string id = parse_json(run(history({"--json"})).out)["runs"][0]["id"];
  checked(history({"show", id}));
  Json unknown = parse_json(content_of(json));
  unknown["exit"]["code"] = nullptr;
  for (const char* key : {"total_j", "total_uncertainty_j", "total_mean_w"}) {
    unknown["energy"][key] = nullptr;
  }
  std::ofstream(path("unknown.json")) << unknown.dump() << '\n';
  const std::string other = path("unknown.json");
  checked(wattle({"report", "--html", path("job.html"), json, other}));
  for (const Words& words :
       {Words{"report", json, other}, Words{"report", other}, Words{"compare", json, other},
        Words{"compare", path("b.json"), path("b.json")}}) {
    checked(wattle(words));
  }
  checked(history({"import", other}));
  EXPECT_THAT(checked(history({})), HasSubstr("  -  "));
  for (const char* page : {"run.html", "bench.html", "job.html"}) check_page(page);
}

TEST_F(UnknownValues, OfMonitorsAreSpelledAlike) {
  std::filesystem::create_directory(path("logs"));
  std::ofstream(path("logs/hw_metrics.csv"))
      << "timestamp, index, utilization.gpu [%], power.draw [W], memory.used [MiB]\n"
         "2026/11/29 09:00:00.000, 0, [N/A], 100.00 W, [N/A]\n"
         "2026/11/29 09:00:00.000, 1, [N/A], [N/A], [N/A]\n"
         "2026/11/29 09:00:01.000, 0, [N/A], 100.00 W, [N/A]\n"
         "2026/11/29 09:00:01.000, 1, 5 %, [N/A], [N/A]\n";
  const std::string text = checked(wattle({"summary", path("logs")}));
  EXPECT_THAT(text, HasSubstr("unknown"));
  EXPECT_THAT(text, ContainsRegex("  -( |\n)"));
  Process target({.command = child({"print", "ready", "read_all"})});
  ASSERT_TRUE(target.prints("ready"));
  Start track = wattle({"track", "--pid", std::to_string(target.pid()), "--duration", "0.3"});
  track.environment = {{"WATTLE_SYSFS", cpus_.system().sysfs},
                       {"WATTLE_FAKE_NVML", gpus_.script_path()},
                       {"WATTLE_NVML_LIBRARY", gpus_.library_path()},
                       {"WATTLE_SOCK_PATH", "none"}};
  checked(track);
  target.close_input();
  EXPECT_EQ(target.wait().code(), 0);
}

}  // namespace
}  // namespace wattle::integration
