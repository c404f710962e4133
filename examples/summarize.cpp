// A summary of the files of a run monitor.
#include <filesystem>
#include <iostream>
#include <wattle/wattle.hpp>

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc > 1 ? argv[1] : ".";
  const wattle::ResourceSummary summary =
      wattle::build_resource_summary(folder / "hw_metrics.csv", folder / "cpu_metrics.csv");
  for (const wattle::SummaryFile& file : summary.files) {
    if (!file.problem.empty()) std::cerr << file.path << ": " << file.problem << '\n';
  }
  for (const wattle::GpuSummary& gpu : summary.gpus) {
    if (gpu.energy) std::cout << "GPU " << gpu.name << ": " << gpu.energy->si() << " J\n";
  }
  std::cout << summary.to_dict();
}
