// The report for people: what it cost first, then where it went, then what the command used.
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/facts_text.hpp"
#include "base/text/flags_text.hpp"
#include "base/text/quantity.hpp"
#include "base/text/unknown.hpp"
#include "report/estimate_words.hpp"
#include "report/report.hpp"
#include "report/words.hpp"
#include "units/units_words.hpp"

namespace wattle {
namespace {

/// Eighths of a block, from 0 to the largest value; a blank where nothing is known.
std::string sparkline(const std::vector<std::optional<Watts>>& means) {
  constexpr std::array<std::string_view, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  Watts top;
  for (const auto& mean : means) top = std::max(top, mean.value_or(Watts(0.0)));
  std::string line;
  for (const auto& mean : means) {
    if (!mean) {
      line += ' ';
    } else {
      const double share = top.si() > 0 ? *mean / top : 0.0;
      line += kBlocks.at(static_cast<std::size_t>(std::lround(share * 7.0)));
    }
  }
  return fmt::format("{}  0 to {}", line, to_text(top));
}

std::string domain_table(const Report& report, const TextStyle& style, Detail detail) {
  const EnergyReport& energy = report.energy;
  if (energy.domains.empty()) return {};
  TextTable table({Align::left, Align::right, Align::right, Align::right, Align::left}, style, 2);
  table.add({"domain", "energy ± (k=2)", "mean", "peak"}, true);
  for (const DomainRow& row : domain_rows(report, detail)) {
    table.add({row.name, row.energy, row.mean, row.peak, row.remarks});
  }
  std::string text = "\n" + table.text();
  const auto is_known = [](const std::optional<Watts>& mean) { return mean.has_value(); };
  if (energy.total.energy && std::ranges::any_of(energy.profile, is_known)) {
    text += wrapped(fmt::format("  power  {}\n", sparkline(energy.profile)), style, 9);
  }
  const std::string note = "  " + uncertainty_note(energy);
  return text + colored(wrapped(note, style), Tint::dim, style) + "\n";
}

}  // namespace

std::string to_text(const PhasesReport& phases, const TextStyle& style) {
  if (phases.rows.empty()) return {};
  TextTable table({Align::left, Align::right, Align::right, Align::right, Align::right,
                   Align::right, Align::left},
                  style, 2);
  table.add({"phase", "time", "energy ± (k=2)", "mean", "CPU time", "memory"}, true);
  for (const PhaseReport& phase : phases.rows) {
    const Total& total = phase.total;
    std::string name = std::string(2 * phase.depth, ' ') + printable(phase.name, 60);
    if (phase.spans.size() > 1) name += fmt::format(" ({} times)", phase.spans.size());
    const bool is_rounded = total.mean && phase.time > Seconds(0);
    const std::string unknown(kUnknownCell);
    table.add({name, to_text(phase.time),
               total.energy ? to_text(*total.energy, total.uncertainty) : unknown,
               is_rounded ? rounded_text(*total.mean, total.uncertainty / phase.time) : unknown,
               phase.cpu ? to_text(*phase.cpu) : unknown,
               phase.peak_memory_bytes ? bytes_to_text(*phase.peak_memory_bytes) : unknown,
               flags_text(doubts_of(total.flags), ", ")});
  }
  std::string text = "\n" + table.text();
  if (phases.dropped > 0) {
    text += wrapped(fmt::format("  {} more phases are not listed\n", phases.dropped), style);
  }
  if (phases.ignored > 0) {
    text += wrapped(fmt::format("  {} marks were ignored: they ended what had not started, or were "
                                "not understood\n",
                                phases.ignored),
                    style);
  }
  return text;
}

std::string to_text(const Report& report, const TextStyle& style, Detail detail) {
  std::string summary = colored(headline_of(report), Tint::bold, style) + "\n";
  for (const std::string& line : coverage_of(report.energy.total)) summary += "  " + line + "\n";
  if (report.estimate) {
    for (const std::string& line : words_of(*report.estimate)) summary += "  " + line + "\n";
  }
  if (report.share) {
    for (const std::string& line : words_of(*report.share, detail)) summary += "  " + line + "\n";
  }
  return wrapped(summary, style) + domain_table(report, style, detail) +
         to_text(report.phases, style) +
         (report.units ? "\n" + to_text(*report.units, style) : "") + "\n" +
         facts_text(facts_of(report, detail), style);
}

}  // namespace wattle
