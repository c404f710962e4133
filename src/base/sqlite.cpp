#include "base/sqlite.hpp"

#include <sqlite3.h>

#include <cerrno>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <string>

#include "base/appending.hpp"
#include "base/dynlib.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

/// The functions of the library that are used.
struct Functions {
  DynamicLibrary library;
  decltype(&::sqlite3_open_v2) open = nullptr;
  decltype(&::sqlite3_close_v2) close = nullptr;
  decltype(&::sqlite3_prepare_v2) prepare = nullptr;
  decltype(&::sqlite3_bind_null) bind_null = nullptr;
  decltype(&::sqlite3_bind_int64) bind_int64 = nullptr;
  decltype(&::sqlite3_bind_double) bind_double = nullptr;
  decltype(&::sqlite3_bind_text) bind_text = nullptr;
  decltype(&::sqlite3_bind_blob) bind_blob = nullptr;
  decltype(&::sqlite3_busy_timeout) busy_timeout = nullptr;
  decltype(&::sqlite3_changes) changes = nullptr;
  decltype(&::sqlite3_last_insert_rowid) last_insert_rowid = nullptr;
  decltype(&::sqlite3_column_type) column_type = nullptr;
  decltype(&::sqlite3_column_int64) column_int64 = nullptr;
  decltype(&::sqlite3_column_double) column_double = nullptr;
  decltype(&::sqlite3_column_blob) column_blob = nullptr;
  decltype(&::sqlite3_column_bytes) column_bytes = nullptr;
  decltype(&::sqlite3_errmsg) errmsg = nullptr;
  decltype(&::sqlite3_reset) reset = nullptr;
  decltype(&::sqlite3_clear_bindings) clear_bindings = nullptr;
  decltype(&::sqlite3_step) step = nullptr;
  decltype(&::sqlite3_finalize) finalize = nullptr;
  decltype(&::sqlite3_system_errno) system_errno = nullptr;
};

template <class Function>
bool load(const DynamicLibrary& library, Function*& function, const char* name) {
  function = library.find<Function>(name);
  return function != nullptr;
}

/// Throws `Error` where the library is not there, or older than 3.12 (2016).
const Functions& functions() {
  static const Functions all = [] {
    Functions found;
    found.library = DynamicLibrary::open("libsqlite3.so.0");
    const DynamicLibrary& library = found.library;
    const bool is_whole = library && load(library, found.open, "sqlite3_open_v2") &&
                          load(library, found.close, "sqlite3_close_v2") &&
                          load(library, found.prepare, "sqlite3_prepare_v2") &&
                          load(library, found.bind_null, "sqlite3_bind_null") &&
                          load(library, found.bind_int64, "sqlite3_bind_int64") &&
                          load(library, found.bind_double, "sqlite3_bind_double") &&
                          load(library, found.bind_text, "sqlite3_bind_text") &&
                          load(library, found.bind_blob, "sqlite3_bind_blob") &&
                          load(library, found.busy_timeout, "sqlite3_busy_timeout") &&
                          load(library, found.changes, "sqlite3_changes") &&
                          load(library, found.last_insert_rowid, "sqlite3_last_insert_rowid") &&
                          load(library, found.column_type, "sqlite3_column_type") &&
                          load(library, found.column_int64, "sqlite3_column_int64") &&
                          load(library, found.column_double, "sqlite3_column_double") &&
                          load(library, found.column_blob, "sqlite3_column_blob") &&
                          load(library, found.column_bytes, "sqlite3_column_bytes") &&
                          load(library, found.errmsg, "sqlite3_errmsg") &&
                          load(library, found.reset, "sqlite3_reset") &&
                          load(library, found.clear_bindings, "sqlite3_clear_bindings") &&
                          load(library, found.step, "sqlite3_step") &&
                          load(library, found.finalize, "sqlite3_finalize") &&
                          load(library, found.system_errno, "sqlite3_system_errno");
    if (!is_whole) {
      throw Error("cannot use SQLite: libsqlite3.so.0 cannot be loaded; install libsqlite3-0: " +
                  library.error());
    }
    return found;
  }();
  return all;
}

/// https://www.sqlite.org/uri.html
std::string immutable_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char letter : path) {
    constexpr std::string_view kSpecial = "%?#";
    if (kSpecial.find(letter) == std::string_view::npos) {
      uri += letter;
    } else {
      constexpr const char* kDigits = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(letter);
      uri.append({'%', kDigits[byte >> 4U], kDigits[byte & 0xFU]});
    }
  }
  return uri + "?immutable=1";
}

/// The row that a statement stands at.
class StatementRow : public SqlRow {
 public:
  StatementRow(const Functions& sql, sqlite3_stmt* statement) : sql_(sql), statement_(statement) {}
  [[nodiscard]] bool is_null(int column) const noexcept override {
    return sql_.column_type(statement_, column) == SQLITE_NULL;
  }
  [[nodiscard]] std::int64_t integer(int column) const noexcept override {
    return sql_.column_int64(statement_, column);
  }
  [[nodiscard]] double number(int column) const noexcept override {
    return sql_.column_double(statement_, column);
  }
  [[nodiscard]] std::string_view text(int column) const noexcept override {
    const void* const bytes = sql_.column_blob(statement_, column);
    if (bytes == nullptr) return {};
    return {static_cast<const char*>(bytes),
            static_cast<std::size_t>(sql_.column_bytes(statement_, column))};
  }

 private:
  const Functions& sql_;
  sqlite3_stmt* statement_;
};

}  // namespace

class SqliteDatabase::Impl {
 public:
  Impl(const std::string& path, Access access) : sql_(functions()) {
    const bool reads_alone = access == Access::read_alone;
    const int flags = reads_alone ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
                                  : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    const int result =
        sql_.open((reads_alone ? immutable_uri(path) : path).c_str(), &database_, flags, nullptr);
    if (result == SQLITE_OK) return;
    const int error = error_of(result);
    sql_.close(database_);
    throw WriteError(path, error);
  }
  ~Impl() {
    prepared_.clear();
    sql_.close(database_);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  /// `take` may be null.
  int run(std::string_view text, const std::vector<SqlValue>& values, const TakeRow* take) {
    const NoWriteSignals guard;
    Prepared& prepared = find(text);
    if (prepared.is_running) {  // by `take` of the same statement
      Prepared another{.statement = prepare(text)};
      return step(another, values, take);
    }
    return step(prepared, values, take);
  }

  void set_patience(std::chrono::milliseconds patience) noexcept {
    sql_.busy_timeout(database_, static_cast<int>(patience.count()));
  }
  [[nodiscard]] std::int64_t changes() const noexcept { return sql_.changes(database_); }
  [[nodiscard]] std::int64_t last_row_id() const noexcept {
    return sql_.last_insert_rowid(database_);
  }
  [[nodiscard]] std::string message() const { return sql_.errmsg(database_); }
  [[nodiscard]] bool is_damaged() const noexcept {
    const int primary = result_ & kPrimary;
    return primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB;
  }

 private:
  using Statement = std::unique_ptr<sqlite3_stmt, decltype(&::sqlite3_finalize)>;
  struct Prepared {
    Statement statement;
    bool is_running = false;
  };

  /// Null if the text cannot be compiled: `result_` says why.
  Statement prepare(std::string_view text) {
    sqlite3_stmt* statement = nullptr;
    result_ =
        sql_.prepare(database_, text.data(), static_cast<int>(text.size()), &statement, nullptr);
    return {statement, sql_.finalize};
  }

  /// Statements are compiled once: that takes longer than to run them.
  Prepared& find(std::string_view text) {
    constexpr std::size_t kMostKept = 100;
    const auto known = prepared_.find(text);
    if (known != prepared_.end() && known->second.statement) return known->second;
    if (prepared_.size() >= kMostKept) {
      std::erase_if(prepared_, [](const auto& kept) { return !kept.second.is_running; });
    }
    Prepared& prepared =
        prepared_.try_emplace(std::string(text), Prepared{{nullptr, sql_.finalize}}).first->second;
    prepared.statement = prepare(text);
    return prepared;
  }

  int step(Prepared& prepared, const std::vector<SqlValue>& values, const TakeRow* take) {
    sqlite3_stmt* const statement = prepared.statement.get();
    if (statement == nullptr) return error_of(result_);
    // However it ends, also by what `take` throws.
    const auto finish = [this, &prepared](sqlite3_stmt* used) {
      sql_.reset(used);
      sql_.clear_bindings(used);
      prepared.is_running = false;
    };
    prepared.is_running = true;
    const std::unique_ptr<sqlite3_stmt, decltype(finish)> in_use(statement, finish);
    int result = SQLITE_OK;
    for (std::size_t i = 0; i < values.size() && result == SQLITE_OK; ++i) {
      result = bind(statement, static_cast<int>(i) + 1, values[i]);
    }
    const StatementRow row(sql_, statement);
    while (result == SQLITE_OK || result == SQLITE_ROW) {
      if (result == SQLITE_ROW && take != nullptr) (*take)(row);
      result = sql_.step(statement);
    }
    result_ = result == SQLITE_DONE ? SQLITE_OK : result;
    return result == SQLITE_DONE ? 0 : error_of(result);
  }

  int bind(sqlite3_stmt* statement, int place, const SqlValue& value) const noexcept {
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      return sql_.bind_int64(statement, place, *number);
    }
    if (const auto* number = std::get_if<double>(&value)) {
      return sql_.bind_double(statement, place, *number);
    }
    if (const auto* text = std::get_if<std::string>(&value)) {
      // The text outlives the statement.
      return sql_.bind_text(statement, place, text->data(), static_cast<int>(text->size()),
                            SQLITE_STATIC);
    }
    if (const auto* blob = std::get_if<SqlBlob>(&value)) {
      return sql_.bind_blob(statement, place, blob->bytes.data(),
                            static_cast<int>(blob->bytes.size()), SQLITE_STATIC);
    }
    return sql_.bind_null(statement, place);
  }

  [[nodiscard]] int error_of(int result) const noexcept {
    const int number = database_ != nullptr ? sql_.system_errno(database_) : 0;
    if (number != 0) return number;
    switch (result & kPrimary) {
      case SQLITE_FULL:
        return ENOSPC;
      case SQLITE_READONLY:
        return EROFS;
      case SQLITE_BUSY:
      case SQLITE_LOCKED:
        return EBUSY;
      case SQLITE_NOMEM:
        return ENOMEM;
      default:
        return EIO;
    }
  }

  static constexpr int kPrimary = 0xFF;

  const Functions& sql_;
  sqlite3* database_ = nullptr;
  std::map<std::string, Prepared, std::less<>> prepared_;
  int result_ = SQLITE_OK;  ///< of the last statement
};

SqliteDatabase::SqliteDatabase(const std::string& path, Access access)
    : impl_(std::make_unique<Impl>(path, access)) {}
SqliteDatabase::~SqliteDatabase() = default;
SqliteDatabase::SqliteDatabase(SqliteDatabase&&) noexcept = default;
SqliteDatabase& SqliteDatabase::operator=(SqliteDatabase&&) noexcept = default;

void SqliteDatabase::set_patience(std::chrono::milliseconds patience) noexcept {
  impl_->set_patience(patience);
}

int SqliteDatabase::run(std::string_view sql, const std::vector<SqlValue>& values) noexcept {
  try {
    return impl_->run(sql, values, nullptr);
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

int SqliteDatabase::query(std::string_view sql, const std::vector<SqlValue>& values,
                          const TakeRow& take) {
  return impl_->run(sql, values, &take);
}

std::int64_t SqliteDatabase::changes() const noexcept { return impl_->changes(); }
std::int64_t SqliteDatabase::last_row_id() const noexcept { return impl_->last_row_id(); }
std::string SqliteDatabase::message() const { return impl_->message(); }
bool SqliteDatabase::is_damaged() const noexcept { return impl_->is_damaged(); }

}  // namespace wattle
