// Memory of a tree whose processes have pages in common: 200 MiB of the root's are in three
// processes, 50 MiB are of shared memory, and two children have 100 MiB each of their own.
#include <sstream>

#include "command.hpp"

namespace wattle::integration {
namespace {

constexpr double kBytes = 450.0 * 1024 * 1024;
constexpr double kTolerance = 0.03 * kBytes;

/// Beside more programs that want the processors than there are of them.
class TrackMemory : public CommandTest {
 protected:
  TrackMemory() {
    for (int i = 0; i < 4; ++i) {
      hogs_.push_back(std::make_unique<Process>(Start{.command = child({"burn", "60000"})}));
    }
  }
  ~TrackMemory() override {
    for (const auto& hog : hogs_) hog->send(SIGKILL);
  }
  /// Lives for as long as its children use `ms` of processor time.
  [[nodiscard]] static Words tree(const std::string& ms) {
    const Words of_child{"background", "[", "touch", "100", "print", "done", "burn", ms, "]"};
    return Words{"touch", "200", "share", "50"} + of_child + of_child + Words{"join"};
  }
  /// Those of a column of the tracking file that are not empty.
  [[nodiscard]] std::vector<double> column(const std::string& name) const {
    std::istringstream lines(content_of(path("rows.csv")));
    std::string line;
    for (int i = 0; i < 2; ++i) std::getline(lines, line);
    std::getline(lines, line);
    const auto cells_of = [](const std::string& text) {
      std::istringstream cells(text);
      std::vector<std::string> all;
      for (std::string cell; std::getline(cells, cell, ',');) all.push_back(cell);
      return all;
    };
    const std::vector<std::string> names = cells_of(line);
    const auto at = static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
    std::vector<double> values;
    while (std::getline(lines, line)) {
      const std::vector<std::string> cells = cells_of(line);
      if (cells.size() > at && !cells[at].empty()) values.push_back(std::stod(cells[at]));
    }
    return values;
  }

 private:
  std::vector<std::unique_ptr<Process>> hogs_;
};

TEST_F(TrackMemory, CountsPagesOfAForkOnceInEachRow) {
  Process target({.command = child(tree("60000"))});
  ASSERT_TRUE(target.prints("done\ndone\n"));
  const Outcome outcome = run(
      wattle_track(target.pid(), {"--duration", "2", "--sleep-time", "0.1", "--ram-unit", "bytes",
                                  "--json", "-", "--tracking-file", path("rows.csv").string()}));
  ASSERT_EQ(outcome.code(), 0) << outcome.err;
  const Json usage = parse_json(outcome.out)["resource_usage"];
  EXPECT_NEAR(usage["max_ram"]["combined"]["total_rss"].get<double>(), kBytes, kTolerance);
  EXPECT_NEAR(usage["peak_pss_bytes"].get<double>(), kBytes, kTolerance);
  EXPECT_TRUE(usage["estimated"].empty()) << usage["estimated"];
  const std::vector<double> rows = column("combined_ram");
  EXPECT_GE(rows.size(), 3U);
  for (const double bytes : rows) EXPECT_NEAR(bytes, kBytes, kTolerance);
  EXPECT_EQ(rows.size(), column("system_ram").size()) << "no cell is empty";
}

TEST_F(TrackMemory, CountsPagesOfAForkOnceInARun) {
  const Outcome outcome =
      run(wattle(Words{"run", "--quiet", "--json", "-", "--"} + child(tree("500"))));
  ASSERT_EQ(outcome.code(), 0) << outcome.err;
  const Json json = parse_json(outcome.out.substr(outcome.out.find('{')));
  const Json& usage = json["resource_usage"];
  EXPECT_NEAR(usage["max_ram"]["combined"]["total_rss"].get<double>(), kBytes * 1e-9,
              kTolerance * 1e-9);
  EXPECT_NEAR(usage["peak_pss_bytes"].get<double>(), kBytes, kTolerance);
}

}  // namespace
}  // namespace wattle::integration
