#include "energy_answer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>

#include "base/parse.hpp"
#include "base/quantity.hpp"
#include "target.hpp"
#include "wattle/clock.hpp"

namespace wattle::daemon {
namespace {

struct UnixWindow {
  double from = 0.0;
  double to = 0.0;
};

/// Unix seconds of which neither clock knows any more: the year 5138.
constexpr double kLatest = 1e11;

UnixWindow window_of(std::string_view text) {
  const UrlQuery query = UrlQuery::parse(text, {"from", "to"});
  const auto seconds = [&](std::string_view name) {
    const auto value = query.find(name);
    const auto number = value ? parse_double(*value) : std::nullopt;
    return number && *number >= 0.0 && *number <= kLatest ? number : std::nullopt;
  };
  const auto from = seconds("from");
  const auto to = seconds("to");
  if (!from || !to) {
    throw QueryFault(
        "Give the start and the end of the window in Unix seconds: "
        "?from=1762000000&to=1762000060.5",
        QueryFault::Form::json);
  }
  if (*from >= *to) throw QueryFault("`from` must lie before `to`.", QueryFault::Form::json);
  return {.from = *from, .to = *to};
}

std::string_view reason_of(const EnergyFigure& figure) noexcept {
  if (figure.flags.has(Flag::lost)) return "its device was gone";
  if (figure.flags.has(Flag::stuck)) return kCounterStuck;
  if (figure.flags.has(Flag::reset)) return "its counter restarted";
  if (figure.flags.has(Flag::implausible)) return "its counter showed an impossible value";
  return "it was not read at the ends of this window, or not within it";
}

std::string json_of(const EnergyHistory::Energy& energy, Flags more) {
  const EnergyFigure& figure = energy.figure;
  std::string flags;
  Flags all = figure.flags;
  all |= more;
  all.each([&](std::string_view name) {
    flags += fmt::format(R"({}"{}")", flags.empty() ? "" : ",", name);
  });
  const std::string value =
      figure.energy
          ? fmt::format(R"("energy_j":{},"uncertainty_j":{})", figure.energy->si(),
                        with_two_digits(figure.uncertainty).si())
          : fmt::format(R"("energy_j":null,"uncertainty_j":null,"reason":"{}")", reason_of(figure));
  return fmt::format(R"({{"domain":"{}",{},"unknown_s":{},"method":"{}","flags":[{}]}})",
                     energy.domain.name(), value, figure.unknown.count(), to_string(figure.method),
                     flags);
}

}  // namespace

Response energy_answer(EnergyHistory* history, std::string_view query, bool is_coarse) {
  if (history == nullptr) {
    return error_response(
        404, "This server keeps no energy history: start wattled with --history SECONDS.");
  }
  UnixWindow window = window_of(query);
  if (is_coarse) window = {.from = std::floor(window.from), .to = std::floor(window.to)};
  const TimePoint begin = from_unix(window.from);
  const TimePoint end = from_unix(window.to);
  Flags flags;
  if (wall_clock_stepped(begin, end)) flags.set(Flag::clock_stepped);
  std::string domains;
  for (const EnergyHistory::Energy& energy :
       is_coarse ? history->coarse_energies(begin, end) : history->energies(begin, end)) {
    domains += (domains.empty() ? "" : ",") + json_of(energy, flags);
  }
  return {.body = fmt::format(R"({{"schema":"wattled.energy/1","from":{},"to":{},"domains":[{}]}})",
                              window.from, window.to, domains)};
}

}  // namespace wattle::daemon
