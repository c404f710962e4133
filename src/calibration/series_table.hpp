// Power over time of a run: the files of wattle run --series.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/numbers/value_range.hpp"
#include "calibration/meter_rows.hpp"
#include "run_monitor/tables/table_figures.hpp"

namespace wattle {

/// Takes lines of one or several such files: see `TableFile`. Threads: one at a time.
class SeriesTable : public RowCounts {
 public:
  /// A line without its end.
  void take(std::string_view line);

  /// Domains that count in a total, which do not overlap.
  [[nodiscard]] std::vector<RecordedDomainPower> domains() const;
  /// The others, by name.
  [[nodiscard]] std::vector<std::string> left_out() const;

 private:
  struct SeriesValue {
    double time_s = 0.0;
    double elapsed_s = 0.0;
    std::optional<double> power_w;
  };
  [[nodiscard]] bool take_row(std::string_view line);
  [[nodiscard]] static PowerCurve curve_of(const std::vector<SeriesValue>& values);

  std::map<std::string, std::vector<SeriesValue>, std::less<>> values_;
  std::map<std::string, ValueRange, std::less<>> use_percent_;
};

}  // namespace wattle
