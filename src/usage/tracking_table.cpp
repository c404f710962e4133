#include "usage/tracking_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/sqlite.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

constexpr std::string_view kWhat = "tracking file";

class CsvTable final : public TrackingTable {
 public:
  CsvTable(const std::filesystem::path& path, bool overwrite) : file_(path, overwrite, kWhat) {}

  [[nodiscard]] const std::string& path() const noexcept override { return file_.path(); }
  [[nodiscard]] bool is(const OutputFile& other) const noexcept override { return file_.is(other); }
  void keep(bool wanted) noexcept override { file_.keep(wanted); }
  void clear() override {
    file_.clear();
    // What cannot be written is told now; the rest of the header needs values of the GPUs.
    if (const int error = file_.append(fmt::format("{}\n", static_columns())); error != 0) {
      throw WriteError(path(), error);
    }
  }
  [[nodiscard]] int begin(const TrackingHeader& header) override {
    return append(fmt::format("{},{},{},{}{}\n", header.ram_unit, header.gpu_ram_unit,
                              header.time_unit, csv_line(header.capacities), sample_columns()));
  }
  [[nodiscard]] int add(const std::vector<TrackingCell>& row) override {
    return append(csv_line(row));
  }

 private:
  int append(const std::string& text) { return file_ ? file_.append(text) : 0; }

  OutputFile file_;
};

/// "a REAL,b REAL": those that hold a unit are texts.
std::string typed(std::string_view columns) {
  std::string typed;
  while (!columns.empty()) {
    const std::size_t end = std::min(columns.find(','), columns.size());
    const std::string_view name = columns.substr(0, end);
    columns.remove_prefix(std::min(end + 1, columns.size()));
    typed += fmt::format("{}{} {}", typed.empty() ? "" : ",", name,
                         name.ends_with("_unit") ? "TEXT" : "REAL");
  }
  return typed;
}

SqlValue value_of(const TrackingCell& cell) { return cell ? SqlValue(*cell) : SqlValue(nullptr); }

/// gpu_tracker's tables: `static_data` with one row, and `data`.
class SqliteTable final : public TrackingTable {
 public:
  SqliteTable(const std::filesystem::path& path, bool overwrite) : file_(path, overwrite, kWhat) {}

  [[nodiscard]] const std::string& path() const noexcept override { return file_.path(); }
  [[nodiscard]] bool is(const OutputFile& other) const noexcept override { return file_.is(other); }
  void keep(bool wanted) noexcept override { file_.keep(wanted); }
  void clear() override {
    file_.clear();  // an empty file is a new database
    database_.emplace(path());
    for (const std::string& sql :
         // Rows are to outlive this process, not a failure of the machine: nobody waits for a disk.
         {std::string("PRAGMA synchronous=OFF"),
          fmt::format("CREATE TABLE static_data ({})", typed(static_columns())),
          fmt::format("CREATE TABLE data ({})", typed(sample_columns()))}) {
      if (const int error = database_->run(sql); error != 0) throw WriteError(path(), error);
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

  OutputFile file_;  ///< makes it, and removes it where nothing comes of it
  std::optional<SqliteDatabase> database_;
};

}  // namespace

std::unique_ptr<TrackingTable> open_tracking_table(const std::filesystem::path& path,
                                                   bool overwrite) {
  if (path.extension() == ".sqlite") return std::make_unique<SqliteTable>(path, overwrite);
  return std::make_unique<CsvTable>(path, overwrite);
}

}  // namespace wattle
