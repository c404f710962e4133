#include "api/share_routes.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text/text.hpp"
#include "wire/message_json.hpp"

namespace wattle::daemon {
namespace {

using wire::json_string;
using wire::json_string_or_null;

constexpr std::string_view kOther = "other";

/// The parts of a domain that are no row.
struct OtherKind {
  std::string_view name;
  std::string_view label;
  SharedAmount LedgerDomain::*amount;
};
constexpr std::array kOtherKinds = {
    OtherKind{"idle", "idle machine", &LedgerDomain::idle},
    OtherKind{"unexplained", "idle or not", &LedgerDomain::unexplained},
    OtherKind{kOther, "groups that have no row", &LedgerDomain::other},
    OtherKind{"rest", "interrupts, kernel threads, processes in no group", &LedgerDomain::rest},
    OtherKind{"undivided", "not divided", &LedgerDomain::undivided},
};

double joules_of_uj(std::uint64_t uj) { return static_cast<double>(uj) / 1e6; }

// --- JSON ---

struct JsonRow {
  std::string_view kind;
  std::string group{};
  std::string label{};
  SharedAmount amount{};
  bool has_power = true;
  std::string reason{};
  bool ended = false;
  bool has_range = false;                      ///< a group
  std::optional<std::uint64_t> start_ticks{};  ///< of a process
};

std::string json_of(const JsonRow& row, Seconds length) {
  const bool has_power = row.has_power && length > Seconds(0);
  const auto mean = [&](bool is_known, std::uint64_t uj) {
    return is_known ? fmt::format("{:.6g}", joules_of_uj(uj) / length.count())
                    : std::string("null");
  };
  const auto bound = [&](std::uint64_t uj) {
    return row.has_range ? fmt::format("{}", uj) : std::string("null");
  };
  const std::string start =
      row.start_ticks ? fmt::format(R"("start_ticks":{},)", *row.start_ticks) : std::string();
  return fmt::format(
      R"({{"kind":"{}","group":{},"label":{},{}"power_w":{},"uncertainty_w":{},"energy_uj":{},)"
      R"("low_uj":{},"high_uj":{},"reason":{},"ended":{}}})",
      row.kind, json_string(row.group), json_string(row.label), start,
      mean(has_power, row.amount.last_uj),
      mean(has_power && row.has_range, row.amount.last_uncertainty_uj()), row.amount.uj,
      bound(row.amount.range.low_uj), bound(row.amount.range.high_uj),
      json_string_or_null(row.reason), row.ended);
}

const PodName* pod_name_of(const SharedEnergy& shares, const CgroupGroup& group) {
  if (group.kind != CgroupKind::pod) return nullptr;
  const auto found = shares.pod_names().find(group.name);
  return found == shares.pod_names().end() ? nullptr : &found->second;
}

std::string label_of(const SharedEnergy& shares, const CgroupGroup& group) {
  if (const PodName* const pod = pod_name_of(shares, group)) {
    return fmt::format("{}/{}", pod->space, pod->name);
  }
  if (group.kind == CgroupKind::slurm_job) return "job " + group.name;
  if (group.kind == CgroupKind::user) return "user " + group.name;
  return group.name;
}

template <class Group>
constexpr std::string_view kNamesOf = "groups";
template <>
constexpr std::string_view kNamesOf<GpuProcess> = "processes";

constexpr std::string_view kNotKnownNow = "its energy was unknown in the last interval";

JsonRow row_of(const SharedEnergy& shares, const CgroupGroup& group) {
  return {.kind = name_of(group.kind), .group = group.name, .label = label_of(shares, group)};
}

JsonRow row_of(const SharedEnergy& /*shares*/, const GpuProcess& process) {
  return {.kind = "process",
          .group = fmt::format("{}", process.pid),
          .label = process.name,
          .start_ticks = process.start_ticks};
}

std::string_view label_in(const ShareLedger& /*ledger*/, const OtherKind& kind) {
  return kind.label;
}

std::string_view label_in(const ProcessLedger& /*ledger*/, const OtherKind& kind) {
  return kind.amount == &LedgerDomain::other ? "processes that have no row" : kind.label;
}

template <class Group>
std::vector<JsonRow> share_rows_of(const SharedEnergy& shares, const LedgerOf<Group>& ledger,
                                   std::size_t place) {
  const LedgerDomain& domain = ledger.domains()[place];
  const std::string unknown(domain.length > Seconds(0) ? std::string_view() : kNotKnownNow);
  std::vector<JsonRow> rows;
  for (const auto& [group, row] : ledger.rows()) {
    const SharedAmount amount = row.at(place);
    if (amount.uj == 0) continue;
    JsonRow shown = row_of(shares, group);
    shown.amount = amount;
    shown.has_power = !row.ended;
    shown.reason = row.ended ? "it has ended" : unknown;
    shown.ended = row.ended.has_value();
    shown.has_range = true;
    rows.push_back(std::move(shown));
  }
  for (const OtherKind& kind : kOtherKinds) {
    const SharedAmount amount = domain.*kind.amount;
    if (amount.uj == 0) continue;
    JsonRow row{.kind = kind.name, .label = std::string(label_in(ledger, kind)), .amount = amount};
    row.reason = unknown;
    if (kind.amount == &LedgerDomain::undivided && amount.last_uj > 0) {
      row.reason = domain.undivided_reason;
    }
    if (kind.amount == &LedgerDomain::unexplained)
      row.reason = shares.idle() ? shares.idle()->note : "";
    rows.push_back(std::move(row));
  }
  if (domain.ended_uj > 0) {
    rows.push_back({.kind = "ended",
                    .label = fmt::format("{} that have ended", kNamesOf<Group>),
                    .amount = {.uj = domain.ended_uj},
                    .has_power = false,
                    .reason = "they have ended",
                    .ended = true});
  }
  return rows;
}

template <class Group>
std::string domain_json(const SharedEnergy& shares, const LedgerOf<Group>& ledger,
                        std::size_t place) {
  const LedgerDomain& domain = ledger.domains()[place];
  const bool is_known = domain.length > Seconds(0);
  const std::string power =
      is_known
          ? fmt::format("{:.6g}", joules_of_uj(domain.measured.last_uj) / domain.length.count())
          : "null";
  return fmt::format(
      R"({{"domain":{},"covers":[{}],"energy_uj":{},"power_w":{},"reason":{},"rows":[{}]}})",
      json_string(domain.name), joined(domain.covers, ",", json_string), domain.measured.uj, power,
      json_string_or_null(is_known ? std::string_view() : kNotKnownNow),
      joined(share_rows_of(shares, ledger, place), ",",
             [&](const JsonRow& row) { return json_of(row, domain.length); }));
}

template <class Group>
std::string domains_json(const SharedEnergy& shares, const LedgerOf<Group>& ledger) {
  std::string domains;
  for (std::size_t i = 0; i < ledger.domains().size(); ++i) {
    domains += (i > 0 ? "," : "") + domain_json(shares, ledger, i);
  }
  return "[" + domains + "]";
}

std::string idle_json(const SharedEnergy& shares) {
  const auto& idle = shares.idle();
  if (!idle) return "null";
  return fmt::format(R"({{"source":"{}","power_w":{:.6g},"note":{}}})",
                     idle->is_measured ? "baseline" : "lowest", idle->power.si(),
                     json_string(idle->note));
}

// --- Scrapes ---

std::vector<Label> share_labels_of(const LedgerDomain& domain, std::string_view kind,
                                   const std::string& group) {
  std::vector<Label> labels = {{"domain", domain.name}, {"group_kind", std::string(kind)}};
  if (!group.empty()) labels.emplace_back("group", group);
  return labels;
}

/// Without the times at which they were 0, which would be as many series again.
MetricFamily energies_of(const SharedEnergy& shares) {
  MetricFamily family{.name = "wattle_share_energy_joules",
                      .help = "Share of a group of processes in measured energy; not measured.",
                      .unit = "joules",
                      .kind = MetricKind::counter};
  const ShareLedger& ledger = shares.ledger();
  for (std::size_t place = 0; place < ledger.domains().size(); ++place) {
    const LedgerDomain& domain = ledger.domains()[place];
    for (const auto& [group, row] : ledger.rows()) {
      const std::uint64_t uj = row.at(place).uj;
      if (uj == 0) continue;
      family.samples.push_back(
          {share_labels_of(domain, name_of(group.kind), group.name), joules_of_uj(uj)});
    }
    for (const OtherKind& kind : kOtherKinds) {
      family.samples.push_back(
          {share_labels_of(domain, kind.name, ""), joules_of_uj((domain.*kind.amount).uj)});
    }
  }
  return family;
}

std::vector<Label> process_labels_of(const LedgerDomain& domain, std::string_view kind) {
  return {{"domain", domain.name}, {"kind", std::string(kind)}};
}

/// The energies of processes on GPUs, and of everything else in these GPUs; with their rows the
/// number of series is bounded.
void add_process_families(const SharedEnergy& shares, const ProcessLedger& ledger,
                          std::vector<MetricFamily>& families) {
  MetricFamily energies{.name = "wattle_process_gpu_energy_joules",
                        .help = "Share of a process in the energy of a GPU; not measured.",
                        .unit = "joules",
                        .kind = MetricKind::counter};
  MetricFamily ended{.name = "wattle_process_gpu_ended_energy_joules",
                     .help = "GPU energy of processes that ended and have no counter any more.",
                     .unit = "joules",
                     .kind = MetricKind::counter};
  for (std::size_t place = 0; place < ledger.domains().size(); ++place) {
    const LedgerDomain& domain = ledger.domains()[place];
    for (const auto& [process, row] : ledger.rows()) {
      const std::uint64_t uj = row.at(place).uj;
      if (uj == 0) continue;
      std::vector<Label> labels = process_labels_of(domain, "process");
      labels.emplace_back("pid", fmt::format("{}", process.pid));
      labels.emplace_back("start_ticks", fmt::format("{}", process.start_ticks));
      labels.emplace_back("comm", process.name);
      energies.samples.push_back({std::move(labels), joules_of_uj(uj)});
    }
    for (const OtherKind& kind : kOtherKinds) {
      if (kind.amount == &LedgerDomain::rest || kind.amount == &LedgerDomain::unexplained) {
        continue;  // of CPUs
      }
      energies.samples.push_back(
          {process_labels_of(domain, kind.name), joules_of_uj((domain.*kind.amount).uj)});
    }
    ended.samples.push_back(
        {{{"domain", domain.name}}, joules_of_uj(domain.ended_uj), to_unix(shares.since())});
  }
  families.push_back(std::move(energies));
  families.push_back(std::move(ended));
}

/// Where nothing was divided, a share has none.
MetricFamily uncertainties_of(const SharedEnergy& shares) {
  MetricFamily family{.name = "wattle_share_uncertainty_joules",
                      .help = "How far the share of a group may be off, by how it is divided.",
                      .unit = "joules",
                      .kind = MetricKind::counter};
  const ShareLedger& ledger = shares.ledger();
  for (std::size_t place = 0; place < ledger.domains().size(); ++place) {
    for (const auto& [group, row] : ledger.rows()) {
      const std::uint64_t uj = row.at(place).uncertainty_uj();
      if (uj == 0) continue;
      family.samples.push_back(
          {share_labels_of(ledger.domains()[place], name_of(group.kind), group.name),
           joules_of_uj(uj)});
    }
  }
  return family;
}

/// The totals of each domain.
template <class Value>
MetricFamily totals_of(const SharedEnergy& shares, MetricFamily family, Value value) {
  for (const LedgerDomain& domain : shares.ledger().domains()) {
    family.samples.push_back(
        {{{"domain", domain.name}}, joules_of_uj(value(domain)), to_unix(shares.since())});
  }
  return family;
}

MetricFamily named_pods_of(const SharedEnergy& shares) {
  MetricFamily family{.name = "wattle_share_group",
                      .help = "Names of pods: join on group_kind and group.",
                      .kind = MetricKind::info};
  for (const auto& [group, row] : shares.ledger().rows()) {
    const PodName* const pod = pod_name_of(shares, group);
    if (pod == nullptr) continue;
    family.samples.push_back({{{"group_kind", std::string(name_of(group.kind))},
                               {"group", group.name},
                               {"namespace", pod->space},
                               {"pod", pod->name}}});
  }
  return family;
}

MetricFamily undivided_reasons_of(const SharedEnergy& shares) {
  MetricFamily family{.name = "wattle_share_undivided",
                      .help = "Why the energy of the last interval is not divided.",
                      .kind = MetricKind::info};
  for (const LedgerDomain& domain : shares.ledger().domains()) {
    if (domain.length <= Seconds(0) || domain.undivided_reason.empty()) continue;
    family.samples.push_back(
        {{{"domain", domain.name}, {"reason", printable(domain.undivided_reason)}}});
  }
  return family;
}

void show_shares(Service& service, const Request& request,
                 const std::shared_ptr<HttpExchange>& exchange) {
  const SharedEnergy* const shares = service.shares();
  if (shares == nullptr) {
    return exchange->answer(error_response(
        404, "This server divides no energy among groups: start wattled with --enable shares."));
  }
  if (!may_see_shares(*shares, request)) {
    return exchange->answer(error_response(
        403, "Shares of exact energies need a token, or the Unix socket of this server."));
  }
  exchange->answer({.body = shares_json(*shares)});
}

constexpr std::array kShareRoutes = {
    Route{"GET", "/api/v1/shares", RouteAccess::all_reading_scopes, show_shares},
};

}  // namespace

std::span<const Route> share_routes() noexcept { return kShareRoutes; }

bool may_see_shares(const SharedEnergy& shares, const Request& request) noexcept {
  return !request.is_coarse || shares.is_public();
}

void add_share_families(const SharedEnergy& shares, std::vector<MetricFamily>& families) {
  families.push_back(energies_of(shares));
  families.push_back(uncertainties_of(shares));
  families.push_back(totals_of(shares,
                               {.name = "wattle_share_ended_energy_joules",
                                .help = "Energy of groups that ended and have no counter any more.",
                                .unit = "joules",
                                .kind = MetricKind::counter},
                               [](const LedgerDomain& domain) { return domain.ended_uj; }));
  families.push_back(
      totals_of(shares,
                {.name = "wattle_share_measured_joules",
                 .help = "Measured energy that is divided: all shares, and those that ended.",
                 .unit = "joules",
                 .kind = MetricKind::counter},
                [](const LedgerDomain& domain) { return domain.measured.uj; }));
  families.push_back(named_pods_of(shares));
  families.push_back(undivided_reasons_of(shares));
  if (const auto& idle = shares.idle()) {
    families.push_back(
        {.name = "wattle_share_idle_power_watts",
         .help = "Idle power of CPUs and their memory: by a baseline, or at most.",
         .unit = "watts",
         .samples = {{{{"source", idle->is_measured ? "baseline" : "lowest"}}, idle->power.si()}}});
  }
  const ShareLedger& ledger = shares.ledger();
  const auto count = [](std::string state, std::size_t number) {
    return MetricSample{{{"state", std::move(state)}}, static_cast<double>(number)};
  };
  families.push_back(
      {.name = "wattle_share_groups",
       .help = "Groups with counters of their own, and those that have none.",
       .samples = {count("shown", ledger.rows().size()), count("hidden", ledger.hidden())}});
  if (shares.processes() != nullptr) {
    add_process_families(shares, *shares.processes(), families);
  }
}

std::string shares_json(const SharedEnergy& shares) {
  const std::string processes =
      shares.processes() != nullptr ? domains_json(shares, *shares.processes()) : "null";
  const auto& at = shares.divided_at();
  return fmt::format(
      R"({{"schema":"wattled.shares/1","since_unix_s":{:.3f},"divided_unix_s":{},"interval_s":{},)"
      R"("idle":{},"domains":{},"gpu_processes":{},"notes":[{}]}})",
      to_unix(shares.since()), at ? fmt::format("{:.3f}", to_unix(*at)) : "null",
      shares.options().interval.count(), idle_json(shares), domains_json(shares, shares.ledger()),
      processes, joined(shares.notes(), ",", json_string));
}

}  // namespace wattle::daemon
