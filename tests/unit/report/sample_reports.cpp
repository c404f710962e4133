#include "sample_reports.hpp"

#include <csignal>
#include <utility>

#include "estimate/baseline.hpp"

namespace wattle::testing_support {
namespace {

/// The command's part, the same in all of them.
Report a_build() {
  Report report;
  report.command = {"make", "-j8", "all"};
  report.exit = {.started = true, .code = 0};
  report.started_unix_s = 1763690000.125;
  report.ended_unix_s = 1763690002.125;
  report.wall = Seconds(2.0);
  report.interval = Seconds(0.1);
  report.host = {.name = "n1",
                 .boot_id = "0b4d1f2e-7c3a-4b5d-9e8f-001122334455",
                 .cpu = "Intel(R) Xeon(R) Test CPU @ 2.00GHz"};
  ResourceUsage& usage = report.usage;
  usage.compute_time = {.unit = "seconds", .time = 2.0};
  usage.cpu_user = Seconds(12.5);
  usage.cpu_system = Seconds(1.25);
  usage.peak_rss_bytes = 345'678'912;
  usage.still_running.emplace();
  usage.cpu_utilization.system_core_count = 16;
  usage.cpu_utilization.n_expected_cores = 16;
  usage.cpu_utilization.system = {.max_sum_percent = 800.0,
                                  .max_hardware_percent = 50.0,
                                  .mean_sum_percent = 704.0,
                                  .mean_hardware_percent = 44.0};
  usage.max_ram.system_capacity = 67.5e9 * 1e-9;
  usage.max_ram.system = 4.25e9 * 1e-9;
  usage.unknown = {{{"max_gpu_ram", "gpu_utilization.gpu_percentages"},
                    "no GPU was found that this version reads"}};
  report.overhead = {.cpu = Seconds(0.004), .samples = 22, .late = 1};
  return report;
}

void set_energy(Report& report, std::vector<DomainFigure> domains) {
  report.energy.total = total_of(domains, report.refused);
  report.energy.domains = std::move(domains);
}

}  // namespace

EnergyFigure figure(double energy_j, double uncertainty_j, double mean_w) {
  EnergyFigure figure;
  figure.energy = Joules(energy_j);
  figure.uncertainty = Joules(uncertainty_j);
  figure.mean = Watts(mean_w);
  return figure;
}

DomainFigure domain_energy(Domain domain, const EnergyFigure& figure) {
  const bool inside = domain.kind() == DomainKind::core || domain.kind() == DomainKind::uncore;
  return {.domain = domain,
          .contained_in = inside ? std::optional(domain.as(DomainKind::package)) : std::nullopt,
          .source = "powercap",
          .figure = figure};
}

Report measured() {
  Report report = a_build();
  EnergyFigure package = figure(250.125, 0.06, 125.0625);
  package.max = Watts(161.5);
  package.flags.set(Flag::wrapped);
  set_energy(report, {domain_energy(Domain::package(0), package),
                      domain_energy(Domain::package(1), figure(80.5, 0.03, 40.25)),
                      domain_energy(Domain::dram(0), figure(12.25, 0.004, 6.125)),
                      domain_energy(Domain::dram(1), figure(7.125, 0.003, 3.5625)),
                      domain_energy(Domain::core(0), figure(190.0, 0.05, 95.0)),
                      domain_energy(Domain::psys(), figure(520.0, 2.5, 260.0))});
  report.energy.profile = {Watts(20.0), Watts(90.0), std::nullopt, Watts(180.0), Watts(0.0)};
  report.slurm = SlurmJob{.job_id = "4711", .step_id = "0", .rank = "3", .local_rank = "0"};
  report.mpi = Rank{.rank = 3, .local_rank = 0, .size = 8, .local_size = std::nullopt};
  return report;
}

Report without_sensors() {
  Report report = a_build();
  report.refused = {
      {.source = "powercap",
       .subject = "CPU energy",
       .reason = "this is a virtual machine; the host does not expose energy counters to it",
       .proof = "/proc/cpuinfo has the flag 'hypervisor'",
       .remedy = "measure on the host, or on a machine of your own"}};
  set_energy(report, {});
  return report;
}

Report estimated() {
  Report report = without_sensors();
  EnergyEstimate estimate;
  estimate.machine = {.low = Joules(7.5), .typical = Joules(21.0), .high = Joules(61.5)};
  estimate.own = {.low = Joules(1.5), .typical = Joules(10.0), .high = Joules(40.0)};
  estimate.method = "server_power_model";
  estimate.basis = "published SPECpower_ssj2008 results of 68 servers, 2026-03-09";
  estimate.covers = "a part of a server at the wall: 16 vCPUs as hardware threads";
  estimate.excludes = {"cooling and losses of the building (PUE)", "GPUs and other cards"};
  estimate.microarchitecture = "Intel Sapphire Rapids";
  estimate.recognized_by = "GenuineIntel, cpu family 6, model 143, stepping 8";
  estimate.is_known = true;
  estimate.machines = 68;
  estimate.threads = 16.0;
  estimate.mean_load = 0.44;
  estimate.is_virtual = true;
  report.estimate = std::move(estimate);
  return report;
}

Report shared() {
  Report report = measured();
  EnergyShare share;
  share.covers = {"dram_0", "dram_1", "package_0", "package_1"};
  share.idle_basis = "idle by the baseline of 2026-11-24 23:50 UTC: 41.20 W over 30.00 s";
  share.balance = ShareBalance{
      .measured_nj = 350'000'000'000,
      .idle_nj = 82'400'000'000,
      .command_nj = 250'000'000'000,
      .others_nj = 17'600'000'000,
      .command = {.low = Joules(238.0), .typical = Joules(250.0), .high = Joules(262.0)}};
  share.gpus = {
      gpu_share({.domain = Domain::nvidia_gpu(0), .used_by_command = true, .used_by_others = false},
                {.energy = Joules(700.0)}),
      gpu_share({.domain = Domain::nvidia_gpu(1), .used_by_command = true, .used_by_others = true},
                {.energy = Joules(300.0)})};
  report.share = std::move(share);
  return report;
}

Report on_gpus(std::uint32_t count, std::uint32_t used) {
  Report report = a_build();
  report.command = {"python3", "train.py"};
  report.wall = Seconds(60.0);
  EnergyFigure package = figure(9012.5, 0.06, 150.2);
  package.max = Watts(221.5);
  std::vector<DomainFigure> domains = {
      domain_energy(Domain::package(0), package),
      domain_energy(Domain::package(1), figure(6004.25, 0.03, 100.1)),
      domain_energy(Domain::dram(0), figure(612.5, 0.04, 10.21)),
      domain_energy(Domain::dram(1), figure(587.5, 0.04, 9.79))};
  EnergyShare share;
  share.covers = {"dram_0", "dram_1", "package_0", "package_1"};
  share.idle_unknown = kNoBaseline;
  share.balance = ShareBalance{
      .measured_nj = 16'216'750'000'000,
      .idle_nj = std::nullopt,
      .command_nj = 1'000'000'000,
      .others_nj = 0,
      .command = {.low = Joules(0.0), .typical = Joules(8000.0), .high = Joules(16'216.75)}};
  report.host.gpus.emplace();
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool is_used = i < used;
    EnergyFigure energy =
        figure(is_used ? 36'000.0 + 300.0 * i : 4200.0, 15.0, is_used ? 600.0 + 5.0 * i : 70.0);
    energy.max = Watts(is_used ? 697.0 : 71.0);
    energy.known = Seconds(60.0);
    domains.push_back(domain_energy(Domain::nvidia_gpu(i), energy));
    GpuUsage gpu{.domain = Domain::nvidia_gpu(i),
                 .info = {.model = "NVIDIA H100 80GB HBM3"},
                 .memory_total_bytes = 85'520'809'984,
                 .peak_memory_used_bytes = is_used ? 71'000'000'000 + i * 250'000'000 : 500'000'000,
                 .mean_utilization_percent = is_used ? 95.0 + 0.3 * i : 0.0,
                 .used_by_command = is_used,
                 .used_by_others = false};
    share.gpus.push_back(gpu_share(gpu, energy.measured()));
    report.host.gpus->push_back(std::move(gpu));
  }
  set_energy(report, std::move(domains));
  report.energy.profile = {Watts(900.0), Watts(5100.0), Watts(5250.0), Watts(5200.0)};
  report.share = std::move(share);
  return report;
}

Report with_unknown_stretches() {
  Report report = a_build();
  report.refused = {{.source = "powercap",
                     .subject = "package_1",
                     .reason = "energy_uj is readable by root only",
                     .remedy = "run wattle as root",
                     .domain = Domain::package(1)}};
  EnergyFigure reset = figure(100.0, 0.05, 80.0);
  reset.unknown = Seconds(0.75);
  reset.flags.set(Flag::reset);
  EnergyFigure failed;
  failed.unknown = Seconds(2.0);
  failed.flags.set(Flag::gap);
  failed.flags.set(Flag::lost);
  set_energy(report,
             {domain_energy(Domain::package(0), reset), domain_energy(Domain::dram(0), failed)});
  return report;
}

Report killed() {
  Report report = a_build();
  report.command = {"./crash"};
  report.exit = {.started = true, .signal = SIGSEGV, .core_dumped = true};
  report.wall = Seconds(0.0008);
  report.usage.compute_time.time = report.wall.count();
  report.usage.cpu_user = Seconds(0.0);
  report.usage.cpu_system = Seconds(0.001);
  report.usage.peak_rss_bytes.reset();
  report.usage.cpu_utilization.system = {};
  EnergyFigure instant = figure(0.0, 3.3, 0.0);
  instant.mean.reset();
  instant.flags.set(Flag::short_window);
  set_energy(report, {domain_energy(Domain::package(0), instant)});
  return report;
}

Report still_running() {
  Report report = without_sensors();
  report.command = {"sh", "-c", "sleep 100 &"};
  report.exit.code = 7;
  std::vector<ProcessUsage> left;
  for (int i = 0; i < 7; ++i) {
    left.push_back({.pid = 100 + i, .name = "sleep", .cpu = Seconds(0.75)});
  }
  report.usage.still_running = std::move(left);
  report.usage.cpu_task_clock = Seconds(20.5);
  report.usage.mismatches = {
      {{"cpu_user_s", "cpu_system_s", "cpu_s"}, "perf's task clock counted more"}};
  return report;
}

Report with_foreign_text() {
  Report report = without_sensors();
  report.command = {"prin\x1b[31mtf", "\xff\xfe", "größer", "it's", "a\nb", ""};
  report.host.name = "h\xffst";
  return report;
}

Report of_another_rank() {
  Report report = a_build();
  report.energy.left_out = "rank 0 of this machine measures it; this is local rank 1";
  report.usage.still_running.reset();
  report.usage.cpu_user.reset();
  report.usage.max_ram = {};
  report.usage.cpu_utilization = {};
  return report;
}

Report with_units() {
  const auto range = [](double joules) {
    return EnergyInterval{Joules(joules), Joules(0.9 * joules), Joules(1.1 * joules)};
  };
  UnitTag request{.tag = "request",
                  .count = 200,
                  .unknown = 2,
                  .mean_time = Seconds(0.05),
                  .sum = Joules(250.0),
                  .work = 5000.0,
                  .mean = range(1.25),
                  .median = range(1.2),
                  .p95 = range(2.0),
                  .p99 = range(2.5),
                  .per_work = range(0.05)};
  request.distribution = {.none = 20, .from = Joules(0.5), .ratio = 2.0, .counts = {80, 90, 10}};
  request.by_running = {{.number = 1.0, .count = 50, .mean = Joules(2.0)},
                        {.number = 3.5, .count = 150, .mean = Joules(1.0)}};
  request.by_work = {{.number = 10.0, .count = 100, .mean = Joules(1.0)},
                     {.number = 40.0, .count = 100, .mean = Joules(1.5)}};
  const UnitTag decode{.tag = "request",
                       .phase = "decode",
                       .count = 200,
                       .mean_time = Seconds(0.04),
                       .sum = Joules(200.0),
                       .mean = range(1.0)};
  const UnitTag hostile{.tag = "<script>\x1b[2J",
                        .count = 1,
                        .sum = Joules(3.0),
                        .mean = range(3.0),
                        .is_short = true,
                        .doubt = "too short"};
  Report report = measured();
  report.units = {.tags = {request, decode, hostile},
                  .domains = {{.domain = "package_0",
                               .balance = {.measured = Joules(330.0),
                                           .units = Joules(253.0),
                                           .running = Joules(7.0),
                                           .without_units = Joules(70.0)},
                               .idle = UnitIdlePower{.domain = "package_0",
                                                     .power = Watts(35.0),
                                                     .uncertainty = Watts(0.5)},
                               .lag = Seconds(0.1),
                               .unexplained = PowerInterval{Watts(5.0), Watts(4.0), Watts(6.0)},
                               .share = Watts(25.0)}},
                  .contrasts = {{.first = "request", .second = "<script>\x1b[2J", .ratio = 2.0}},
                  .running = 1};
  return report;
}

Report not_started() {
  Report report = without_sensors();
  report.command = {"./no such file"};
  report.exit = {.started = false, .error = "cannot be executed: No such file or directory"};
  return report;
}

}  // namespace wattle::testing_support
