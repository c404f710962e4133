// Power over half a second, as a table: time, device, watts.
#include <iostream>
#include <thread>
#include <wattle/wattle.hpp>

int main() {
  wattle::set_log([](std::string_view message) { std::cerr << message << '\n'; });
  try {
    wattle::PowerMonitor monitor({.update_period = std::chrono::milliseconds(100)});
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    monitor.stop();

    std::cout << "unix_s,device,power_w\n" << std::fixed;
    for (const auto& [domain, timelines] : monitor.all_timelines()) {
      for (const auto& [gpu, samples] : timelines) {
        for (const wattle::PowerSample& sample : samples) {
          std::cout << sample.unix_s() << ",gpu_" << gpu << ' ' << wattle::to_string(domain) << ','
                    << sample.power.si() << '\n';
        }
      }
    }
    for (const wattle::Domain& domain : monitor.cpu_domains()) {
      for (const wattle::CpuPowerSample& sample : monitor.cpu_timeline(domain)) {
        std::cout << sample.unix_s() << ',' << domain.name() << ',' << sample.power.si() << '\n';
      }
    }
  } catch (const wattle::NoSuchDevice& nothing) {
    std::cout << nothing.what() << '\n';
  }
}
