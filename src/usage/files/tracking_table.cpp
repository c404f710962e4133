#include "usage/files/tracking_table.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "base/numbers/known_sum.hpp"
#include "base/sqlite.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "usage/files/usage_units.hpp"
#include "usage/process/process_ledgers.hpp"
#include "wattle/clock.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

class CsvTable final : public TrackingTable {
 public:
  using TrackingTable::TrackingTable;

  void clear() override {
    file().clear();
    // A failure to write is reported now; the rest of the header needs values of the GPUs.
    if (const int error = file().append(fmt::format("{}\n", header_names())); error != 0) {
      throw WriteError(file().path(), error);
    }
  }
  [[nodiscard]] int begin(const TrackingHeader& header) override {
    return append(fmt::format("{},{},{},{}{}\n", header.ram_unit, header.gpu_ram_unit,
                              header.time_unit, csv_line(header.capacities), row_names()));
  }
  [[nodiscard]] int add(const std::vector<TrackingCell>& row) override {
    return append(csv_line(row));
  }

 private:
  int append(const std::string& text) { return file() ? file().append(text) : 0; }
};

/// "a REAL,b REAL": those that hold a unit are texts.
std::string typed(std::string_view columns) {
  return joined(items_of(columns), ",", [](const std::string& name) {
    return name + (name.ends_with("_unit") ? " TEXT" : " REAL");
  });
}

SqlValue value_of(const TrackingCell& cell) { return cell ? SqlValue(*cell) : SqlValue(nullptr); }

/// gpu_tracker's tables: `static_data` with one row, and `data`.
class SqliteTable final : public TrackingTable {
 public:
  using TrackingTable::TrackingTable;

  void clear() override {
    file().clear();  // an empty file is a new database
    database_.emplace(file().path());
    for (const std::string& sql :
         // Rows are to outlive this process, not a failure of the machine: nobody waits for a disk.
         {std::string("PRAGMA synchronous=OFF"),
          fmt::format("CREATE TABLE static_data ({})", typed(header_names())),
          fmt::format("CREATE TABLE data ({})", typed(row_names()))}) {
      if (const int error = database_->run(sql); error != 0) throw WriteError(file().path(), error);
    }
  }
  [[nodiscard]] int begin(const TrackingHeader& header) override {
    std::vector<SqlValue> values = {header.ram_unit, header.gpu_ram_unit, header.time_unit};
    for (const TrackingCell& cell : header.capacities) values.push_back(value_of(cell));
    return insert("static_data", values);
  }
  [[nodiscard]] int add(const std::vector<TrackingCell>& row) override {
    std::vector<SqlValue> values;
    values.reserve(row.size());
    for (const TrackingCell& cell : row) values.push_back(value_of(cell));
    return insert("data", values);
  }

 private:
  int insert(std::string_view table, const std::vector<SqlValue>& values) {
    if (!database_) return 0;
    std::string marks = "?";
    for (std::size_t i = 1; i < values.size(); ++i) marks += ",?";
    const int error =
        database_->run(fmt::format("INSERT INTO {} VALUES ({})", table, marks), values);
    if (error != 0) database_.reset();
    return error;
  }

  std::optional<SqliteDatabase> database_;
};

TrackingCell divided(const TrackingCell& value, std::optional<unsigned> by) {
  return value && by && *by > 0 ? TrackingCell(*value / *by) : std::nullopt;
}

TrackingCell cell(std::optional<unsigned> number) {
  return number ? TrackingCell(*number) : std::nullopt;
}

template <class Bytes>
TrackingCell in_unit(const std::optional<Bytes>& bytes, double unit) {
  return bytes ? TrackingCell(static_cast<double>(*bytes) / unit) : std::nullopt;
}

}  // namespace

std::string_view header_names() noexcept {
  return "ram_unit,gpu_ram_unit,time_unit,ram_system_capacity,gpu_ram_system_capacity,"
         "system_core_count,n_expected_cores,system_gpu_count,n_expected_gpus";
}

std::string_view row_names() noexcept {
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

std::unique_ptr<TrackingTable> open_tracking_table(const std::filesystem::path& path,
                                                   bool overwrite) {
  if (path.extension() == ".sqlite") return std::make_unique<SqliteTable>(path, overwrite);
  return std::make_unique<CsvTable>(path, overwrite);
}

TrackingHeader tracking_header(const TrackingUnits& units, const MachineUsage& machine,
                               const TrackingMachine& known) {
  const auto expected = known.expected_cores ? known.expected_cores : machine.processors;
  const auto memory = machine.peak_memory_used_bytes ? machine.memory_total_bytes : std::nullopt;
  return {.ram_unit = units.ram,
          .gpu_ram_unit = units.gpu_ram,
          .time_unit = units.time,
          .capacities = {in_unit(memory, bytes_in(units.ram, "RAM")),
                         in_unit(known.gpu_memory_bytes, bytes_in(units.gpu_ram, "GPU RAM")),
                         cell(machine.processors), cell(expected), cell(known.gpus),
                         TrackingCell(known.counted_gpus)}};
}

std::vector<TrackingCell> tracking_row(const TrackingUnits& units, const TrackingMachine& known,
                                       const TrackingSample& sample) {
  const MachineUsage machine = sample.machine.usage();
  const TreeState& before = sample.before;
  const TreeState& state = sample.state;
  const GroupState& main = state.main;
  const GroupState& rest = state.descendants;
  const GpuMonitor::Now& gpus = sample.gpus;
  const double ram_unit = bytes_in(units.ram, "RAM");
  const double gpu_ram_unit = bytes_in(units.gpu_ram, "GPU RAM");
  const auto ram = [&](std::uint64_t bytes) { return in_unit(std::optional(bytes), ram_unit); };
  // A bound looks like a value in a column of values.
  const auto known_ram = [&](const GroupState& group) {
    return group.is_estimated ? std::nullopt : ram(group.pss_bytes);
  };
  const auto gpu_ram = [&](const std::optional<std::uint64_t>& bytes) {
    return in_unit(bytes, gpu_ram_unit);
  };
  const auto busy = [&](std::chrono::nanoseconds from, std::chrono::nanoseconds to) {
    return cpu_percent(to - from, state.at - before.at);
  };
  const auto cores = known.expected_cores ? known.expected_cores : machine.processors;
  const auto system_share = sample.machine.last_cpu_percent();
  const TrackingCell main_busy = busy(before.main.cpu, main.cpu);
  const TrackingCell rest_busy = busy(before.descendants.cpu, rest.cpu);
  const TrackingCell both_busy = known_sum(main_busy, rest_busy);
  const auto both_gpu = known_sum(gpus.main_bytes, gpus.descendants_bytes);
  // A process that has ended has no memory and no threads to read; a zombie has none any more.
  const bool is_running = main.threads > 0;
  const auto running = [&](TrackingCell value) { return is_running ? value : std::nullopt; };
  return {running(ram(main.rss_bytes)),
          known_ram(rest),
          running(known_ram(state.combined)),
          in_unit(sample.machine.last_memory_used_bytes(), ram_unit),
          gpu_ram(gpus.main_bytes),
          gpu_ram(gpus.descendants_bytes),
          gpu_ram(both_gpu),
          gpu_ram(gpus.used_bytes),
          gpus.sum_percent,
          divided(gpus.sum_percent, known.counted_gpus),
          running(static_cast<double>(main.threads)),
          static_cast<double>(rest.threads),
          running(static_cast<double>(main.threads + rest.threads)),
          system_share && machine.processors ? TrackingCell(*system_share * *machine.processors)
                                             : std::nullopt,
          system_share,
          main_busy,
          divided(main_busy, cores),
          rest_busy,
          divided(rest_busy, cores),
          both_busy,
          divided(both_busy, cores),
          to_unix(state.at)};
}

}  // namespace wattle
