// `wattle monitor`: files that tell what the machine does, until a command ends or Ctrl-C.
#include <fmt/format.h>
#include <poll.h>

#include <cerrno>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "commands.hpp"
#include "end_signals.hpp"
#include "ending.hpp"
#include "launcher.hpp"
#include "output.hpp"
#include "privileges.hpp"
#include "supervisor.hpp"
#include "wattle/error.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle::app {
namespace {

constexpr int kNothingToMonitor = 2;

void tell(std::string_view message) {
  write_to_stderr(fmt::format("wattle monitor: {}\n", message));
}

HardwareMonitorOptions monitor_options(const MonitorOptions& options) {
  return {.interval = options.interval, .overwrite = options.overwrite};
}

std::string summary_of(const HardwareFiles& files) {
  return build_resource_summary(files).to_text();
}

void wait_until_readable(int fd) {
  pollfd waited{.fd = fd, .events = POLLIN, .revents = 0};
  while (::poll(&waited, 1, -1) < 0) {
    if (errno != EINTR) throw Error("cannot wait: " + std::generic_category().message(errno));
  }
}

int until_signal(const MonitorOptions& options) {
  const Fd end = end_signals();
  std::optional<Output> output;
  if (!options.quiet) output = Output::open("-", false);
  HardwareMonitor monitor(options.system);
  drop_privileges();
  monitor.start(options.folder, monitor_options(options));
  wait_until_readable(end.get());
  const HardwareFiles files = monitor.stop();
  if (output) output->write(summary_of(files));
  return files.lost_rows == 0 ? 0 : kRunFailed;
}

/// Starts and ends the command as `wattle run` does.
int around_command(const MonitorOptions& options) {
  std::set<pid_t> strangers = children_before_start(options.system);
  Launcher launcher(options.command);
  HardwareMonitor monitor(options.system);
  drop_privileges();
  Supervisor supervisor(launcher.pid(), std::move(strangers));
  try {
    monitor.start(options.folder, monitor_options(options));
  } catch (const NoSuchDevice& nothing) {  // the command is what matters
    tell(nothing.what());
  }
  launcher.release();
  const std::optional<ExecFailure> failure = launcher.wait_for_exec();
  if (!failure) {
    do {
      wait_until_readable(supervisor.fd());
    } while (!supervisor.handle());
  }
  const HardwareFiles files = monitor.is_started() ? monitor.stop() : HardwareFiles{};
  const Collected collected = supervisor.collect(options.system);
  if (failure) {
    tell(fmt::format("cannot execute {}: {}", shell_quoted(options.command.front()),
                     std::generic_category().message(failure->error_number)));
    return failure->exit_status();
  }
  if (!options.quiet) write_to_stderr(summary_of(files));
  end_like(collected.exit);
}

}  // namespace

int monitor(const MonitorOptions& options) {
  int status = kRunFailed;
  set_log(tell);
  try {
    status = options.command.empty() ? until_signal(options) : around_command(options);
  } catch (const NoSuchDevice& nothing) {
    tell(nothing.what());
    status = kNothingToMonitor;
  } catch (const Error& failed) {
    tell(failed.what());
  }
  set_log({});
  return status;
}

}  // namespace wattle::app
