// Which daemons the dashboard follows, and whose dashboards this daemon answers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/cli11.hpp"

namespace wattle::daemon {

/// Origins are as browsers write them: "https://node1:4938".
struct PageOptions {
  std::vector<std::string> machines;  ///< origins of the daemons that the page follows, too
  /// The page also follows machines whose addresses its user enters.
  bool takes_machines = false;
  std::vector<std::string> readers;  ///< origins of the pages of other daemons that may read here
};

/// More machines than a page is for.
inline constexpr std::size_t kMostMachines = 64;

/// The two lists as they were given.
struct RawPageOptions {
  std::string machines;
  std::string readers;
};

void add_page_options(CLI::App& serve, RawPageOptions& raw);
/// Throws `InvalidArgument` for an address that no browser takes, and for too many.
[[nodiscard]] PageOptions checked_pages(const RawPageOptions& raw);

/// The origins of a list of addresses, each once. Throws `InvalidArgument`: "WHAT takes ...".
[[nodiscard]] std::vector<std::string> origins_of(std::string_view what, std::string_view list);

}  // namespace wattle::daemon
