// Files that tell what GPUs and processors did while a program worked, and their summary.
#include <cmath>
#include <filesystem>
#include <iostream>
#include <wattle/wattle.hpp>

int main(int argc, char** argv) {
  wattle::set_log([](std::string_view message) { std::cerr << message << '\n'; });
  try {
    const std::filesystem::path folder = argc > 1 ? argv[1] : "out";
    wattle::HardwareMonitor monitor;
    monitor.start(folder, {.interval = wattle::Seconds(0.1), .overwrite = true});
    double sum = 0.0;
    for (int i = 1; i < 50'000'000; ++i) sum += std::sqrt(i);
    const wattle::HardwareFiles files = monitor.stop();
    std::cout << sum << '\n';
    const wattle::ResourceSummary summary =
        wattle::build_resource_summary(files.gpu_csv, files.cpu_csv, files.dmon_csv);
    std::cout << summary.to_text();
  } catch (const wattle::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
