// Power over time of a run: the files of wattle run --series.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "calibration/meter_rows.hpp"
#include "run_monitor/table_figures.hpp"

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
  struct Value {
    double time_s = 0.0;
    double elapsed_s = 0.0;
    std::optional<double> power_w;
  };
  /// The least and the most that was seen.
  struct Range {
    double least = 1e300;
    double most = -1e300;
  };

  [[nodiscard]] bool take_row(std::string_view line);
  [[nodiscard]] static PowerCurve curve_of(const std::vector<Value>& values);

  std::map<std::string, std::vector<Value>, std::less<>> values_;
  std::map<std::string, Range, std::less<>> use_percent_;
};

}  // namespace wattle
