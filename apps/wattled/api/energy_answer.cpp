#include "api/energy_answer.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "api/public_cpu.hpp"
#include "api/unix_window.hpp"
#include "base/text/quantity.hpp"
#include "base/text/text.hpp"
#include "http/target.hpp"
#include "sampling/energy_fields.hpp"
#include "wattle/clock.hpp"

namespace wattle::daemon {
namespace {

std::string_view reason_of(const EnergyFigure& figure) noexcept {
  if (figure.flags.has(Flag::lost)) return "its device was gone";
  if (figure.flags.has(Flag::stuck)) return kCounterStuck;
  if (figure.flags.has(Flag::reset)) return "its counter restarted";
  if (figure.flags.has(Flag::implausible)) return "its counter showed an impossible value";
  return "it was not read at the ends of this window, or not within it";
}

/// `hides_common`: it says by how much the power changed, which rounded energies do not.
std::string json_of(const DomainFigure& energy, Flags more, bool hides_common) {
  const EnergyFigure& figure = energy.figure;
  Flags all = figure.flags;
  all |= more;
  const std::string value =
      figure.energy
          ? fmt::format(
                R"("energy_j":{},"uncertainty_j":{},"common_j":{})", figure.energy->si(),
                with_two_digits(figure.uncertainty).si(),
                hides_common ? "null" : fmt::format("{}", with_two_digits(figure.common).si()))
          : fmt::format(R"("energy_j":null,"uncertainty_j":null,"common_j":null,"reason":"{}")",
                        reason_of(figure));
  return fmt::format(R"({{"domain":"{}",{},"unknown_s":{},"method":"{}","flags":{}}})",
                     energy.domain.name(), value, figure.unknown.count(), to_string(figure.method),
                     json_of(all).dump());
}

/// The part of a window of Unix time that this process never saw: the wall clock was set forward
/// over it, or the machine slept.
Seconds unseen_part(const UnixWindow& window, TimePoint begin, TimePoint end) noexcept {
  constexpr Seconds kClockError{0.001};
  const Seconds unseen = Seconds(window.to - window.from) - Seconds(end - begin);
  return unseen > kClockError ? unseen : Seconds(0);
}

}  // namespace

Response energy_answer(EnergyHistory* history, std::string_view query,
                       std::chrono::milliseconds public_period) {
  if (history == nullptr) {
    return error_response(
        404, "This server keeps no energy history: start wattled with --history SECONDS.");
  }
  UnixWindow window = window_in(UrlQuery::parse(query, {"from", "to", "max_age"}));
  const bool is_coarse = public_period.count() > 0;
  if (is_coarse) window = rounded_down(window, public_period);
  const TimePoint begin = from_unix(window.from);
  const TimePoint end = from_unix(window.to);
  Flags flags;
  const Seconds unseen = unseen_part(window, begin, end);
  if (unseen > Seconds(0)) flags.set(Flag::gap);
  if (unseen > Seconds(0) || wall_clock_stepped(begin, end)) flags.set(Flag::clock_stepped);
  const Joules quantum(static_cast<double>(public_quantum_uj(public_period)) / 1e6);
  std::string domains;
  for (DomainFigure& energy :
       is_coarse ? history->coarse_energies(begin, end, quantum) : history->energies(begin, end)) {
    energy.figure.unknown += unseen;
    const bool is_rounded = is_coarse && energy.domain.category() != DomainCategory::gpu;
    domains += (domains.empty() ? "" : ",") + json_of(energy, flags, is_rounded);
  }
  return {.body = fmt::format(R"({{"schema":"wattled.energy/1","from":{},"to":{},"domains":[{}]}})",
                              window.from, window.to, domains)};
}

}  // namespace wattle::daemon
