// What an output may hold on a machine without sensors: no number of energy or power but estimates,
// which are marked. Each check is a failure of the test that names the line.
#pragma once

#include <string>

namespace wattle::integration {

/// One value, or one in each line: numbers stand below "estimate" and "share" alone.
void expect_no_energy_in_json(const std::string& text, const std::string& where);

/// Each number of energy is marked with ~, and each mark is explained where it stands: in its line,
/// or in the header of its column.
void expect_no_energy_in_text(const std::string& text, const std::string& where);

/// Cells of columns of energy are empty, or "-"; those of columns "estimate_" are free.
void expect_no_energy_in_csv(const std::string& text, const std::string& where);

/// As in text: what a page shows, without its markup, scripts and styles.
void expect_no_energy_in_page(const std::string& html, const std::string& where);

/// Text of OpenMetrics: no sample of a metric of energy or power.
void expect_no_energy_in_metrics(const std::string& text, const std::string& where);

/// `text` with FOLDER for a folder's name, whose random characters may read as "6 J".
[[nodiscard]] std::string without_name(std::string text, const std::string& folder);

}  // namespace wattle::integration
