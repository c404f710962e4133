// Records that somebody else wrote: whatever their texts hold, no command's output moves a
// terminal's cursor, breaks a line or turns text around.
#include "foreign_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <string_view>

#include "command.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;

/// `json` with every text, and every key that is not of the schema, followed by `kEvil`.
Json with_evil(const Json& json, const std::string& key = "") {
  if (json.is_string() && key != "schema") return json.get<std::string>() + std::string(kEvil);
  if (json.is_array()) {
    Json list = Json::array();
    for (const Json& element : json) list.push_back(with_evil(element, key));
    return list;
  }
  if (!json.is_object()) return json;
  Json object = Json::object();
  const bool has_free_keys = key == "tags" || key == "parameters";
  for (const auto& [name, value] : json.items()) {
    object[has_free_keys ? name + std::string(kEvil) : name] = with_evil(value, name);
  }
  return object;
}

class ForeignText : public CommandTest {
 protected:
  /// A record with everything in it that a text can be in.
  [[nodiscard]] Json record() const {
    Json json = measure({}, {"true", "a b"}).json;
    json["energy"]["total_j"] = 20.0;
    json["energy"]["total_uncertainty_j"] = 1.0;
    json["energy"]["total_mean_w"] = 10.0;
    json["energy"]["total_covers"] = {"cpu"};
    json["energy"]["total_missing"] = {{{"kind", "dram"}, {"reason", "no counter"}},
                                       {{"kind", "gpu"}, {"reason", "no driver"}}};
    json["energy"]["domains"] =
        Json::array({{{"name", "package_0"},
                      {"device", "cpu:0"},
                      {"contained_in", nullptr},
                      {"source", "powercap"},
                      {"method", "counter"},
                      {"quantity", "energy"},
                      {"energy_j", 20.0},
                      {"uncertainty_j", 1.0},
                      {"flags", {"wrapped"}}},
                     {{"name", "dram_0"}, {"contained_in", "package_0"}, {"energy_j", 1.0}},
                     {{"name", "psys"}, {"energy_j", nullptr}}});
    json["host"]["gpus"] = Json::array({{{"model", "H100"}}});
    json["slurm"] = {{"job_id", "77"}, {"step_id", "0"}, {"rank", "0"}, {"local_rank", "0"}};
    json["mpi"] = {{"rank", 0}, {"size", 2}};
    json["phases"]["rows"] =
        Json::array({{{"name", "load"}, {"parent", nullptr}, {"spans", {{0.1, 0.2}}}}});
    return json;
  }
  [[nodiscard]] std::string write(const std::string& name, const std::vector<Json>& lines) const {
    std::ofstream file(path(name));
    for (const Json& line : lines) file << line.dump() << "\n";
    return path(name).string();
  }
  /// Runs it, and looks at everything that it wrote.
  Outcome clean(Start start) const {
    start.environment["WATTLE_HISTORY"] = path("history.db").string();
    start.environment["XDG_STATE_HOME"] = path("state").string();
    start.environment["XDG_CONFIG_HOME"] = path("config").string();
    Outcome outcome = run(start);
    std::string words;
    for (const std::string& word : start.command) words += word.substr(0, 60) + " ";
    EXPECT_EQ(evil_in(outcome.out), "") << words;
    EXPECT_EQ(evil_in(outcome.err), "") << words;
    EXPECT_NE(outcome.out + outcome.err, "") << words;
    return outcome;
  }
  void clean_file(const std::string& name) const {
    const std::string content = content_of(path(name));
    EXPECT_EQ(evil_in(content), "") << name;
    EXPECT_NE(content, "");
  }
};

TEST_F(ForeignText, OfRecordsReachesNoTerminal) {
  for (const char* schema : {"wattle.run/1", "wattle.run/2"}) {
    Json one = record();
    one["schema"] = schema;
    Json other = one;
    other["wall_s"] = 2.0 * one["wall_s"].get<double>() + 1.0;
    other["exit"]["code"] = 3;
    other["energy"]["left_out"] = "rank 0 of this machine measures it";
    const std::string a = write("a.jsonl", {with_evil(one)});
    const std::string b = write("b.jsonl", {with_evil(other), with_evil(one)});
    EXPECT_THAT(clean(wattle({"report", a, b})).out, HasSubstr("job 77"));
    for (const Words& words :
         {Words{"report", "--json", a, b}, Words{"compare", a, b}, Words{"compare", "--json", a, b},
          Words{"compare", "--fail-above", "1", a, b}, Words{"report", "--html", path("p.html"), b},
          Words{"compare", "--html", path("c.html"), a, b}, Words{"history", "import", a, b}}) {
      clean(wattle(words));
    }
    clean_file("p.html");
    clean_file("c.html");
  }
}

TEST_F(ForeignText, OfSavedRunsReachesNoTerminal) {
  const Json saved = {{"schema", "wattle.saved/1"},
                      {"id", "abcdefgh"},
                      {"tags", {{"key", "value"}, {"bench", "x"}}},
                      {"directory", "/home/a"},
                      {"git",
                       {{"commit", "0123456789abcdef"},
                        {"branch", "main"},
                        {"dirty", nullptr},
                        {"unknown", "why"},
                        {"worktree", "/home/a"}}},
                      {"series",
                       {{"length_s", 1.0},
                        {"column_s", 0.5},
                        {"step_s", 0.5},
                        {"columns", 2},
                        {"domains", {{{"name", "package_0"}, {"mean_w", {10.0, 20.0}}}}},
                        {"total", nullptr}}},
                      {"record", record()}};
  const std::string file = write("saved.jsonl", {with_evil(saved)});
  const Outcome imported = clean(wattle({"history", "import", file}));
  EXPECT_THAT(imported.err, HasSubstr("runs added: 1"));
  const Json list = parse_json(clean(wattle({"history", "--json"})).out);
  const std::string id = list["runs"][0]["id"];
  for (const Words& words :
       {Words{}, Words{"--csv"}, Words{"show", id}, Words{"show", "--json", id}, Words{"export"},
        Words{"export", "--csv"}, Words{"check"}, Words{"--tag", std::string(kEvil) + "=x"},
        Words{"--host", std::string(kEvil)}, Words{"show", std::string(kEvil)}}) {
    clean(wattle(Words{"history"} + words));
  }
  for (const Words& words :
       {Words{"report", id}, Words{"report", "--json", id}, Words{"compare", id, id},
        Words{"compare", file, id}, Words{"report", "--html", path("p.html"), id},
        Words{"report", "tag:" + std::string(kEvil)}, Words{"compare", std::string(kEvil), file}}) {
    clean(wattle(words));
  }
  clean_file("p.html");
}

TEST_F(ForeignText, OfBenchmarksReachesNoTerminal) {
  const Outcome made = run(wattle({"bench", "-r", "3", "-N", "-L", "n", "1,2", "--export-json",
                                   path("bench.json").string(), "true {n}"}));
  ASSERT_EQ(made.code(), 0) << made.err;
  Json bench = parse_json(content_of(path("bench.json")));
  bench["warnings"] = {"a warning"};
  for (Json& result : bench["results"]) {
    Json& values = result["values"];
    values["energy_j"] = {1.0, 2.0, 3.0};
    values["energy_domains"] = {{"package_0"}, {"package_0", "dram_0"}, {"package_0"}};
  }
  const std::string a = write("a.json", {with_evil(bench)});
  bench["host"]["name"] = "other";
  const std::string b = write("b.json", {with_evil(bench)});
  for (const Words& words :
       {Words{"compare", a, a}, Words{"compare", a, b}, Words{"compare", "--force", a, b},
        Words{"compare", "--json", "--force", a, b},
        Words{"compare", "--html", path("c.html"), a, a}}) {
    clean(wattle(words));
  }
  clean_file("c.html");
}

TEST_F(ForeignText, OfOtherSchemasAndFilesReachesNoTerminal) {
  const std::string schema = write("schema.json", {Json::object({{"schema", std::string(kEvil)}})});
  const std::string text = path("text.json").string();
  std::ofstream(text) << kEvil;
  for (const std::string& file : {schema, text, path("none" + std::string(kEvil)).string()}) {
    for (const Words& words : {Words{"report", file}, Words{"compare", file, file},
                               Words{"history", "import", file}, Words{"summary", file}}) {
      clean(wattle(words));
    }
  }
}

TEST_F(ForeignText, OfACommandLineReachesNoTerminal) {
  const std::string evil = "true '" + std::string(kEvil) + "'";
  const Words bench = {"bench",
                       "-r",
                       "2",
                       "-n",
                       std::string(kEvil),
                       "--export-csv",
                       path("t.csv").string(),
                       "--export-markdown",
                       path("t.md").string(),
                       "--export-orgmode",
                       path("t.org").string(),
                       "--export-asciidoc",
                       path("t.adoc").string(),
                       "--html",
                       path("t.html").string(),
                       evil};
  EXPECT_EQ(clean(wattle(bench)).code(), 0);
  for (const char* file : {"t.csv", "t.md", "t.adoc", "t.org", "t.html"}) clean_file(file);
  clean(wattle_run({"--save", "--tag", "k=" + std::string(kEvil)}, {"true", std::string(kEvil)}));
  clean(wattle({"history"}));
  clean(wattle({"history", "export", "--csv"}));
  clean(wattle({"no " + std::string(kEvil)}));
}

TEST_F(ForeignText, OfTheConfigurationReachesNoTerminal) {
  std::filesystem::create_directories(path("config/wattle"));
  std::ofstream(path("config/wattle/config")) << "x" << kEvil << " = 1\ntags = a=" << kEvil << "\n";
  for (const Words& words : {Words{}, Words{"get", "tags"}, Words{"get", std::string(kEvil)}}) {
    clean(wattle(Words{"config"} + words));
  }
}

/// All that wattle reads and may print.
constexpr std::array kVariables = {"WATTLE_SYSFS",
                                   "WATTLE_PROCFS",
                                   "WATTLE_NVML_LIBRARY",
                                   "WATTLE_SOCK_PATH",
                                   "ZEUSD_SOCK_PATH",
                                   "ZEUSD_HOST_PORT",
                                   "WATTLE_HISTORY",
                                   "WATTLE_SAVE",
                                   "WATTLE_ESTIMATE_AS",
                                   "XDG_STATE_HOME",
                                   "XDG_CONFIG_HOME",
                                   "XDG_RUNTIME_DIR",
                                   "HOME",
                                   "TMPDIR",
                                   "PATH",
                                   "SUDO_USER",
                                   "OTEL_EXPORTER_OTLP_CERTIFICATE",
                                   "OTEL_EXPORTER_OTLP_HEADERS",
                                   "OTEL_RESOURCE_ATTRIBUTES",
                                   "OTEL_SERVICE_NAME",
                                   "TRACEPARENT",
                                   "CUDA_VISIBLE_DEVICES",
                                   "CUDA_DEVICE_ORDER",
                                   "ROCR_VISIBLE_DEVICES",
                                   "HIP_VISIBLE_DEVICES",
                                   "SLURM_JOB_ID",
                                   "SLURM_STEP_ID",
                                   "SLURM_PROCID",
                                   "SLURM_LOCALID",
                                   "SLURM_NODEID",
                                   "SLURMD_NODENAME",
                                   "SLURM_RESTART_COUNT",
                                   "PBS_JOBID",
                                   "LSB_JOBID",
                                   "PMI_RANK",
                                   "OMPI_COMM_WORLD_RANK",
                                   "LISTEN_FDS",
                                   "NO_COLOR",
                                   "TERM",
                                   "LANG"};

TEST_F(ForeignText, OfTheEnvironmentReachesNoTerminal) {
  for (const std::string_view name : kVariables) {
    for (const Words& words :
         {Words{"sensors"}, Words{"config"}, Words{"history"},
          Words{"run", "--save", "--json", path("run-%j-%r.json"), "--", "true"}}) {
      Start start = wattle(words);
      start.environment["XDG_STATE_HOME"] = path("state").string();
      start.environment["XDG_CONFIG_HOME"] = path("config").string();
      start.environment[std::string(name)] = "/none" + std::string(kEvil);
      const Outcome outcome = run(start);
      EXPECT_FALSE(outcome.signal()) << name << ' ' << words[0];
      EXPECT_EQ(evil_in(outcome.out), "") << name << ' ' << words[0];
      EXPECT_EQ(evil_in(outcome.err), "") << name << ' ' << words[0];
    }
  }
}

}  // namespace
}  // namespace wattle::integration
