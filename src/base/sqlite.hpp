// SQLite databases. The library is loaded when the first database is opened, so that no other
// program waits for it at its start.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace wattle {

/// Bytes of any value, as a column of a row.
struct SqlBlob {
  std::string_view bytes;
};

/// A text, as a column of a row. A class of its own: libstdc++ 12 takes a variant that holds a
/// `std::string` for one that always has a value, and ends in undefined behavior if there is no
/// memory for a copy.
struct SqlText {
  // NOLINTBEGIN(google-explicit-constructor): every text may become one
  SqlText(std::string value) noexcept : text(std::move(value)) {}
  SqlText(std::string_view value) : text(value) {}
  SqlText(const char* value) : text(value) {}
  // NOLINTEND(google-explicit-constructor)

  std::string text;
};

/// A value of a row: null, a number, a text, bytes.
using SqlValue = std::variant<std::nullptr_t, std::int64_t, double, SqlText, SqlBlob>;

/// One row of a result. Columns count from 0. Valid during the call that gets it.
class SqlRow {
 public:
  explicit SqlRow(sqlite3_stmt* statement) noexcept : statement_(statement) {}
  [[nodiscard]] bool is_null(int column) const noexcept;
  [[nodiscard]] std::int64_t integer(int column) const noexcept;
  [[nodiscard]] double number(int column) const noexcept;
  /// A text, or bytes; empty for null.
  [[nodiscard]] std::string_view text(int column) const noexcept;

 private:
  sqlite3_stmt* statement_;
};
using TakeRow = std::function<void(const SqlRow&)>;

/// A database file, open. Without `BEGIN`, each `run` is a transaction: a process that is killed
/// keeps those before. Threads: one at a time.
class SqliteDatabase {
 public:
  enum class Access : std::uint8_t {
    change,
    /// Reads, without the files that SQLite makes beside a database: what its log holds (PATH-wal)
    /// is not read, and no process may change the database during that.
    read_alone,
  };
  /// Opens a database, or makes it. Throws `Error` if libsqlite3 is missing, `WriteError`.
  explicit SqliteDatabase(const std::string& path, Access access = Access::change);

  /// For a file that anybody may have written: its triggers, views and expressions do nothing, and
  /// a statement that takes too many steps fails.
  void distrust() noexcept;

  /// How long a statement waits for other processes that use the file. 0 at first.
  void set_patience(std::chrono::milliseconds patience) noexcept;

  /// One statement of SQL with its values, "?". 0, or the `errno` that is nearest to what failed.
  [[nodiscard]] int run(std::string_view sql, const std::vector<SqlValue>& values = {}) noexcept;
  /// As `run`, and gives each row of the result to `take`. Throws what `take` throws.
  [[nodiscard]] int query(std::string_view sql, const std::vector<SqlValue>& values,
                          const TakeRow& take);

  [[nodiscard]] std::int64_t last_row_id() const noexcept;
  /// SQLite's message for the last failure.
  [[nodiscard]] std::string message() const;
  /// True if the last failure was that the file is no database, or a damaged one.
  [[nodiscard]] bool is_damaged() const noexcept;
  /// True if the last failure was in what the file holds (a table that is missing, too many steps),
  /// which no `errno` describes.
  [[nodiscard]] bool is_misshapen() const noexcept;

 private:
  using Statement = std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)>;
  struct Prepared {
    Statement statement;
    bool is_running = false;
  };

  /// `take` may be null.
  int execute(std::string_view text, const std::vector<SqlValue>& values, const TakeRow* take);
  /// Null if the text cannot be compiled: `result_` says why.
  Statement prepare(std::string_view text);
  /// Statements are compiled once: that takes longer than to run them.
  Prepared& find(std::string_view text);
  int step(Prepared& prepared, const std::vector<SqlValue>& values, const TakeRow* take);
  [[nodiscard]] int error_of(int result) const noexcept;

  std::unique_ptr<int> calls_{};  ///< of the step limit; stays where it is when this is moved
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> database_;
  std::map<std::string, Prepared, std::less<>> prepared_{};  ///< goes before the database
  int result_ = 0;                                           ///< of the last statement
};

}  // namespace wattle
