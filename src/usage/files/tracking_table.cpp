#include "usage/files/tracking_table.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

#include "base/sqlite.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
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

}  // namespace wattle
