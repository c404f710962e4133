// The report for people: what it cost first, then where it went, then what the command used.
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "base/quantity.hpp"
#include "report/estimate_words.hpp"
#include "report/report.hpp"
#include "report/words.hpp"

namespace wattle {
namespace {

constexpr std::size_t kLabelWidth = 14;

/// One line of the lower part: a label, then a text.
std::string labelled(std::string_view label, std::string_view text) {
  return fmt::format("{:<{}}{}\n", label, kLabelWidth, text);
}

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

std::string domain_table(const EnergyReport& energy, const TextStyle& style) {
  if (energy.domains.empty()) return {};
  TextTable table({Align::left, Align::right, Align::right, Align::right, Align::left}, style, 2);
  table.add({"domain", "energy ± (k=2)", "mean", "peak"}, true);
  for (const DomainFigure& domain : energy.domains) {
    const EnergyFigure& figure = domain.figure;
    table.add({domain.domain.name(), energy_text(figure), power_text(figure, figure.mean),
               power_text(figure, figure.max), remarks_on(domain)});
  }
  std::string text = "\n" + table.text();
  const auto is_known = [](const std::optional<Watts>& mean) { return mean.has_value(); };
  if (energy.total.energy && std::ranges::any_of(energy.profile, is_known)) {
    text += wrapped(fmt::format("  power  {}\n", sparkline(energy.profile)), style, 9);
  }
  const std::string note = fmt::format("  {}", kUncertaintyNote);
  return text + colored(wrapped(note, style), Tint::dim, style) + "\n";
}

std::string phase_table(const PhasesReport& phases, const TextStyle& style) {
  if (phases.rows.empty()) return {};
  TextTable table(
      {Align::left, Align::right, Align::right, Align::right, Align::right, Align::right}, style,
      2);
  table.add({"phase", "time", "energy ± (k=2)", "mean", "CPU time", "memory"}, true);
  for (const PhaseReport& phase : phases.rows) {
    const Total& total = phase.total;
    std::string name = std::string(2 * phase.depth, ' ') + printable(phase.name, 60);
    if (phase.spans.size() > 1) name += fmt::format(" ({} times)", phase.spans.size());
    const bool is_rounded = total.mean && phase.time > Seconds(0);
    table.add({name, to_text(phase.time),
               total.energy ? to_text(*total.energy, total.uncertainty) : "unknown",
               is_rounded ? rounded_text(*total.mean, total.uncertainty / phase.time) : "-",
               phase.cpu ? to_text(*phase.cpu) : "-",
               phase.peak_memory_bytes ? bytes_to_text(*phase.peak_memory_bytes) : "-"});
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

}  // namespace

std::string to_text(const Report& report, const TextStyle& style) {
  std::string summary = colored(headline_of(report), Tint::bold, style) + "\n";
  for (const std::string& line : coverage_of(report.energy.total)) summary += "  " + line + "\n";
  if (report.estimate) {
    for (const std::string& line : words_of(*report.estimate)) summary += "  " + line + "\n";
  }
  if (report.share) {
    for (const std::string& line : words_of(*report.share)) summary += "  " + line + "\n";
  }
  std::string text;
  for (const auto& [label, what] : facts_of(report)) text += labelled(label, what);
  return wrapped(summary, style) + domain_table(report.energy, style) +
         phase_table(report.phases, style) + "\n" + wrapped(text, style, kLabelWidth);
}

}  // namespace wattle
