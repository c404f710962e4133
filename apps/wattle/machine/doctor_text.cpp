#include "machine/doctor_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text/text.hpp"

namespace wattle::app {
namespace {

/// A line of the short text: something that is measured, or is not.
struct Finding {
  bool is_measured;
  std::string subject;
  std::string text{};
  std::string fix{};
};

std::string subjects_of(const SharedCause& cause) { return joined(cause.subjects, ", "); }

/// A command, or a remedy that is short enough to be read in passing.
std::string fix_of(const SensorRefusal& refusal, const Diagnosis& found) {
  constexpr std::size_t kShort = 60;
  const bool is_cpu = refusal.shows.has(DomainCategory::cpu);
  const bool is_gpu = refusal.shows.has(DomainCategory::gpu);
  const bool is_planned = (is_cpu && found.cpu_can_be_fixed) || (is_gpu && found.gpu_can_be_fixed);
  // Other refusals have causes that no command on this machine ends.
  const bool is_meant = !refusal.denied_path.empty() || refusal.scope == RefusalScope::interface;
  if (is_planned && is_meant) return fmt::format("wattle doctor --fix {}", is_cpu ? "cpu" : "gpu");
  return refusal.remedy.size() <= kShort ? refusal.remedy : "wattle doctor --verbose";
}

std::vector<Finding> lines_of(const Diagnosis& found) {
  std::vector<Finding> lines;
  const auto add_measured = [&](const char* subject, DomainKinds kinds) {
    std::string names = joined(names_of(found.readable, kinds), ", ");
    if (names.empty()) return;
    lines.push_back({.is_measured = true, .subject = subject, .text = std::move(names)});
  };
  add_measured("CPU energy", kProcessorKinds);
  add_measured("GPU energy", DomainKinds::of({DomainCategory::gpu}));
  add_measured("other energy", DomainKinds::of({DomainCategory::other}));
  for (const SharedCause& cause : found.causes) {
    if (is_of_counter(cause.refusal, found.readable)) {
      lines.push_back({.is_measured = true,
                       .subject = subjects_of(cause),
                       .text = "no counter; calculated from the power"});
      continue;
    }
    lines.push_back({.is_measured = false,
                     .subject = subjects_of(cause),
                     .text = cause.refusal.reason,
                     .fix = fix_of(cause.refusal, found)});
  }
  lines.push_back({.is_measured = true, .subject = "CPU time, memory, I/O of commands"});
  return lines;
}

std::string mark_of(const Finding& line, const TextStyle& style) {
  if (line.is_measured) return colored(style.unicode ? "\u2713" : "ok", Tint::good, style);
  return colored(style.unicode ? "\u2717" : "no", Tint::bad, style);
}

/// The remedy follows its cause in the same line if it fits, or else in the next.
std::string finding_table(const std::vector<Finding>& lines, const TextStyle& style) {
  constexpr std::size_t kReadable = 120;
  const std::size_t most = style.width == 0 ? kReadable : style.width;
  std::size_t subject = 0;
  std::size_t text = 0;
  std::size_t fix = 0;
  for (const Finding& line : lines) {
    if (line.text.empty()) continue;
    subject = std::max(subject, columns_of(line.subject));
    text = std::max(text, columns_of(line.text));
    fix = std::max(fix, columns_of(line.fix));
  }
  constexpr std::size_t kOthers = 2 + 2 + 2 + 2 + 5;  // the mark, gaps, "fix: "
  const bool beside = subject + text + fix + kOthers <= most;
  std::vector<Align> columns(beside ? 3 : 2, Align::left);
  TextTable table(columns, style, 0);
  std::string result;
  for (const Finding& line : lines) {
    const std::string mark = mark_of(line, style) + " ";
    if (line.text.empty()) {
      result = mark + line.subject + "\n";
      continue;
    }
    const std::string remedy = line.fix.empty() ? "" : "fix: " + line.fix;
    if (beside) {
      table.add({mark + line.subject, line.text, remedy});
    } else {
      table.add({mark + line.subject, line.text});
      if (!remedy.empty()) table.add({"", remedy});
    }
  }
  return table.text() + result;
}

std::string verdict(const SharedCause& cause, const std::vector<Domain>& readable) {
  const bool is_one = cause.subjects.size() == 1;
  if (cause.refusal.absent) return is_one ? "is not there" : "are not there";
  // They share the cause, and so the kind of what they are.
  if (is_of_counter(cause.refusal, readable)) return "has no counter: it is found from the power";
  return is_one ? "is not measured" : "are not measured";
}

constexpr std::size_t kCauseWidth = 10;

std::string labelled_cause(std::string_view label, const std::string& text) {
  return text.empty() ? "" : fmt::format("  {:<8}{}\n", label, text);
}

}  // namespace

std::vector<std::string> names_of(const std::vector<Domain>& domains, DomainKinds kinds) {
  std::vector<std::string> names;
  for (const Domain& domain : domains) {
    if (kinds.contains(domain.kind())) names.push_back(domain.name());
  }
  return names;
}

std::string short_text(const Diagnosis& found, const TextStyle& style) {
  std::string table = finding_table(lines_of(found), style);
  if (found.causes.empty()) return table;
  const std::string more = wrapped("proofs and risks: wattle doctor --verbose", style);
  return table + colored(more, Tint::dim, style) + "\n";
}

std::string verbose_text(const Diagnosis& found, const TextStyle& style) {
  std::string text =
      wrapped(found.readable.empty()
                  ? "no energy can be measured here; CPU time and memory can: wattle run, track\n"
                  : fmt::format("readable: {}\n", fmt::join(names_of(found.readable), ", ")),
              style);
  for (const SharedCause& cause : found.causes) {
    const SensorRefusal& refusal = cause.refusal;
    text += "\n" + wrapped(fmt::format("{} ({}) {}\n", subjects_of(cause), refusal.source,
                                       verdict(cause, found.readable)),
                           style);
    text +=
        wrapped(labelled_cause("reason", refusal.reason) + labelled_cause("proof", refusal.proof) +
                    labelled_cause("remedy", refusal.remedy) + labelled_cause("risk", refusal.risk),
                style, kCauseWidth);
  }
  return text;
}

}  // namespace wattle::app
