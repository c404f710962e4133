// The sub-commands that write a page.
#include <filesystem>
#include <ostream>

#include "bench_command.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;

/// A sub-command that writes a page: the words before the page's path, and those after it.
struct PageCommand {
  const char* name;
  Words before;
  Words after;
  bool runs_commands;  ///< that are not started if the page cannot be written
  bool has_text_on_stdout;

  friend std::ostream& operator<<(std::ostream& stream, const PageCommand& command) {
    return stream << command.name;
  }
};

class EveryPage : public BenchCommandTest, public testing::WithParamInterface<PageCommand> {
 protected:
  EveryPage() {
    folder_.write("a.json", record());
    folder_.write("b.json", record());
  }
  /// Of a run, as the program writes it; made once.
  static std::string record() {
    static const std::string text = run(wattle({"run", "--quiet", "--sysfs", "/nowhere", "--gpus",
                                                "none", "--json", "-", "--", "true"}))
                                        .out;
    return text;
  }
  /// In the test's folder.
  [[nodiscard]] Outcome with_page(const std::string& page) const {
    Start start = wattle(GetParam().before + Words{"--html", page} + GetParam().after);
    start.folder = folder_.path();
    return run(start);
  }
  static void expect_page(const std::string& text) {
    EXPECT_THAT(text, testing::StartsWith("<!DOCTYPE html>\n"));
    EXPECT_THAT(text, testing::EndsWith("</html>\n"));
    EXPECT_THAT(text, HasSubstr("Content-Security-Policy"));
  }
};

TEST_P(EveryPage, IsAloneOnStdout) {
  const Outcome outcome = with_page("-");
  EXPECT_EQ(outcome.code(), 0) << outcome.err;
  expect_page(outcome.out);
  if (GetParam().runs_commands) {
    EXPECT_THAT(outcome.err, HasSubstr("time")) << "what was measured";
  }
}

TEST_P(EveryPage, ReplacesAFileAsAWhole) {
  folder_.write("page.html", std::string(1'000'000, 'x'));
  const Outcome outcome = with_page("page.html");
  EXPECT_EQ(outcome.code(), 0) << outcome.err;
  expect_page(content_of(path("page.html")));
  EXPECT_EQ(outcome.out.empty(), !GetParam().has_text_on_stdout);
}

TEST_P(EveryPage, ThatCannotBeOpenedIsRefusedFirst) {
  std::filesystem::create_directory(path("folder"));
  for (const std::string page : {"none/page.html", "folder"}) {
    const Outcome outcome = with_page(page);
    EXPECT_EQ(outcome.code(), kFailed);
    EXPECT_THAT(outcome.err, HasSubstr("cannot write " + page));
    EXPECT_EQ(outcome.out, "");
    EXPECT_FALSE(std::filesystem::exists(path("ran")));
  }
  EXPECT_NE(with_page("").code(), 0);
}

TEST_P(EveryPage, OnAFullDiskLeavesTheText) {
  const Outcome outcome = with_page("/dev/full");
  EXPECT_THAT(outcome.err, HasSubstr("No space left on device"));
  EXPECT_THAT(outcome.err + outcome.out, HasSubstr("time"));
  EXPECT_EQ(outcome.code(), std::string_view(GetParam().name) == "Run" ? 0 : kFailed)
      << "a run ends as its command";
}

INSTANTIATE_TEST_SUITE_P(
    Commands, EveryPage,
    testing::Values(PageCommand{"Run",
                                {"run", "--sysfs", "/nowhere", "--gpus", "none"},
                                {"--", "touch", "ran"},
                                true,
                                false},
                    PageCommand{"Bench",
                                {"bench", "--sysfs", "/nowhere", "--gpus", "none", "-r", "2", "-N"},
                                {"touch ran", "true"},
                                true,
                                true},
                    PageCommand{"Compare", {"compare"}, {"a.json", "b.json"}, false, true},
                    PageCommand{"Report", {"report"}, {"a.json", "b.json"}, false, true}),
    [](const auto& command) { return std::string(command.param.name); });

}  // namespace
}  // namespace wattle::integration
