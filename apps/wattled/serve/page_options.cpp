#include "serve/page_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/text/option_words.hpp"
#include "base/text/split.hpp"
#include "http/origin.hpp"
#include "serve/option_values.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

constexpr const char* kMachines = "--dashboard-machines";
constexpr const char* kReaders = "--allow-dashboards";
/// In the list of machines: those whose addresses the user enters.
constexpr std::string_view kAny = "any";

std::vector<std::string> origins_in(std::string_view what, const std::vector<std::string>& items) {
  std::vector<std::string> origins;
  for (const std::string& item : items) {
    const auto origin = parse_origin(item);
    if (!origin) {
      refuse_value(what, "HOST[:PORT], with http:// or https:// before it or not; no IPv6 address",
                   item);
    }
    if (std::ranges::count(origins, *origin) == 0) origins.push_back(*origin);
  }
  if (origins.size() > kMostMachines) {
    throw InvalidArgument(fmt::format("{} takes at most {} machines", what, kMostMachines));
  }
  return origins;
}

}  // namespace

void add_page_options(CLI::App& serve, RawPageOptions& raw) {
  serve
      .add_option(
          kMachines, raw.machines,
          "Other machines that the dashboard shows, through their daemons, comma-separated: "
          "HOST[:PORT] (https; http on this machine), or an address with http://; any: "
          "those that its user enters, too")
      ->type_name("LIST")
      ->join(',');
  serve
      .add_option(kReaders, raw.readers,
                  "Daemons whose dashboards may show this machine, comma-separated: HOST[:PORT] as "
                  "their users open them")
      ->type_name("LIST")
      ->join(',');
}

std::vector<std::string> origins_of(std::string_view what, std::string_view list) {
  return origins_in(what, items_of(list));
}

PageOptions checked_pages(const RawPageOptions& raw) {
  PageOptions pages;
  std::vector<std::string> machines = items_of(raw.machines);
  pages.takes_machines = std::erase(machines, kAny) > 0;
  pages.machines = origins_in(kMachines, machines);
  pages.readers = origins_of(kReaders, raw.readers);
  return pages;
}

}  // namespace wattle::daemon
