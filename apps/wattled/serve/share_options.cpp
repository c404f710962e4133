#include "serve/share_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>

#include "base/text/option_words.hpp"
#include "base/text/parse.hpp"
#include "serve/option_values.hpp"

namespace wattle::daemon {
namespace {

/// More rows would make a scrape long; `other` has the rest.
constexpr std::uint32_t kMostRows = 2000;
constexpr std::uint32_t kLongestInterval = 60;

std::uint32_t number_in(const char* option, const std::string& text, std::uint32_t most) {
  const auto number = parse_unsigned<std::uint32_t>(text);
  if (!number || *number < 1 || *number > most) {
    refuse_value(option, fmt::format("a whole number from 1 to {}", most), text);
  }
  return *number;
}

void add_path(CLI::App& serve, const char* name, std::string& to, const char* help,
              const char* type) {
  const auto refuse_empty = [](const std::string& given) {
    return given.empty() ? std::string("is empty") : std::string();
  };
  serve.add_option(name, to, help)->type_name(type)->check(CLI::Validator(refuse_empty, "", ""));
}

}  // namespace

void add_share_options(CLI::App& serve, RawShareOptions& raw) {
  serve
      .add_option("--shares-top", raw.top,
                  "Groups with counters of their own, with --enable shares; the others are 'other'")
      ->type_name("N");
  serve
      .add_option("--shares-interval", raw.interval,
                  "How often energy is divided among groups, 1 to 60")
      ->type_name("SECONDS");
  add_path(serve, "--shares-baseline", raw.baseline,
           "Idle power for shares: a file of wattle baseline (default: this user's)", "FILE");
  add_path(serve, "--kubelet-dir", raw.kubelet,
           "The kubelet's folder, for the devices of pods (default: /var/lib/kubelet)", "DIR");
  add_path(serve, "--pod-logs-dir", raw.pod_logs,
           "Folder of the logs of pods, for their names (default: /var/log/pods)", "DIR");
}

SharesOptions checked_shares(const RawShareOptions& raw) {
  SharesOptions options;
  options.most_rows = number_in("--shares-top", raw.top, kMostRows);
  options.interval =
      std::chrono::seconds(number_in("--shares-interval", raw.interval, kLongestInterval));
  options.places.baseline = raw.baseline;
  if (!raw.kubelet.empty()) options.places.kubelet.folder = raw.kubelet;
  if (!raw.pod_logs.empty()) options.places.kubelet.pod_logs = raw.pod_logs;
  return options;
}

}  // namespace wattle::daemon
