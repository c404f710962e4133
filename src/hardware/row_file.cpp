#include "hardware/row_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "base/log.hpp"
#include "base/text.hpp"

namespace wattle {

RowFile::RowFile(const std::filesystem::path& folder, FileKind kind)
    : path_(folder / kind.name),
      file_(path_, std::move(kind.first_bytes), std::move(kind.header)),
      begin_(file_.begin()) {}

void RowFile::clear() {
  file_.clear();
  begin_ = file_.begin();
}

void RowFile::add(std::string_view rows) noexcept {
  if (rows.empty()) return;
  try {
    file_.add(rows);
    begin_ = file_.begin();
    has_rows_ = true;
    if (!std::exchange(is_failing_, false)) return;
    log(fmt::format("{} can be written again; {} rows are missing in it", printable(path_.string()),
                    lost_.load()));
  } catch (const std::exception& error) {
    lost_ += static_cast<std::uint64_t>(std::ranges::count(rows, '\n'));
    if (!std::exchange(is_failing_, true)) log(error.what());
  }
}

std::optional<std::filesystem::path> RowFile::path() const {
  return has_rows_ ? std::optional(path_) : std::nullopt;
}

}  // namespace wattle
