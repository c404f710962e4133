#include "stream/stream_follow.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/thread.hpp"
#include "cli/waiting.hpp"
#include "client/connection_words.hpp"
#include "output/live_output.hpp"
#include "output/output.hpp"
#include "output/screen.hpp"
#include "stream/stream_lines.hpp"
#include "stream/stream_text.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

using DeviceEnergies = std::map<std::uint32_t, MeasuredEnergy>;

void add_one(const MeasuredEnergy& more, MeasuredEnergy& sum) {
  if (more.energy) {
    UncertaintySum errors;
    errors.add(sum.uncertainty, sum.common);
    errors.add(more.uncertainty, more.common);
    sum.energy = sum.energy.value_or(Joules(0)) + *more.energy;
    sum.uncertainty = errors.uncertainty();
    sum.common = errors.common();
  }
  sum.unknown += more.unknown;
  sum.flags |= more.flags;
}

void add_devices(const DeviceEnergies& more, DeviceEnergies& sum) {
  for (const auto& [index, energy] : more) add_one(energy, sum[index]);
}

constexpr int kNothingToFollow = 2;
constexpr std::chrono::seconds kKept = std::chrono::hours(1);

/// Prints once what is wrong with each server.
class TroubleReport {
 public:
  void print_new(const std::vector<StreamedServer>& servers) {
    for (const StreamedServer& server : servers) {
      const bool is_first = !reported_.contains(server.endpoint);
      std::vector<std::string> troubles = trouble_lines_of(server, is_first);
      std::vector<std::string>& reported = reported_[server.endpoint];
      for (const std::string& trouble : troubles) {
        if (std::ranges::count(reported, trouble) == 0) print_message("stream", trouble);
      }
      // The second message about a server has other words.
      reported = is_first ? trouble_lines_of(server, false) : std::move(troubles);
    }
  }

 private:
  std::map<std::string, std::vector<std::string>> reported_;
};

class Follower {
 public:
  Follower(const PowerStream& stream, const StreamOptions& options, bool is_table)
      : stream_(stream),
        options_(options),
        is_table_(is_table),
        begin_(machine_clock().now()),
        energy_(stream, begin_, kKept) {}

  void run(const Fd& end) {
    LiveOutput out = LiveOutput::of_stdout();
    Ticker ticker(begin_, options_.period, options_.period);
    if (is_table_) put(out);
    while (wait_for_tick(ticker, out, end)) put(out);
    const StreamedPower total = look(true);
    put_whole(out, is_table_ ? totals_of(total, options_.table, style_of(STDOUT_FILENO))
                             : json_totals_of(total));
    out.close();
  }

 private:
  [[nodiscard]] StreamedPower look(bool with_energies) {
    const TimePoint now = machine_clock().now();
    const bool is_asked = with_energies || energy_.must_settle(now);
    return {.time_unix_s = to_unix(now),
            .elapsed = now - begin_,
            .servers = servers_of(stream_.snapshot(), is_asked ? energy_.until(now) : Energies())};
  }

  void put(LiveOutput& out) {
    const StreamedPower power = look(options_.table.shows_energy);
    if (!is_table_) {
      troubles_.print_new(power.servers);
      (void)out.put(json_lines_of(power, options_.table.shows_energy));
      return;
    }
    const ScreenSize size = screen_size(STDOUT_FILENO);
    TextStyle style = style_of(STDOUT_FILENO);
    style.width = size.columns;
    (void)out.put(screen_.redraw(table_of(power, options_.table, style, size.lines), size));
  }

  /// Prints to stderr if the reader of stdout does not read.
  static void put_whole(LiveOutput& out, const std::string& text) {
    const bool is_written = out.put(text) && !out.has_rest();
    if (!is_written && !out.is_over()) write_to_stderr(text);
  }

  const PowerStream& stream_;
  const StreamOptions& options_;
  bool is_table_;
  TimePoint begin_;
  RunningEnergy energy_;
  Screen screen_{can_replace_lines(STDOUT_FILENO)};
  TroubleReport troubles_;
};

/// Connects, which takes seconds where a server does not answer: in a thread of its own. Null where
/// it was time to end before.
std::unique_ptr<PowerStream> connect(const StreamOptions& options, const Fd& end) {
  struct Connecting {
    std::promise<std::unique_ptr<PowerStream>> stream;
    Fd is_done{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  };
  const auto connecting = std::make_shared<Connecting>();
  if (!connecting->is_done) {
    throw Error("cannot wait for servers: " + std::generic_category().message(errno));
  }
  auto connected = connecting->stream.get_future();
  start_detached([connecting, servers = options.servers] {
    try {
      connecting->stream.set_value(std::make_unique<PowerStream>(
          servers, PowerStreamOptions{.start_partial = true, .history = kKept}));
    } catch (...) {
      connecting->stream.set_exception(std::current_exception());
    }
    (void)::eventfd_write(connecting->is_done.get(), 1);
  });
  std::array<pollfd, 2> waited = {
      pollfd{.fd = end.get(), .events = POLLIN, .revents = 0},
      pollfd{.fd = connecting->is_done.get(), .events = POLLIN, .revents = 0}};
  while (connected.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    patient_poll(waited, -1);
    if ((waited[0].revents & POLLIN) != 0 && has_come(end)) return nullptr;
  }
  return connected.get();
}

/// The connection has not succeeded yet.
bool is_unavailable(const StreamedServer& server) {
  return server.gpu.status == ConnectionStatus::connecting ||
         server.cpu.status == ConnectionStatus::connecting;
}

bool may_answer(const StreamedServer& server) {
  const auto is_there = [](const ConnectionState& state) {
    return state.status == ConnectionStatus::live || state.status == ConnectionStatus::stale ||
           (state.status == ConnectionStatus::connecting && state.reason.empty());
  };
  return is_there(server.gpu) || is_there(server.cpu);
}

}  // namespace

void add(const Energies& more, Energies& sum) {
  for (const auto& [endpoint, energy] : more) {
    ServerEnergy& server = sum[endpoint];
    add_devices(energy.gpus, server.gpus);
    add_devices(energy.cpus, server.cpus);
    add_devices(energy.drams, server.drams);
  }
}

Energies RunningEnergy::until(TimePoint now) {
  Energies all = settled_;
  add(stream_.energy(anchor_, now), all);
  if (must_settle(now)) {
    settled_ = all;
    anchor_ = now;
  }
  return all;
}

int follow(const StreamOptions& options) {
  const Fd end = end_signals();
  const bool is_table = !options.as_json && ::isatty(STDOUT_FILENO) == 1;
  // The table has what is about connections, or `TroubleReport`.
  const ScreenMessages messages("stream", is_table, client::is_about_connection);
  try {
    const std::unique_ptr<PowerStream> stream = connect(options, end);
    if (!stream) {
      print_message("stream", "stopped before the servers answered");
      // Not by way of destructors: the thread that connects uses what they destroy.
      std::_Exit(0);
    }
    const std::vector<StreamedServer> servers = servers_of(stream->snapshot(), {});
    if (std::ranges::none_of(servers, may_answer)) {
      TroubleReport().print_new(servers);
      print_message("stream", std::ranges::all_of(servers, is_unavailable)
                                  ? "nothing to follow: no server is available"
                                  : "nothing to follow: no server provides the requested data");
      return kNothingToFollow;
    }
    Follower(*stream, options, is_table).run(end);
  } catch (const NoSuchDevice& none) {
    print_message("stream", none.what());
    return kNothingToFollow;
  } catch (const CapabilityError& none) {
    print_message("stream", none.what());
    return kNothingToFollow;
  }
  return 0;
}

}  // namespace wattle::app
