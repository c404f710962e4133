#include "sensors/refusals.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/log.hpp"

namespace wattle {
namespace {

/// For each domain the first refusal that has a remedy, or the first where none has.
std::map<Domain, const SensorRefusal*> most_helpful(const std::vector<SensorRefusal>& refused) {
  std::map<Domain, const SensorRefusal*> chosen;
  for (const SensorRefusal& refusal : refused) {
    if (!refusal.domain) continue;
    const SensorRefusal*& best = chosen.try_emplace(*refusal.domain, &refusal).first->second;
    if (best->remedy.empty() && !refusal.remedy.empty()) best = &refusal;
  }
  return chosen;
}

/// True if an interface that knows it shows the hardware that its users ask for. A counter of the
/// platform stands for no processor; in virtual machines it can be the only one, and never move.
bool is_hardware_domain(const Domain& domain) noexcept {
  return domain.category() != DomainCategory::platform;
}

/// True if `known` has all the domains that `hidden` may be one of.
bool shows_hidden(const std::set<Domain>& known, const HiddenDomains& hidden) {
  if (hidden.kinds.empty() || hidden.expected == 0) return false;
  return std::ranges::all_of(hidden.kinds, [&](DomainKind kind) {
    const auto count = std::ranges::count(known, kind, &Domain::kind);
    return static_cast<std::size_t>(count) >= hidden.expected;
  });
}

/// Nobody misses a daemon where processors can be read without it.
constexpr std::string_view kLastResort = "daemon";

}  // namespace

SensorRefusal refusal_of(const Domain& domain, std::string_view what, std::string reason,
                         std::string proof, std::string remedy) {
  SensorRefusal refused{
      .subject = what.empty() ? domain.name() : fmt::format("{} {}", domain.name(), what),
      .reason = std::move(reason),
      .proof = std::move(proof),
      .remedy = std::move(remedy)};
  if (what.empty()) refused.domain = domain;
  return refused;
}

std::vector<SensorRefusal> worth_reporting(std::vector<SensorRefusal> refused,
                                           const std::set<Domain>& read) {
  const std::map<Domain, const SensorRefusal*> chosen = most_helpful(refused);
  DomainKinds shown;      // by an interface that knows a domain
  DomainKinds mentioned;  // by anything but a spare way
  const auto note_shown = [&shown](const Domain& domain) {
    if (is_hardware_domain(domain)) shown.add({domain.kind()});
  };
  for (const Domain& domain : read) note_shown(domain);
  std::set<Domain> known = read;
  for (const auto& [domain, refusal] : chosen) {
    note_shown(domain);
    known.insert(domain);
  }
  mentioned = shown;
  for (const SensorRefusal& refusal : refused) {
    if (refusal.scope != RefusalScope::spare) mentioned.add(refusal.shows);
  }

  const bool reads_cpus = std::ranges::any_of(read, [](const Domain& domain) {
    return is_hardware_domain(domain) && domain.category() == DomainCategory::cpu;
  });
  std::vector<bool> matters;
  for (const SensorRefusal& refusal : refused) {
    if (refusal.source == kLastResort && reads_cpus) {
      matters.push_back(false);
    } else if (refusal.domain) {
      matters.push_back(!read.contains(*refusal.domain) && chosen.at(*refusal.domain) == &refusal);
    } else if (refusal.scope == RefusalScope::interface) {
      matters.push_back(!shows_hidden(known, refusal.hidden) && !shown.overlaps(refusal.shows));
    } else {
      const bool is_new = refusal.scope == RefusalScope::part || !mentioned.overlaps(refusal.shows);
      matters.push_back(is_new && !shows_hidden(known, refusal.hidden));
    }
  }
  std::vector<SensorRefusal> result;
  for (std::size_t i = 0; i < refused.size(); ++i) {
    if (matters[i]) result.push_back(std::move(refused[i]));
  }
  return result;
}

bool is_of_counter(const SensorRefusal& refusal, const std::vector<Domain>& measured) {
  return std::ranges::any_of(
      measured, [&](const Domain& domain) { return refusal.subject == domain.name() + " energy"; });
}

std::vector<SensorRefusal> take_absent(std::vector<SensorRefusal>& refused) {
  const auto first = std::stable_partition(
      refused.begin(), refused.end(), [](const SensorRefusal& refusal) { return !refusal.absent; });
  std::vector<SensorRefusal> absent(std::make_move_iterator(first),
                                    std::make_move_iterator(refused.end()));
  refused.erase(first, refused.end());
  return absent;
}

bool hides_gpus(const SensorRefusal& refusal) noexcept {
  return refusal.scope == RefusalScope::interface && refusal.shows.has(DomainCategory::gpu) &&
         !refusal.absent;
}

bool knows_all_gpus(const std::vector<SensorRefusal>& refused) noexcept {
  return std::ranges::none_of(refused, hides_gpus);
}

std::vector<SharedCause> by_cause(const std::vector<SensorRefusal>& refused) {
  const auto cause = [](const SensorRefusal& refusal) {
    return std::tie(refusal.source, refusal.reason, refusal.proof, refusal.remedy, refusal.risk);
  };
  std::vector<SharedCause> causes;
  for (const SensorRefusal& refusal : refused) {
    const auto known = std::ranges::find_if(
        causes, [&](const SharedCause& shared) { return cause(shared.refusal) == cause(refusal); });
    if (known == causes.end()) {
      causes.push_back({.refusal = refusal, .subjects = {refusal.subject}});
    } else {
      known->subjects.push_back(refusal.subject);
    }
  }
  return causes;
}

std::string cause_text(const SharedCause& cause) {
  const std::string& remedy = cause.refusal.remedy;
  return fmt::format("{}: {}{}{}", fmt::join(cause.subjects, ", "), cause.refusal.reason,
                     remedy.empty() ? "" : "\n  fix: ", remedy);
}

std::string_view why_no_sensor(std::string_view kind, bool has_cpu) noexcept {
  if (kind == "gpu") return "no GPU with its own power sensor was found";
  return kind == "dram" && has_cpu ? "this processor has no counter for its memory"
                                   : "no sensor was found";
}

std::vector<Refusal> missing_of(const std::vector<SensorRefusal>& refused) {
  std::vector<Refusal> missing;
  for (const SensorRefusal& refusal : refused) {
    if (refusal.absent) continue;
    missing.push_back({.subject = refusal.subject,
                       .reason = refusal.reason,
                       .remedy = refusal.remedy,
                       .source = refusal.source});
  }
  return missing;
}

void log_missing(std::string_view quantity, const std::vector<SensorRefusal>& refused) {
  static std::mutex mutex;
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): what was logged
  static auto& logged = *new std::set<std::string>;  // never destroyed: other threads may go on
  std::vector<SensorRefusal> missed;
  std::ranges::copy_if(refused, std::back_inserter(missed), [](const SensorRefusal& refusal) {
    const bool is_part = refusal.domain && counts_in_total(refusal.domain->kind());
    return !refusal.absent && (is_part || refusal.scope == RefusalScope::interface);
  });
  for (const SharedCause& cause : by_cause(missed)) {
    const std::string message =
        fmt::format("{} is measured without {}", quantity, cause_text(cause));
    {
      const std::scoped_lock lock(mutex);
      if (!logged.insert(message).second) continue;
    }
    log(message);
  }
}

}  // namespace wattle
