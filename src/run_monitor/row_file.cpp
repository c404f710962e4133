#include "run_monitor/row_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/text/text.hpp"

namespace wattle {

RowFile::RowFile(const std::filesystem::path& folder, FileKind kind, bool will_clear)
    : path_(folder / kind.name),
      file_(path_, std::move(kind.first_bytes), std::move(kind.header),
            will_clear ? std::move(kind.of_nvidia_smi) : std::vector<std::string>(), kModeForOwner),
      begin_(file_.begin()) {
  constexpr std::uint64_t kLastRowsBytes = std::uint64_t{16} << 10U;
  file_.reserve(kLastRowsBytes);
}

void RowFile::clear() {
  file_.clear();
  begin_ = file_.begin();
}

void RowFile::add(std::string_view rows, std::string_view unknown, LineFile::Room room) noexcept {
  if (rows.empty()) return;
  try {
    file_.add(unknown_.empty() ? std::string(rows) : unknown_ + std::string(rows), room);
    unknown_.clear();
    begin_ = file_.begin();
    has_rows_ = true;
    if (!std::exchange(is_failing_, false)) return;
    log(fmt::format("{} can be written again; {} rows are missing in it", printable(path_.string()),
                    lost_.load()));
  } catch (const std::exception& error) {
    lost_ += static_cast<std::uint64_t>(std::ranges::count(rows, '\n'));
    keep_unknown(unknown);
    if (!std::exchange(is_failing_, true)) log(error.what());
  }
}

void RowFile::keep_unknown(std::string_view unknown) noexcept {
  if (!unknown_.empty()) return;
  try {
    unknown_ = unknown;
  } catch (const std::exception&) {
    // Out of memory: the next rows that are lost may find some.
  }
}

std::optional<std::filesystem::path> RowFile::path() const {
  return has_rows_ ? std::optional(path_) : std::nullopt;
}

}  // namespace wattle
