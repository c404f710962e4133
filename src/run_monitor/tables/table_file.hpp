// Files of tables: opened, decoded, and given to the parser line by line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/line_reader.hpp"
#include "base/text/split.hpp"
#include "run_monitor/tables/table_dialect.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle {

/// Gets how many bytes of all files were read, after each MiB.
using SummaryProgress = std::function<void(std::uint64_t bytes)>;

enum class TableKind : std::uint8_t { unknown, gpus, dmon, cpus, samples };

/// Counts what was read, and reports it now and then.
class ReadBytes {
 public:
  explicit ReadBytes(const SummaryProgress& report) : report_(report) {}
  void add(std::uint64_t bytes) {
    constexpr std::uint64_t kOften = std::uint64_t{1} << 20U;
    const std::uint64_t before = std::exchange(all_, all_ + bytes) / kOften;
    if (report_ && all_ / kOften != before) report_(all_);
  }

 private:
  const SummaryProgress& report_;
  std::uint64_t all_ = 0;
};

/// A file, of any encoding and dialect that its first lines show. Threads: one at a time.
class TableFile {
 public:
  /// From byte `begin` on, or from the start where the file is shorter: it may have been emptied
  /// since.
  TableFile(std::filesystem::path path, std::uint64_t begin);

  /// Properties found in the first lines.
  template <class Table>
  [[nodiscard]] Table trial() const {
    return trial<Table>(dialect<Table>());
  }

  /// Gives `table` all lines, once; how many rows they are, and what did not fit.
  template <class Table>
  [[nodiscard]] SummaryFile read_into(Table& table, ReadBytes& read) {
    if (!lines_) return {.path = path_, .problem = problem_};
    TableDialect dialect = this->dialect<Table>();
    std::size_t damaged = 0;
    const auto take = [&](std::string_view line, std::size_t damaged_before) {
      for (; damaged < damaged_before; ++damaged) table.take_damaged();
      read.add(line.size() + 1);
      const std::string_view plain = dialect.plain(line);
      if (!is_empty(plain)) table.take(plain);
    };
    std::string first_bad;
    for (std::size_t i = 0; i < first_.size(); ++i) {
      take(first_[i], damaged_before_[i]);
      if (first_bad.empty() && !table.why_bad().empty()) first_bad = first_[i];
    }
    while (const auto line = lines_->next()) take(*line, lines_->damaged());
    for (; damaged < lines_->damaged(); ++damaged) table.take_damaged();
    table.end();
    return outcome({.path = path_, .rows = table.rows(), .bad_rows = table.bad_rows()}, first_bad,
                   table.why_bad(), joined_notes(dialect.note(), table.note()));
  }

  /// True if it could be opened, and has a line.
  [[nodiscard]] bool has_text() const noexcept { return !first_.empty(); }

 private:
  void read_first_lines();
  [[nodiscard]] static bool is_empty(std::string_view line) noexcept {
    return line.empty() || (line.front() <= ' ' && trimmed(line).empty());
  }

  template <class Table>
  [[nodiscard]] Table trial(TableDialect dialect) const {
    Table table;
    for (const std::string& line : first_) {
      const std::string_view plain = dialect.plain(line);
      if (!is_empty(plain)) table.take(plain);
    }
    return table;
  }
  /// In which most of the first lines are rows.
  template <class Table>
  [[nodiscard]] TableDialect dialect() const {
    std::vector<TableDialect> dialects = possible_dialects(first_);
    if (dialects.size() == 1) return dialects.front();
    std::size_t best = 0;
    std::uint64_t most = 0;
    for (std::size_t i = 0; i < dialects.size(); ++i) {
      const std::uint64_t rows = trial<Table>(dialects[i]).readable();
      if (rows > most) best = i;
      most = std::max(most, rows);
    }
    return dialects[best];
  }
  [[nodiscard]] std::string joined_notes(const std::string& dialect,
                                         const std::string& table) const;
  [[nodiscard]] SummaryFile outcome(SummaryFile file, const std::string& first_bad,
                                    const std::string& why_bad, std::string note) const;

  std::filesystem::path path_;
  std::string problem_;              ///< why it cannot be opened
  std::optional<LineReader> lines_;  ///< absent where it cannot
  std::vector<std::string> first_;
  std::vector<std::size_t> damaged_before_;  ///< lines of the file that were damaged, by that line
};

}  // namespace wattle
