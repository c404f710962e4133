// The energy of a command: a small `wattle run`.
//
//   measure_command CMD [ARGUMENT]...
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iostream>
#include <wattle/energy_meter.hpp>
#include <wattle/error.hpp>

namespace {

/// The command's exit status; 127 where it could not be started.
int run(char** command) {
  pid_t child = -1;
  if (::posix_spawnp(&child, command[0], nullptr, nullptr, command, environ) != 0) return 127;
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: measure_command CMD [ARGUMENT]...\n";
    return 64;
  }
  try {
    const auto [status, sample] = wattle::measure([&] { return run(argv + 1); });
    for (const std::string& domain : *sample.domains()) {
      const wattle::MeasuredEnergy& energy = sample.energy(domain);
      std::cerr << domain << ": ";
      if (energy.energy) {
        std::cerr << energy.energy->si() << " J +-" << energy.uncertainty.si() << '\n';
      } else {
        std::cerr << "unknown\n";
      }
    }
    return status;
  } catch (const wattle::Error& error) {
    std::cerr << error.what() << '\n';
    return 125;
  }
}
