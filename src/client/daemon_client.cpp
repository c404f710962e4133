#include "wattle/daemon_client.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <utility>

#include "base/text/text.hpp"
#include "client/connection_words.hpp"
#include "client/questions.hpp"
#include "wire/message_json.hpp"

namespace wattle {
namespace {

using client::QueryText;
using client::Questions;
using wire::Discovery;

constexpr std::string_view kReadGpu = "gpu-read";
constexpr std::string_view kReadCpu = "cpu-read";
constexpr std::string_view kControlGpu = "gpu-control";

bool contains(const std::vector<std::string>& texts, std::string_view text) {
  return std::ranges::find(texts, text) != texts.end();
}

/// "0, 1", or "none".
template <class Devices>
std::string list_of(const Devices& devices) {
  if (devices.empty()) return "none";
  return joined(devices, ", ", [](const auto& device) { return std::to_string(device.id); });
}

/// Adds to `missing` which of `ids` are not served.
template <class Devices>
void find_missing(const Devices& devices, const std::vector<std::uint32_t>& ids,
                  std::string_view kind, std::vector<std::string>& missing) {
  for (const std::uint32_t id : ids) {
    if (std::ranges::any_of(devices, [id](const auto& device) { return device.id == id; })) {
      continue;
    }
    missing.push_back("it has no " + std::string(kind) + " " + std::to_string(id) +
                      " (available: " + list_of(devices) + ")");
  }
}

double to_seconds(wire::UnixMs ms) noexcept { return static_cast<double>(ms) / 1e3; }

Watts of_mw(std::uint64_t mw) noexcept { return Watts(static_cast<double>(mw) / 1e3); }

/// The values of the devices, each converted by `convert`.
template <class Value, class Convert>
auto converted(const std::map<std::uint32_t, Value>& values, Convert convert) {
  std::map<std::uint32_t, std::invoke_result_t<Convert, const Value&>> all;
  for (const auto& [id, value] : values) all.emplace(id, convert(value));
  return all;
}

std::optional<Joules> of_uj(const std::optional<std::uint64_t>& uj) noexcept {
  return uj ? std::optional(Joules(static_cast<double>(*uj) / 1e6)) : std::nullopt;
}

ServedCpuEnergy served(const wire::CpuEnergy& energy) {
  ServedCpuEnergy served{.cpu = of_uj(energy.cpu_uj), .dram = of_uj(energy.dram_uj)};
  if (energy.since_ms) served.since_unix_s = to_seconds(*energy.since_ms);
  if (energy.timestamp_ms) served.read_unix_s = to_seconds(*energy.timestamp_ms);
  return served;
}

}  // namespace

class DaemonClient::Impl {
 public:
  Impl(Server server, std::chrono::milliseconds timeout) : questions(std::move(server), timeout) {
    const Discovery found = discover();
    for (const wire::GpuEntry& gpu : found.gpus) {
      gpus.push_back(
          {gpu.id, gpu.name, gpu.pci_address, gpu.cumulative_energy_available, gpu.domain});
    }
    for (const wire::CpuEntry& cpu : found.cpus) {
      cpus.push_back({cpu.id, cpu.dram_available, cpu.domain});
    }
    groups = found.enabled_api_groups;
    granted = found.granted_scopes;
    if (found.cpu_limit) cpu_limit = client::to_string(*found.cpu_limit);
    auth_required = found.auth_required;
    if (auth_required) authenticate();
  }

  /// True if the daemon has the group enabled, and permits it to us.
  [[nodiscard]] bool can(std::string_view scope) const {
    return contains(groups, scope) && (!auth_required || contains(scopes, scope)) &&
           (!granted || contains(*granted, scope));
  }

  /// Why `scope` cannot be used; empty: it can.
  [[nodiscard]] std::string obstacle(std::string_view scope) const {
    if (!contains(groups, scope)) {
      return "its group " + std::string(scope) + " is off" +
             (scope == kControlGpu ? ": start it with --enable gpu-read,cpu-read,gpu-control" : "");
    }
    if (can(scope)) return {};
    if (!auth_required) {
      return "it permits " + std::string(scope) + " through its Unix socket or with a token alone";
    }
    return "the token lacks the scope " + std::string(scope);
  }

  template <class Value>
  [[nodiscard]] Value read_gpus(std::string_view operation, std::string_view path, const Ids& ids,
                                wire::Decoded<Value> (*decode)(std::string_view)) {
    return about(gpus, ids, "GPU",
                 [&] { return questions.get(operation, path, QueryText().gpus(ids), decode); });
  }

  template <class Value>
  [[nodiscard]] Value read_cpus(std::string_view operation, std::string_view path, const Ids& ids,
                                QueryText query, wire::Decoded<Value> (*decode)(std::string_view)) {
    query.cpus(ids);
    return about(cpus, ids, "CPU", [&] { return questions.get(operation, path, query, decode); });
  }

  void set_gpus(std::string_view operation, std::string_view path, const Ids& ids, QueryText query,
                bool block) {
    if (ids.empty()) {
      throw InvalidArgument("cannot " + std::string(operation) + ": no GPU is named");
    }
    query.gpus(ids).flag("block", block);
    about(gpus, ids, "GPU", [&] { questions.post(operation, path, query); });
  }

  Questions questions;
  std::vector<ServedGpu> gpus;
  std::vector<ServedCpu> cpus;
  std::vector<std::string> groups;
  std::vector<std::string> scopes;
  std::optional<std::vector<std::string>> granted;  ///< absent: unknown
  std::string cpu_limit;
  std::string auth_error;
  bool auth_required = false;

 private:
  /// A server with another answer is not a daemon.
  [[nodiscard]] Discovery discover() {
    try {
      return questions.get("find what is served", "/discover", {}, wire::decode_discovery);
    } catch (const ConnectionError&) {
      throw;
    } catch (const Error& error) {
      throw ConnectionError(error.what());
    }
  }

  /// The result of `ask`. If the daemon refuses it because a device is missing, the error names
  /// that device. Checked afterwards, since a daemon may have new devices.
  template <class Devices, class Ask>
  std::invoke_result_t<Ask> about(const Devices& devices, const Ids& ids, std::string_view kind,
                                  Ask ask) {
    try {
      return ask();
    } catch (const client::BadRequest& error) {
      std::vector<std::string> missing;
      find_missing(devices, ids, kind, missing);
      if (missing.empty()) throw Error(error.what());
      throw NoSuchDevice(std::string(error.what()) + "; " + missing.front());
    }
  }

  /// A daemon that refuses the token still answers /discover: no error, but kept for later
  /// messages.
  void authenticate() {
    if (questions.server().token.empty()) {
      auth_error = questions.name() + " requires a token";
      return;
    }
    try {
      scopes =
          questions.get("find what the token permits", "/auth/whoami", {}, wire::decode_identity)
              .scopes;
    } catch (const Error& error) {
      auth_error = error.what();
    }
  }
};

namespace {

/// A member of the implementation; an empty value for a moved-from client.
template <class Impl, class Value>
const Value& kept_in(const std::unique_ptr<Impl>& impl, Value Impl::*member) noexcept {
  static const Value none{};
  return impl ? impl.get()->*member : none;
}

}  // namespace

DaemonClient::DaemonClient(Server server, std::chrono::milliseconds timeout)
    : impl_(std::make_unique<Impl>(std::move(server), timeout)) {}
DaemonClient::DaemonClient() : DaemonClient(Server::from_env()) {}
DaemonClient::DaemonClient(DaemonClient&&) noexcept = default;
DaemonClient& DaemonClient::operator=(DaemonClient&&) noexcept = default;
DaemonClient::~DaemonClient() = default;

DaemonClient::Impl& DaemonClient::impl() const {
  if (!impl_) throw InvalidArgument("cannot use a client that was moved: use the one it became");
  return *impl_;
}

const Server& DaemonClient::server() const noexcept {
  static const Server none;
  return impl_ ? impl_->questions.server() : none;
}
const std::vector<ServedGpu>& DaemonClient::gpus() const noexcept {
  return kept_in(impl_, &Impl::gpus);
}
const std::vector<ServedCpu>& DaemonClient::cpus() const noexcept {
  return kept_in(impl_, &Impl::cpus);
}
bool DaemonClient::auth_required() const noexcept { return kept_in(impl_, &Impl::auth_required); }
const std::string& DaemonClient::auth_error() const noexcept {
  return kept_in(impl_, &Impl::auth_error);
}
const std::vector<std::string>& DaemonClient::granted_scopes() const noexcept {
  return kept_in(impl_, &Impl::scopes);
}
const std::string& DaemonClient::cpu_limit() const noexcept {
  return kept_in(impl_, &Impl::cpu_limit);
}
bool DaemonClient::can_read_gpu() const noexcept { return impl_ && impl_->can(kReadGpu); }
bool DaemonClient::can_read_cpu() const noexcept { return impl_ && impl_->can(kReadCpu); }
bool DaemonClient::can_control_gpu() const noexcept { return impl_ && impl_->can(kControlGpu); }

void DaemonClient::require(const Capabilities& needed) const {
  if (!impl().auth_error.empty()) throw AuthError(impl().auth_error);
  std::vector<std::string> missing;
  const std::array<std::pair<bool, std::string_view>, 3> scopes = {
      {{needed.read_gpu, kReadGpu},
       {needed.control_gpu, kControlGpu},
       {needed.read_cpu, kReadCpu}}};
  for (const auto& [is_needed, scope] : scopes) {
    if (!is_needed) continue;
    if (std::string obstacle = impl().obstacle(scope); !obstacle.empty()) {
      missing.push_back(std::move(obstacle));
    }
  }
  find_missing(impl().gpus, needed.gpu_ids, "GPU", missing);
  find_missing(impl().cpus, needed.cpu_ids, "CPU", missing);
  if (missing.empty()) return;
  throw CapabilityError(fmt::format("{} does not offer what is needed: {}", impl().questions.name(),
                                    fmt::join(missing, "; ")));
}

std::map<std::uint32_t, Joules> DaemonClient::gpu_energy(const Ids& ids) {
  return converted(impl().read_gpus("read the energy of GPUs", "/gpu/get_cumulative_energy", ids,
                                    wire::decode_gpu_energies),
                   [](std::uint64_t mj) { return Joules(static_cast<double>(mj) / 1e3); });
}

GpuPowers DaemonClient::gpu_power(const Ids& ids) {
  const auto powers =
      impl().read_gpus("read the power of GPUs", "/gpu/get_power", ids, wire::decode_gpu_powers);
  return {.unix_s = to_seconds(powers.timestamp_ms), .power = converted(powers.powers, of_mw)};
}

std::map<std::uint32_t, Watts> DaemonClient::power_limit(const Ids& ids) {
  return converted(impl().read_gpus("read the power limits of GPUs", "/gpu/get_power_limit", ids,
                                    wire::decode_power_limits),
                   of_mw);
}

std::map<std::uint32_t, std::pair<Watts, Watts>> DaemonClient::power_limit_range(const Ids& ids) {
  return converted(
      impl().read_gpus("read the range of power limits", "/gpu/get_power_limit_constraints", ids,
                       wire::decode_power_limit_ranges),
      [](const wire::PowerLimitRange& range) {
        return std::pair(of_mw(range.min_mw), of_mw(range.max_mw));
      });
}

std::map<std::uint32_t, bool> DaemonClient::persistence_mode(const Ids& ids) {
  return impl().read_gpus("read the persistence mode of GPUs", "/gpu/get_persistence_mode", ids,
                          wire::decode_persistence_modes);
}

std::map<std::uint32_t, ServedCpuEnergy> DaemonClient::cpu_energy(const Ids& ids, bool cpu,
                                                                  bool dram) {
  return converted(
      impl().read_cpus("read the energy of CPUs", "/cpu/get_cumulative_energy", ids,
                       QueryText().flag("cpu", cpu).flag("dram", dram), wire::decode_cpu_energies),
      served);
}

CpuPowers DaemonClient::cpu_power(const Ids& ids) {
  const auto powers = impl().read_cpus("read the power of CPUs", "/cpu/get_power", ids, {},
                                       wire::decode_cpu_powers);
  CpuPowers all{.unix_s = to_seconds(powers.timestamp_ms)};
  for (const auto& [id, power] : powers.powers) {
    all.powers[id].cpu = of_mw(power.cpu_mw);
    if (power.dram_mw) all.powers[id].dram = of_mw(*power.dram_mw);
  }
  return all;
}

double DaemonClient::time() {
  return to_seconds(impl().questions.get("read its clock", "/time", {}, wire::decode_time));
}

void DaemonClient::set_power_limit(const Ids& ids, Watts limit, bool block) {
  constexpr double kMostW = 4e6;  // the protocol counts milliwatts in 32 bits
  const bool is_power = limit.si() >= 0.0 && limit.si() <= kMostW;  // false for NaN
  if (!is_power) {
    throw InvalidArgument("cannot set the power limit: it must be from 0 to 4 MW");
  }
  const auto limit_mw = static_cast<std::uint32_t>(std::llround(limit.si() * 1e3));
  impl().set_gpus("set the power limit", "/gpu/set_power_limit", ids,
                  QueryText().number("power_limit_mw", limit_mw), block);
}

void DaemonClient::set_persistence_mode(const Ids& ids, bool enabled, bool block) {
  impl().set_gpus("set the persistence mode", "/gpu/set_persistence_mode", ids,
                  QueryText().flag("enabled", enabled), block);
}

void DaemonClient::set_gpu_locked_clocks(const Ids& ids, std::uint32_t min_mhz,
                                         std::uint32_t max_mhz, bool block) {
  impl().set_gpus("lock the GPU clocks", "/gpu/set_gpu_locked_clocks", ids,
                  QueryText().number("min_clock_mhz", min_mhz).number("max_clock_mhz", max_mhz),
                  block);
}

void DaemonClient::reset_gpu_locked_clocks(const Ids& ids, bool block) {
  impl().set_gpus("unlock the GPU clocks", "/gpu/reset_gpu_locked_clocks", ids, {}, block);
}

void DaemonClient::set_memory_locked_clocks(const Ids& ids, std::uint32_t min_mhz,
                                            std::uint32_t max_mhz, bool block) {
  impl().set_gpus("lock the memory clocks", "/gpu/set_mem_locked_clocks", ids,
                  QueryText().number("min_clock_mhz", min_mhz).number("max_clock_mhz", max_mhz),
                  block);
}

void DaemonClient::reset_memory_locked_clocks(const Ids& ids, bool block) {
  impl().set_gpus("unlock the memory clocks", "/gpu/reset_mem_locked_clocks", ids, {}, block);
}

void DaemonClient::reset_locked_clocks(const Ids& ids, bool block) {
  impl().set_gpus("unlock all clocks", "/gpu/reset_locked_clocks", ids, {}, block);
}

}  // namespace wattle
