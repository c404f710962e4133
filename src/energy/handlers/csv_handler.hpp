// Samples as lines of CSV: cells between semicolons, lines ended by "\n", quoted as in RFC 4180.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wattle/energy_trace.hpp"
#include "wattle/handlers.hpp"

namespace wattle {

/// Adds `text` as a cell: in quotes where it holds a separator, a quote or a line end, else as it
/// is. Its bytes need not be text.
void append_csv_cell(std::string& out, std::string_view text);

/// "timestamp;tag;duration;package_0;dram_0", without a line end. Ends in ";" where there is no
/// domain, and so do the rows.
[[nodiscard]] std::string csv_header(const std::vector<std::string>& domains,
                                     SampleDetails details = {});

/// Adds a line with its line end.
void append_csv_row(std::string& out, const EnergySample& sample, SampleDetails details = {});

/// True for what a file starts with, if its first line is `header`. `beginning` is the whole file,
/// or more bytes of it than `header` has.
[[nodiscard]] bool begins_with_header(std::string_view beginning, std::string_view header) noexcept;

/// Finds out whether text ends within a quoted cell. A quote opens one only as its first byte;
/// elsewhere in a cell that is not quoted it is a byte like others. Threads: one.
class QuotedCells {
 public:
  /// The text's next piece.
  void read(std::string_view piece) noexcept;
  /// True if the quotes of the last cell are still open.
  [[nodiscard]] bool is_open() const noexcept { return open_; }

 private:
  bool open_ = false;
  bool last_quote_closed_ = false;  ///< a quote right after it makes both one quote of the cell
  char last_ = '\n';
};

}  // namespace wattle
