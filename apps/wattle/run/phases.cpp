#include "run/phases.hpp"

#include <algorithm>

#include "base/numbers/known_sum.hpp"
#include "sampling/energy_sum.hpp"

namespace wattle::app {

std::optional<std::size_t> Phases::row_of(const std::string& name,
                                          std::optional<std::size_t> parent) {
  const auto known = std::ranges::find_if(
      rows_, [&](const PhaseRow& row) { return row.name == name && row.parent == parent; });
  if (known != rows_.end()) return static_cast<std::size_t>(known - rows_.begin());
  if (rows_.size() == kMostRows) return std::nullopt;
  rows_.push_back({.name = name, .parent = parent, .depth = parent ? rows_[*parent].depth + 1 : 0});
  return rows_.size() - 1;
}

void Phases::begin(const std::string& name, const SharedEnd& here) {
  const auto parent = open_.empty() ? std::nullopt : std::optional(open_.back().row);
  const bool has_room = open_.size() < kMostOpen && spans_ < kMostSpans;
  const auto row = has_room ? row_of(name, parent) : std::nullopt;
  if (!row) {
    ++dropped_;
    return;
  }
  ++spans_;
  open_.push_back({.row = *row, .begin = here});
  if (here->memory_bytes) see(rows_[*row], *here->memory_bytes);
}

void Phases::end(std::size_t place, const SharedEnd& here) {
  const Open open = open_[place];
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(place));
  if (here->memory_bytes) see(rows_[open.row], *here->memory_bytes);
  rows_[open.row].spans.push_back({.begin = open.begin, .end = here});
}

void Phases::take(const std::optional<Mark>& mark, const SharedEnd& here) {
  if (!mark) {
    ++ignored_;
    return;
  }
  ++marks_;
  if (mark->kind == MarkKind::start) return begin(mark->name, here);
  if (mark->kind == MarkKind::next) {
    if (!open_.empty()) end(open_.size() - 1, here);
    return begin(mark->name, here);
  }
  for (std::size_t place = open_.size(); place-- > 0;) {
    if (mark->name.empty() || rows_[open_[place].row].name == mark->name) return end(place, here);
  }
  ++ignored_;
}

void Phases::see(PhaseRow& row, std::uint64_t memory_bytes) noexcept {
  row.peak_memory_bytes = std::max(row.peak_memory_bytes.value_or(0), memory_bytes);
}

void Phases::sample(std::uint64_t memory_bytes) noexcept {
  for (const Open& open : open_) see(rows_[open.row], memory_bytes);
}

void Phases::end(const SharedEnd& here) {
  while (!open_.empty()) end(open_.size() - 1, here);
}

/// Each row after its parent, before the next one of the parent's.
std::vector<std::size_t> Phases::tree_order() const {
  std::vector<std::size_t> order;
  // Children, the first one on top.
  std::vector<std::size_t> waiting;
  const auto add_children = [&](std::optional<std::size_t> parent) {
    for (std::size_t row = rows_.size(); row-- > 0;) {
      if (rows_[row].parent == parent) waiting.push_back(row);
    }
  };
  for (add_children(std::nullopt); !waiting.empty();) {
    order.push_back(waiting.back());
    waiting.pop_back();
    add_children(order.back());
  }
  return order;
}

PhasesReport Phases::report(TimePoint run_begin, const EnergyBetween& energy_between,
                            const std::string& no_processes) const {
  PhasesReport report{.rows = {}, .marks = marks_, .ignored = ignored_, .dropped = dropped_};
  const std::vector<std::size_t> order = tree_order();
  for (const std::size_t number : order) {
    const PhaseRow& row = rows_[number];
    PhaseReport& phase = report.rows.emplace_back();
    phase.name = row.name;
    if (row.parent) {
      phase.parent =
          static_cast<std::size_t>(std::ranges::find(order, *row.parent) - order.begin());
    }
    phase.depth = row.depth;
    phase.peak_memory_bytes = row.peak_memory_bytes;
    KnownSum<std::chrono::nanoseconds> cpu;
    std::vector<WindowSum> sums;  // of each domain
    for (const PhaseEnds& span : row.spans) {
      const Seconds begin = span.begin->at - run_begin;
      const Seconds end = span.end->at - run_begin;
      phase.spans.push_back({.begin = begin, .end = end});
      phase.time += end - begin;
      const bool is_cpu_known = span.begin->cpu && span.end->cpu;
      cpu.add(is_cpu_known ? std::optional(*span.end->cpu - *span.begin->cpu) : std::nullopt);
      std::vector<DomainFigure> domains = energy_between(*span.begin, *span.end);
      sums.resize(domains.size());
      for (std::size_t d = 0; d < domains.size(); ++d) sums[d].add(domains[d].figure);
      if (phase.domains.empty()) phase.domains = std::move(domains);
    }
    for (std::size_t d = 0; row.spans.size() > 1 && d < phase.domains.size(); ++d) {
      phase.domains[d].figure = sums[d].result();
    }
    phase.total = total_of(phase.domains, {});
    phase.cpu = cpu.value();
    if (!phase.cpu || !phase.peak_memory_bytes) {
      phase.unknown =
          no_processes.empty() ? "the memory was unknown in all of its samples" : no_processes;
    }
  }
  return report;
}

}  // namespace wattle::app
