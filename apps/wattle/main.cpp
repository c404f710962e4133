// The command `wattle`.
#include <fmt/format.h>
#include <malloc.h>

#include <exception>
#include <string>
#include <variant>

#include "base/failure.hpp"
#include "cli/commands.hpp"
#include "cli/last_resort.hpp"
#include "cli/options.hpp"
#include "cli/privileges.hpp"
#include "output/output.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

/// These sub-commands open their counters `with_privileges`; the others give them up here.
bool opens_counters(const Options& options) noexcept {
  const auto* doctor = std::get_if<DoctorOptions>(&options);
  return std::holds_alternative<RunOptions>(options) ||
         std::holds_alternative<BenchOptions>(options) ||
         std::holds_alternative<SensorsOptions>(options) || (doctor != nullptr && !doctor->fix) ||
         std::holds_alternative<PowerOptions>(options) ||
         std::holds_alternative<BaselineOptions>(options) ||
         std::holds_alternative<TopOptions>(options) ||
         std::holds_alternative<MonitorOptions>(options);
}

}  // namespace
}  // namespace wattle::app

int main(int argc, char** argv) {
  using namespace wattle::app;  // NOLINT(google-build-using-namespace): the program's own
  lower_privileges();
  end_in_good_order();
  open_closed_standard_descriptors();
  wattle::set_log({});  // the commands print what matters
  // Each arena reserves 64 MiB of address space, which may be limited; threads allocate little.
  ::mallopt(M_ARENA_MAX, 1);  // NOLINT(concurrency-mt-unsafe): no other thread runs yet
  std::string command;
  try {
    const Options options = parse_options(argc, argv);
    if (!std::holds_alternative<Answer>(options)) command = argv[1];
    if (!opens_counters(options)) drop_privileges();
    return std::visit([](const auto& chosen) { return execute(chosen); }, options);
  } catch (const wattle::InvalidArgument& wrong) {
    return execute(usage_error(command, wrong.what()));
  } catch (const std::exception& failed) {
    write_to_stderr(fmt::format("wattle{}{}: {}\n", command.empty() ? "" : " ", command,
                                wattle::failure_text(failed)));
    return kRunFailed;
  }
}
