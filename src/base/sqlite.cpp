#include "base/sqlite.hpp"

#include <sqlite3.h>

#include <cerrno>
#include <utility>

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
                          load(library, found.step, "sqlite3_step") &&
                          load(library, found.finalize, "sqlite3_finalize") &&
                          load(library, found.system_errno, "sqlite3_system_errno");
    if (!is_whole) {
      throw Error("cannot write SQLite: libsqlite3.so.0 cannot be loaded; install libsqlite3-0: " +
                  library.error());
    }
    return found;
  }();
  return all;
}

}  // namespace

class SqliteDatabase::Impl {
 public:
  explicit Impl(const std::string& path) : sql_(functions()) {
    constexpr int kNew = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    const int result = sql_.open(path.c_str(), &database_, kNew, nullptr);
    if (result == SQLITE_OK) return;
    const int error = error_of(result);
    sql_.close(database_);
    throw WriteError(path, error);
  }
  ~Impl() { sql_.close(database_); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  int run(std::string_view text, const std::vector<SqlValue>& values) noexcept {
    const NoWriteSignals guard;
    sqlite3_stmt* statement = nullptr;
    int result =
        sql_.prepare(database_, text.data(), static_cast<int>(text.size()), &statement, nullptr);
    for (std::size_t i = 0; i < values.size() && result == SQLITE_OK; ++i) {
      result = bind(statement, static_cast<int>(i) + 1, values[i]);
    }
    while (result == SQLITE_OK || result == SQLITE_ROW) result = sql_.step(statement);
    const int error = result == SQLITE_DONE ? 0 : error_of(result);
    sql_.finalize(statement);
    return error;
  }

 private:
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
    return sql_.bind_null(statement, place);
  }

  [[nodiscard]] int error_of(int result) const noexcept {
    const int number = database_ != nullptr ? sql_.system_errno(database_) : 0;
    if (number != 0) return number;
    constexpr int kPrimary = 0xFF;
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

  const Functions& sql_;
  sqlite3* database_ = nullptr;
};

SqliteDatabase::SqliteDatabase(const std::string& path) : impl_(std::make_unique<Impl>(path)) {}
SqliteDatabase::~SqliteDatabase() = default;

int SqliteDatabase::run(std::string_view sql, const std::vector<SqlValue>& values) noexcept {
  return impl_->run(sql, values);
}

}  // namespace wattle
