// Records what GPUs and CPUs do while a program works, and prints a summary.
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <wattle/wattle.hpp>

int main(int argc, char** argv) {
  wattle::set_log([](std::string_view message) { std::cerr << message << '\n'; });
  try {
    const std::filesystem::path folder = argc > 1 ? argv[1] : "out";
    wattle::HardwareMonitor monitor(
        {.interval = std::chrono::milliseconds(100), .overwrite = true});
    monitor.start(folder);
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(550);
    double sum = 0.0;
    while (std::chrono::steady_clock::now() < end) sum += std::sqrt(sum + 1.0);
    const wattle::HardwareFiles files = monitor.stop();
    std::cout << sum << '\n';
    std::cout << wattle::build_resource_summary(files).to_text();
  } catch (const wattle::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
