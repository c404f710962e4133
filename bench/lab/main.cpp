// The lab: sensors and loads whose truth is known, what Wattle says about them, and how often it
// is right. Virtual time, fixed seeds: the same numbers at every run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/text/text.hpp"
#include "lab/cells.hpp"
#include "lab/json_file.hpp"
#include "lab/page.hpp"
#include "lab/results.hpp"
#include "lab/table.hpp"
#include "lab/trace_file.hpp"
#include "wattle/error.hpp"

namespace wattle::lab {
namespace {

struct Options {
  TrialOptions trials;
  unsigned jobs = 1;
  std::string only;
  std::string trace_path;
  std::string json_path;
  std::string markdown_path;
  bool list = false;
};

void add_options(CLI::App& app, Options& options) {
  app.add_option("--trials", options.trials.trials, "Trials of each cell")
      ->check(CLI::Range(1, 100'000'000))
      ->capture_default_str();
  app.add_option("--seed", options.trials.seed, "Another one makes other trials")
      ->capture_default_str();
  app.add_option("--jobs", options.jobs, "Cells that are tried at the same time")
      ->check(CLI::Range(1U, 1024U))
      ->capture_default_str();
  app.add_option("--only", options.only, "Only cells whose name contains TEXT")->type_name("TEXT");
  app.add_option("--trace", options.trace_path,
                 "Try a recorded load too: lines of TIME_S,POWER_W, the last one ends it")
      ->type_name("FILE");
  app.add_option("--json", options.json_path, "Write the results to FILE")->type_name("FILE");
  app.add_option("--markdown", options.markdown_path,
                 "Write a page to FILE, and its plots to the folder images beside it")
      ->type_name("FILE");
  app.add_flag("--list", options.list, "Name the cells and do nothing");
}

std::vector<Cell> chosen_cells(const Options& options) {
  std::optional<Waveform> trace;
  if (!options.trace_path.empty()) trace = read_trace(options.trace_path);
  std::vector<Cell> cells = all_cells(trace);
  std::erase_if(
      cells, [&](const Cell& cell) { return cell.name().find(options.only) == std::string::npos; });
  return cells;
}

/// The results do not depend on the number of threads: each cell has seeds of its own.
Results run(std::vector<Cell> cells, const Options& options) {
  Results results{.options = options.trials, .cells = {}};
  for (Cell& cell : cells) results.cells.push_back({std::move(cell), {}});
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < results.cells.size(); i = next++) {
      Entry& entry = results.cells[i];
      entry.result = run_cell(entry.cell, options.trials);
    }
  };
  std::vector<std::jthread> others;
  for (unsigned i = 1; i < options.jobs; ++i) others.emplace_back(work);
  work();
  others.clear();
  return results;
}

void write_file(const std::filesystem::path& path, std::string_view content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  file.close();
  if (!file) throw WriteError(path.string(), errno);
}

void write_page(const Results& results, const std::filesystem::path& path) {
  const std::vector<PageImage> images = images_of(results);
  const std::filesystem::path folder = path.parent_path() / "images";
  std::filesystem::create_directories(folder);
  for (const PageImage& image : images) write_file(folder / image.name, image.svg);
  write_file(path, page_of(results, images));
}

/// The exit status: 1 where a target is missed.
int report(const Results& results, const Options& options) {
  fmt::print("{}\n", table_of(results));
  bool all_met = true;
  for (const Verdict& verdict : judge(results)) {
    fmt::print("{:6}  {}: {}\n", text_of(verdict.is_met), verdict.target, verdict.value);
    all_met = all_met && verdict.is_met.value_or(true);
  }
  if (!options.json_path.empty()) write_file(options.json_path, json_of(results));
  if (!options.markdown_path.empty()) write_page(results, options.markdown_path);
  if (std::fflush(stdout) != 0) throw WriteError("standard output", errno);
  return all_met ? 0 : 1;
}

int run_with(const Options& options) {
  std::vector<Cell> cells = chosen_cells(options);
  if (cells.empty()) {
    throw InvalidArgument(
        fmt::format("no cell has {} in its name; --list names them", shell_quoted(options.only)));
  }
  if (options.list) {
    for (const Cell& cell : cells) fmt::print("{}\n", cell.name());
    return 0;
  }
  return report(run(std::move(cells), options), options);
}

int main_of(int argc, char** argv) {
  CLI::App app("What Wattle says about loads whose energy is known, and how often it is right.");
  Options options;
  add_options(app, options);
  app.footer("Ends with 0, with 1 where a target is missed, with 2 where it could not be done.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  return run_with(options);
}

}  // namespace
}  // namespace wattle::lab

int main(int argc, char** argv) {
  try {
    return wattle::lab::main_of(argc, argv);
  } catch (const std::exception& error) {
    std::fputs("lab: ", stderr);
    std::fputs(error.what(), stderr);
    std::fputs("\n", stderr);
    return 2;
  }
}
