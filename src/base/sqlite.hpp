// SQLite databases. The library is loaded when the first database is opened, so that no other
// program waits for it at its start.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace wattle {

/// Bytes of any value, as a column of a row.
struct SqlBlob {
  std::string_view bytes;
};

/// A value of a row: null, a number, a text, bytes.
using SqlValue = std::variant<std::nullptr_t, std::int64_t, double, std::string, SqlBlob>;

/// One row of a result. Columns count from 0. Valid during the call that gets it.
class SqlRow {
 public:
  virtual ~SqlRow() = default;
  [[nodiscard]] virtual bool is_null(int column) const noexcept = 0;
  [[nodiscard]] virtual std::int64_t integer(int column) const noexcept = 0;
  [[nodiscard]] virtual double number(int column) const noexcept = 0;
  /// A text, or bytes; empty for null.
  [[nodiscard]] virtual std::string_view text(int column) const noexcept = 0;
};
using TakeRow = std::function<void(const SqlRow&)>;

/// A database file, open. Without `BEGIN`, each `run` is a transaction: a process that is killed
/// keeps those before. Threads: one at a time.
class SqliteDatabase {
 public:
  enum class Access : std::uint8_t {
    change,
    /// Reads, without the files that SQLite makes beside a database: what its log holds (PATH-wal)
    /// is not seen, and nobody may change the database meanwhile.
    read_alone,
  };
  /// Opens a database, or makes it. Throws `Error` if libsqlite3 is missing, `WriteError`.
  explicit SqliteDatabase(const std::string& path, Access access = Access::change);
  ~SqliteDatabase();
  SqliteDatabase(SqliteDatabase&&) noexcept;
  SqliteDatabase& operator=(SqliteDatabase&&) noexcept;
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  /// How long a statement waits for other processes that use the file. 0 at first.
  void set_patience(std::chrono::milliseconds patience) noexcept;

  /// One statement of SQL with its values, "?". 0, or the `errno` that is nearest to what failed.
  [[nodiscard]] int run(std::string_view sql, const std::vector<SqlValue>& values = {}) noexcept;
  /// As `run`, and gives each row of the result to `take`. Throws what `take` throws.
  [[nodiscard]] int query(std::string_view sql, const std::vector<SqlValue>& values,
                          const TakeRow& take);

  /// Rows that the last INSERT, UPDATE or DELETE changed.
  [[nodiscard]] std::int64_t changes() const noexcept;
  [[nodiscard]] std::int64_t last_row_id() const noexcept;
  /// SQLite's message for the last failure.
  [[nodiscard]] std::string message() const;
  /// True if the last failure was that the file is no database, or a damaged one.
  [[nodiscard]] bool is_damaged() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace wattle
