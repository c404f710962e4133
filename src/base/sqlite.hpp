// SQLite databases that this program writes. The library is loaded by who opens one, so that nobody
// else waits for it at the start of a program.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace wattle {

/// A value of a row: null, a number, a text.
using SqlValue = std::variant<std::nullptr_t, std::int64_t, double, std::string>;

/// A database file, open. Each `run` is a transaction: a process that is killed leaves those
/// before. Threads: one at a time.
class SqliteDatabase {
 public:
  /// Makes a new database. Throws `Error` where there is no libsqlite3, `WriteError`.
  explicit SqliteDatabase(const std::string& path);
  ~SqliteDatabase();
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  /// One statement of SQL with its values, "?". 0, or the `errno` that is nearest to what failed.
  [[nodiscard]] int run(std::string_view sql, const std::vector<SqlValue>& values = {}) noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace wattle
