#include "hardware/row_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "base/log.hpp"
#include "base/text.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

/// Where there is no such file, or it is a pipe, there is nothing to throw away.
const std::filesystem::path& emptied(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return path;
  std::filesystem::resize_file(path, 0, error);
  if (error) throw WriteError(path.string(), error.value());
  return path;
}

}  // namespace

RowFile::RowFile(const std::filesystem::path& folder, FileKind kind, bool overwrite)
    : path_(folder / kind.name),
      file_(overwrite ? emptied(path_) : path_, std::move(kind.first_bytes),
            std::move(kind.header)) {}

void RowFile::add(std::string_view rows) noexcept {
  if (rows.empty()) return;
  try {
    file_.add(rows);
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
