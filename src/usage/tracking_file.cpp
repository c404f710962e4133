#include "usage/tracking_file.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace wattle {

std::string_view static_columns() noexcept {
  return "ram_unit,gpu_ram_unit,time_unit,ram_system_capacity,gpu_ram_system_capacity,"
         "system_core_count,n_expected_cores,system_gpu_count,n_expected_gpus";
}

std::string_view sample_columns() noexcept {
  return "main_ram,descendants_ram,combined_ram,system_ram,main_gpu_ram,descendants_gpu_ram,"
         "combined_gpu_ram,system_gpu_ram,gpu_sum_utilization_percent,"
         "gpu_hardware_utilization_percent,main_n_threads,descendants_n_threads,"
         "combined_n_threads,cpu_system_sum_utilization_percent,"
         "cpu_system_hardware_utilization_percent,cpu_main_sum_utilization_percent,"
         "cpu_main_hardware_utilization_percent,cpu_descendants_sum_utilization_percent,"
         "cpu_descendants_hardware_utilization_percent,cpu_combined_sum_utilization_percent,"
         "cpu_combined_hardware_utilization_percent,timestamp";
}

std::string csv_line(const std::vector<TrackingCell>& cells) {
  const auto text_of = [](const TrackingCell& cell) {
    return cell ? fmt::format("{}", *cell) : std::string();
  };
  return joined(cells, ",", text_of) + "\n";
}

}  // namespace wattle
