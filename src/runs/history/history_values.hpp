// How a run is written into the history: values of its columns, and what shows that one is damaged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/sqlite.hpp"
#include "runs/history/history.hpp"
#include "sampling/power_course.hpp"

namespace wattle {

/// Null where it is not known.
template <class T>
SqlValue sql_value(const std::optional<T>& value) {
  if (!value) return nullptr;
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(*value);
  } else {
    return static_cast<std::int64_t>(*value);
  }
}
inline SqlValue sql_value(const std::string& text) {
  return text.empty() ? SqlValue(nullptr) : SqlValue(text);
}

/// A hash of what a list shows of a run, with its ID, git and tags.
[[nodiscard]] std::int64_t seal_of(const RunSummary& run);

/// A hash of what is shown of a run beside its record, with its ID; without its power over time.
[[nodiscard]] std::int64_t seal_of(const SavedRun& run, std::uint64_t id);

/// A hash of what `records.series` holds.
[[nodiscard]] std::int64_t seal_of_series(std::string_view packed);

/// Throws `Error` unless the record is that of the ID, which is a hash of it.
void require_whole(std::string_view record, std::uint64_t id);

/// "run k3m9x2qa is damaged: WHY; ..."
[[nodiscard]] std::string damage_text(std::uint64_t id, std::string_view why);

/// Says that the record of a run is whole, but its tags, commit or folder, which no record has, may
/// be wrong.
[[nodiscard]] std::string doubt_text(std::uint64_t id);

/// The power in `records.series`; absent: it is damaged.
[[nodiscard]] std::optional<PowerCourse> series_of(std::string_view packed);
[[nodiscard]] std::string series_damage_text(std::uint64_t id);

}  // namespace wattle
