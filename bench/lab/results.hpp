// Everything that one run of the lab found, and how it stands to what was promised.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/cell.hpp"

namespace wattle::lab {

struct Entry {
  Cell cell;
  CellResult result;
};

struct Results {
  TrialOptions options;
  std::vector<Entry> cells;
};

/// A promise, held against the results.
struct Verdict {
  std::string target;
  std::optional<bool> is_met{};  ///< absent where nothing was tried that could tell
  std::string value;             ///< what was found
};

/// "met", "MISSED", or "-" where that is not known.
[[nodiscard]] std::string_view text_of(std::optional<bool> is_met) noexcept;

[[nodiscard]] std::vector<Verdict> judge(const Results& results);

}  // namespace wattle::lab
