#include "sample_bench.hpp"

namespace wattle {

RunCost run_of(std::size_t round, double wall_s, std::optional<double> energy_j) {
  RunCost run{.round = round,
              .started_unix_s = 1.7e9 + static_cast<double>(round),
              .wall = Seconds(wall_s),
              .cpu_user = Seconds(0.8 * wall_s),
              .cpu_system = Seconds(0.1 * wall_s),
              .peak_rss_bytes = 8'000'000,
              .other_cores = 0.05,
              .code = 0};
  if (!energy_j) return run;
  run.energy = Joules(*energy_j);
  run.uncertainty = Joules(0.2);
  run.mean_power = Watts(*energy_j / wall_s);
  return run;
}

BenchRecord sample_bench(bool has_energy) {
  BenchRecord bench{
      .wattle_version = "0.1.0",
      .started_unix_s = 1.7e9,
      .ended_unix_s = 1.7e9 + 20,
      .host = {.name = "n1",
               .boot_id = "b",
               .cpu = "Model",
               .gpus = {{{.domain = Domain::nvidia_gpu(0), .info = {.model = "GPU"}}}}},
      .is_interleaved = true,
      .seed = 7,
      .shell = "/bin/sh",
      .warmup = 1,
      .reference = 0,
      .is_interrupted = false,
      .commands = {{"A", "a --x | \"b\"", {{"n", "1,5"}}, {}}, {"B", "b", {}, {}}},
      .energy_covers = {},
      .energy_missing = {},
      .warnings = {"the machine is warm"}};
  if (has_energy) bench.energy_covers = {"cpu"};
  bench.energy_missing.push_back({"gpu", "no GPU with its own power sensor was found", ""});
  for (std::size_t round = 1; round <= 6; ++round) {
    const double noise = round % 2 == 0 ? 0.01 : -0.01;
    const double third = round % 3 == 0 ? 0.005 : 0.0;
    bench.commands[0].runs.push_back(
        run_of(round, 1.0 + noise, has_energy ? std::optional(50.0 + 10.0 * noise) : std::nullopt));
    bench.commands[1].runs.push_back(
        run_of(round, 0.9 + noise + third,
               has_energy ? std::optional(45.0 + 10.0 * noise + third) : std::nullopt));
  }
  return bench;
}

}  // namespace wattle
