#include "api/compat_metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/metrics_text.hpp"

namespace wattle::daemon {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

DomainMetrics zone(const std::string& domain, double energy_j) {
  return {
      .domain = domain, .source = "powercap", .up = true, .energy_j = energy_j, .power_w = 85.5};
}

DomainMetrics nvidia_gpu(const std::string& domain) {
  DomainMetrics gpu{.domain = domain,
                    .device = "0000:01:00.0",
                    .vendor = "nvidia",
                    .source = "nvml",
                    .up = true,
                    .energy_j = 5000.25,
                    .power_w = 75,
                    .utilization_ratio = 0.42,
                    .memory_used_bytes = 1024.0 * 1024.0 * 512.0,
                    .memory_total_bytes = 1024.0 * 1024.0 * 2048.0,
                    .clock_hz = 1.98e9,
                    .memory_clock_hz = 2.619e9,
                    .temperature_celsius = 61};
  gpu.info = {
      .model = "NVIDIA H100", .uuid = "GPU-1", .pci_address = "0000:01:00.0", .driver = "550.54"};
  return gpu;
}

std::string text_of(Exporter exporter, const std::vector<DomainMetrics>& domains,
                    MetricsFormat format = MetricsFormat::prometheus) {
  return metrics_text(compat_families(exporter, domains, "node7"), format);
}

TEST(CompatMetrics, OfDcgmAreInItsUnits) {
  const std::string text = text_of(Exporter::dcgm, {nvidia_gpu("nvidia_gpu_0")});
  const std::string labels =
      R"({gpu="0",UUID="GPU-1",pci_bus_id="0000:01:00.0",device="nvidia0",modelName="NVIDIA H100",)"
      R"(Hostname="node7",DCGM_FI_DRIVER_VERSION="550.54"})";
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
           {"DCGM_FI_DEV_SM_CLOCK", "1980"},
           {"DCGM_FI_DEV_MEM_CLOCK", "2619"},
           {"DCGM_FI_DEV_GPU_TEMP", "61"},
           {"DCGM_FI_DEV_POWER_USAGE", "75"},
           {"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "5000250"},
           {"DCGM_FI_DEV_GPU_UTIL", "42"},
           {"DCGM_FI_DEV_FB_USED", "512"},
           {"DCGM_FI_DEV_FB_FREE", "1536"}}) {
    EXPECT_THAT(text, HasSubstr('\n' + name + labels + ' ' + value + '\n'));
  }
  EXPECT_THAT(text, HasSubstr("# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter\n"));
}

/// OpenMetrics wants `_total` at the end of a counter's name.
TEST(CompatMetrics, ACounterWithoutTotalIsUnknownToOpenMetrics) {
  const std::string text =
      text_of(Exporter::dcgm, {nvidia_gpu("nvidia_gpu_0")}, MetricsFormat::open_metrics);
  EXPECT_THAT(text, HasSubstr("# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION unknown\n"));
  EXPECT_THAT(text, HasSubstr("\nDCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{"));
}

TEST(CompatMetrics, OfNodeExporterAreItsZones) {
  const std::string text =
      text_of(Exporter::node, {zone("package_0", 10.5), zone("dram_0", 2), zone("core_1", 3),
                               zone("uncore_0", 4), zone("psys", 5), nvidia_gpu("nvidia_gpu_0")});
  EXPECT_THAT(text,
              HasSubstr("node_rapl_package_joules_total{index=\"0\",path=\"package_0\"} 10.5\n"));
  EXPECT_THAT(text, HasSubstr("node_rapl_dram_joules_total{index=\"0\",path=\"dram_0\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("node_rapl_core_joules_total{index=\"1\",path=\"core_1\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("node_rapl_uncore_joules_total{index=\"0\",path=\"uncore_0\"} 4\n"));
  EXPECT_THAT(text, Not(HasSubstr("psys")));
  EXPECT_THAT(text, Not(HasSubstr("gpu")));
}

TEST(CompatMetrics, OfKeplerAreZonesOfItsNode) {
  const std::string text = text_of(Exporter::kepler, {zone("package_1", 10.5), zone("psys", 20)});
  EXPECT_THAT(text, HasSubstr("kepler_node_cpu_joules_total{zone=\"package\",path=\"package_1\","
                              "node_name=\"node7\"} 10.5\n"));
  EXPECT_THAT(text, HasSubstr("kepler_node_cpu_watts{zone=\"psys\",path=\"psys\","
                              "node_name=\"node7\"} 85.5\n"));
}

TEST(CompatMetrics, OfZeusAreInTheWindowWattled) {
  const std::string text = text_of(
      Exporter::zeus, {zone("package_0", 1), zone("dram_0", 2), nvidia_gpu("nvidia_gpu_0")});
  EXPECT_THAT(
      text,
      HasSubstr("energy_monitor_cpu_energy_joules_total{window=\"wattled\",index=\"0\"} 1\n"));
  EXPECT_THAT(
      text,
      HasSubstr("energy_monitor_dram_energy_joules_total{window=\"wattled\",index=\"0\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("energy_monitor_gpu_energy_joules_total{window=\"wattled\","
                              "index=\"0\"} 5000.25\n"));
  EXPECT_THAT(text,
              HasSubstr("power_monitor_gpu_power_watts{window=\"wattled\",index=\"0\"} 75\n"));
}

/// A second sample with the same labels would invalidate the whole scrape.
TEST(CompatMetrics, DiesAndGpusOfTwoVendorsHaveLabelsOfTheirOwn) {
  DomainMetrics amd = nvidia_gpu("amd_gpu_0");
  amd.vendor = "amd";
  const std::vector<DomainMetrics> domains{zone("package_0_die_0", 1), zone("package_0_die_1", 2),
                                           nvidia_gpu("nvidia_gpu_0"), amd};
  for (const Exporter exporter :
       {Exporter::dcgm, Exporter::node, Exporter::kepler, Exporter::zeus}) {
    for (const MetricFamily& family : compat_families(exporter, domains, "node7")) {
      std::set<std::vector<Label>> seen;
      for (const MetricSample& sample : family.samples) {
        EXPECT_TRUE(seen.insert(sample.labels).second) << family.name;
      }
    }
  }
}

TEST(CompatMetrics, KeepTheNumberOfAGpuWhereAnotherHasNoValue) {
  DomainMetrics silent = nvidia_gpu("nvidia_gpu_0");
  silent.power_w.reset();
  EXPECT_THAT(text_of(Exporter::dcgm, {silent, nvidia_gpu("nvidia_gpu_1")}),
              HasSubstr("DCGM_FI_DEV_POWER_USAGE{gpu=\"1\""));
}

TEST(CompatMetrics, OfWhatIsUnknownAreNotServed) {
  const DomainMetrics unknown{.domain = "package_0", .reason = "permission denied"};
  EXPECT_THAT(text_of(Exporter::node, {unknown}), IsEmpty());
}

TEST(CompatMetrics, AreWithoutAHostWhereItsNameIsNotKnown) {
  const std::vector<DomainMetrics> domains{zone("package_0", 1)};
  const std::string text =
      metrics_text(compat_families(Exporter::kepler, domains, ""), MetricsFormat::prometheus);
  EXPECT_THAT(text, HasSubstr("{zone=\"package\",path=\"package_0\"} 1\n"));
}

}  // namespace
}  // namespace wattle::daemon
