#include "lab/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

namespace wattle::lab {
namespace {

std::string percentage(double part) { return fmt::format("{:.3f}", 100.0 * part); }

std::string flags_of(const Claims& claims) {
  std::string text;
  const auto add = [&](double part, std::string_view name) {
    if (part > 0.0) text += fmt::format("{}{} {:.1f}", text.empty() ? "" : " ", name, 100.0 * part);
  };
  add(claims.disagrees, "disagrees");
  add(claims.partial_coverage, "partial");
  add(claims.coverage_unknown, "unknown");
  add(claims.gap, "gap");
  return text;
}

std::string common_of(const CellResult& result) {
  std::string text;
  for (const WayResult& way : result.common) {
    if (way.found == 0.0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", way.way, percentage(way.errors.rms));
  }
  return text;
}

std::vector<std::string> table_row_of(const Cell& cell, const CellResult& result) {
  std::vector<std::string> row = {std::string(cell.mode), cell.machine.name, cell.load.name,
                                  length_text(cell.window_s),
                                  fmt::format("{:.4g}", result.true_mean_j)};
  if (result.wattle && result.wattle->found > 0.0) {
    const Errors& errors = result.wattle->errors;
    row.insert(row.end(),
               {percentage(errors.bias), percentage(errors.rms), percentage(errors.p95)});
  } else {
    row.insert(row.end(), {"-", "-", "-"});
  }
  if (result.wattle && result.wattle->claims) {
    const Claims& claims = *result.wattle->claims;
    const auto ratio = width_ratio(*result.wattle);
    row.insert(row.end(),
               {percentage(claims.median_half_width), ratio ? fmt::format("{:.2f}", *ratio) : "-",
                fmt::format("{:.1f}", 100.0 * claims.coverage), flags_of(claims)});
  } else {
    row.insert(row.end(), {"-", "-", "-", ""});
  }
  row.push_back(common_of(result));
  return row;
}

}  // namespace

std::string table_of(const Results& results) {
  std::vector<std::vector<std::string>> rows = {{"mode", "sensor", "load", "window", "true J",
                                                 "bias %", "rms %", "p95 %", "+- %", "ratio",
                                                 "covers %", "flagged %", "common ways, rms %"}};
  for (const Entry& entry : results.cells) rows.push_back(table_row_of(entry.cell, entry.result));

  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  constexpr std::size_t kFirstNumber = 3;
  constexpr std::size_t kPastNumbers = 11;
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool is_number = i >= kFirstNumber && i < kPastNumbers;
      if (is_number) {
        fmt::format_to(std::back_inserter(line), "{:>{}}  ", row[i], widths[i]);
      } else {
        fmt::format_to(std::back_inserter(line), "{:<{}}  ", row[i], widths[i]);
      }
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace wattle::lab
