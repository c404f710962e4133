#include "serve/otlp_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/environment.hpp"
#include "base/files/state_folder.hpp"
#include "base/text/option_words.hpp"
#include "base/text/parse.hpp"
#include "serve/option_values.hpp"

namespace wattle::daemon {
namespace {

constexpr std::uint32_t kLongestOtlpInterval = 3600;
constexpr std::uint32_t kMostSpoolMib = std::uint32_t{1} << 20U;

std::uint32_t otlp_number(const char* option, const std::string& text, std::uint32_t most) {
  const auto number = parse_unsigned<std::uint32_t>(text);
  if (!number || *number < 1 || *number > most) {
    refuse_value(option, fmt::format("a whole number from 1 to {}", most), text);
  }
  return *number;
}

}  // namespace

void add_otlp_options(CLI::App& serve, RawOtlpOptions& raw) {
  const auto refuse_empty = [](const std::string& given) {
    return given.empty() ? std::string("is empty") : std::string();
  };
  const CLI::Validator is_given(refuse_empty, "", "");
  serve
      .add_option("--otlp", raw.url,
                  "Push metrics, and spans of units of work, to this OpenTelemetry collector (OTLP "
                  "over HTTP, JSON): http://HOST:4318")
      ->type_name("URL")
      ->check(is_given);
  serve.add_option("--otlp-interval", raw.interval, "How often metrics are pushed, 1 to 3600")
      ->type_name("SECONDS");
  serve
      .add_option("--otlp-spool", raw.spool,
                  "Keep what the collector has not taken in this folder, so that it outlives the "
                  "daemon (default: in memory)")
      ->type_name("DIR")
      ->check(is_given);
  serve
      .add_option("--otlp-spool-size", raw.spool_mib,
                  "Most that --otlp-spool takes, in MiB; the oldest is dropped")
      ->type_name("MIB");
}

std::optional<TelemetryOptions> checked_otlp(const RawOtlpOptions& raw) {
  if (raw.url.empty()) return std::nullopt;
  return TelemetryOptions{
      .target = otlp::make_target(raw.url, environment_variable),
      .resource = otlp::make_resource("wattled", this_host(), environment_variable),
      .interval =
          std::chrono::seconds(otlp_number("--otlp-interval", raw.interval, kLongestOtlpInterval)),
      .spool = raw.spool,
      .spool_mib = otlp_number("--otlp-spool-size", raw.spool_mib, kMostSpoolMib)};
}

}  // namespace wattle::daemon
