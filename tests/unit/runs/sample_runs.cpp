#include "sample_runs.hpp"

#include "report/report.hpp"

namespace wattle {

std::string run_record(const RecordFacts& facts) {
  Report report;
  report.command = facts.command;
  report.exit = {.started = true, .code = facts.code};
  report.started_unix_s = facts.started_unix_s;
  report.ended_unix_s = facts.started_unix_s + 2.0;
  report.wall = Seconds(2.0);
  report.interval = Seconds(0.1);
  report.host = {.name = facts.host, .boot_id = "b", .cpu = "A CPU"};
  if (facts.energy_j >= 0.0) {
    report.energy.total.energy = Joules(facts.energy_j);
    report.energy.total.uncertainty = Joules(0.5);
    report.energy.total.covers = {"cpu"};
    report.energy.total.unknown = Seconds(facts.unknown_s);
  }
  report.usage.cpu_user = Seconds(1.0);
  report.usage.cpu_system = Seconds(0.5);
  report.usage.peak_rss_bytes = 1'000'000;
  std::string text = to_json(report);
  text.pop_back();  // the line end
  return text;
}

SavedRun saved_run(const RecordFacts& facts, const Tags& tags) {
  return {.id = {}, .record = run_record(facts), .tags = tags};
}

}  // namespace wattle
