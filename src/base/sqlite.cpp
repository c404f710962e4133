#include "base/sqlite.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>

#include "base/dynlib.hpp"
#include "base/files/appended_file.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

/// The functions of the library that are used.
struct Functions {
  DynamicLibrary library = DynamicLibrary::open("libsqlite3.so.0");
  decltype(&::sqlite3_open_v2) open = library.find("sqlite3_open_v2");
  decltype(&::sqlite3_close_v2) close = library.find("sqlite3_close_v2");
  decltype(&::sqlite3_prepare_v2) prepare = library.find("sqlite3_prepare_v2");
  decltype(&::sqlite3_bind_null) bind_null = library.find("sqlite3_bind_null");
  decltype(&::sqlite3_bind_int64) bind_int64 = library.find("sqlite3_bind_int64");
  decltype(&::sqlite3_bind_double) bind_double = library.find("sqlite3_bind_double");
  decltype(&::sqlite3_bind_text) bind_text = library.find("sqlite3_bind_text");
  decltype(&::sqlite3_bind_blob) bind_blob = library.find("sqlite3_bind_blob");
  decltype(&::sqlite3_busy_timeout) busy_timeout = library.find("sqlite3_busy_timeout");
  decltype(&::sqlite3_last_insert_rowid) last_insert_rowid =
      library.find("sqlite3_last_insert_rowid");
  decltype(&::sqlite3_column_type) column_type = library.find("sqlite3_column_type");
  decltype(&::sqlite3_column_int64) column_int64 = library.find("sqlite3_column_int64");
  decltype(&::sqlite3_column_double) column_double = library.find("sqlite3_column_double");
  decltype(&::sqlite3_column_blob) column_blob = library.find("sqlite3_column_blob");
  decltype(&::sqlite3_column_bytes) column_bytes = library.find("sqlite3_column_bytes");
  decltype(&::sqlite3_errmsg) errmsg = library.find("sqlite3_errmsg");
  decltype(&::sqlite3_reset) reset = library.find("sqlite3_reset");
  decltype(&::sqlite3_clear_bindings) clear_bindings = library.find("sqlite3_clear_bindings");
  decltype(&::sqlite3_step) step = library.find("sqlite3_step");
  decltype(&::sqlite3_finalize) finalize = library.find("sqlite3_finalize");
  decltype(&::sqlite3_system_errno) system_errno = library.find("sqlite3_system_errno");
  decltype(&::sqlite3_db_config) db_config = library.find("sqlite3_db_config");
  decltype(&::sqlite3_progress_handler) progress_handler = library.find("sqlite3_progress_handler");
};

/// Throws `Error` where the library is not there, or older than 3.12 (2016).
const Functions& sqlite() {
  static const Functions all = [] {
    Functions found;
    if (found.library.has_all()) return found;
    throw Error("cannot use SQLite: libsqlite3.so.0 cannot be loaded; install libsqlite3-0: " +
                found.library.error());
  }();
  return all;
}

/// https://www.sqlite.org/uri.html
std::string immutable_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char letter : path) {
    constexpr std::string_view kSpecial = "%?#";
    const bool is_special = kSpecial.find(letter) != std::string_view::npos;
    uri += is_special ? fmt::format("%{:02x}", letter) : std::string(1, letter);
  }
  return uri + "?immutable=1";
}

/// Sets a value of a statement. Texts and bytes outlive it.
int bind(sqlite3_stmt* statement, int place, const SqlValue& value) {
  const Functions& sql = sqlite();
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return sql.bind_int64(statement, place, *number);
  }
  if (const auto* number = std::get_if<double>(&value)) {
    return sql.bind_double(statement, place, *number);
  }
  if (const auto* column = std::get_if<SqlText>(&value)) {
    const std::string& text = column->text;
    return sql.bind_text(statement, place, text.data(), static_cast<int>(text.size()),
                         SQLITE_STATIC);
  }
  if (const auto* blob = std::get_if<SqlBlob>(&value)) {
    return sql.bind_blob(statement, place, blob->bytes.data(), static_cast<int>(blob->bytes.size()),
                         SQLITE_STATIC);
  }
  return sql.bind_null(statement, place);
}

int primary(int result) noexcept { return result & 0xFF; }

/// Write errors that the user can remedy.
bool is_about_room(int error) noexcept {
  return error == EFBIG || error == ENOSPC || error == EDQUOT;
}

/// Steps of SQLite's machine between two calls of `counts_steps`, and calls that a statement may
/// make: some ten seconds. A list of a million runs takes a tenth of it.
constexpr int kStepsBetween = 1'000'000;
constexpr int kMostCalls = 1000;

/// Writes its log into the database: like a write of a file (`NoWriteSignals`).
int close_quietly(sqlite3* database) noexcept {
  const NoWriteSignals guard;
  return sqlite().close(database);
}

/// `calls` of the statement so far; other than 0 ends it.
int counts_steps(void* calls) noexcept { return ++*static_cast<int*>(calls) > kMostCalls ? 1 : 0; }

}  // namespace

bool SqlRow::is_null(int column) const noexcept {
  return sqlite().column_type(statement_, column) == SQLITE_NULL;
}

std::int64_t SqlRow::integer(int column) const noexcept {
  return sqlite().column_int64(statement_, column);
}

double SqlRow::number(int column) const noexcept {
  return sqlite().column_double(statement_, column);
}

std::string_view SqlRow::text(int column) const noexcept {
  const void* const bytes = sqlite().column_blob(statement_, column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes),
          static_cast<std::size_t>(sqlite().column_bytes(statement_, column))};
}

SqliteDatabase::SqliteDatabase(const std::string& path, Access access)
    : database_(nullptr, close_quietly) {
  (void)sqlite();  // throws now rather than at the end
  const bool reads_alone = access == Access::read_alone;
  const int flags = reads_alone ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
                                : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* opened = nullptr;
  const int result =
      sqlite().open((reads_alone ? immutable_uri(path) : path).c_str(), &opened, flags, nullptr);
  database_.reset(opened);
  if (result != SQLITE_OK) throw WriteError(path, error_of(result));
}

void SqliteDatabase::distrust() noexcept {
  // Versions that do not know one of these ignore it.
  // NOLINTBEGIN(cppcoreguidelines-pro-type-vararg): the library's function
  sqlite().db_config(database_.get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite().db_config(database_.get(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite().db_config(database_.get(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite().db_config(database_.get(), SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  // NOLINTEND(cppcoreguidelines-pro-type-vararg)
  calls_ = std::make_unique<int>(0);
  sqlite().progress_handler(database_.get(), kStepsBetween, counts_steps, calls_.get());
}

void SqliteDatabase::set_patience(std::chrono::milliseconds patience) noexcept {
  sqlite().busy_timeout(database_.get(), static_cast<int>(patience.count()));
}

int SqliteDatabase::run(std::string_view sql, const std::vector<SqlValue>& values) noexcept {
  try {
    return execute(sql, values, nullptr);
  } catch (...) {  // without rows to take, nothing but std::bad_alloc
    return ENOMEM;
  }
}

int SqliteDatabase::query(std::string_view sql, const std::vector<SqlValue>& values,
                          const TakeRow& take) {
  return execute(sql, values, &take);
}

int SqliteDatabase::execute(std::string_view text, const std::vector<SqlValue>& values,
                            const TakeRow* take) {
  const NoWriteSignals guard;
  Prepared& prepared = find(text);
  if (prepared.is_running) {  // by `take` of the same statement
    Prepared another{.statement = prepare(text)};
    return step(another, values, take);
  }
  return step(prepared, values, take);
}

SqliteDatabase::Statement SqliteDatabase::prepare(std::string_view text) {
  sqlite3_stmt* statement = nullptr;
  result_ = sqlite().prepare(database_.get(), text.data(), static_cast<int>(text.size()),
                             &statement, nullptr);
  return {statement, sqlite().finalize};
}

SqliteDatabase::Prepared& SqliteDatabase::find(std::string_view text) {
  constexpr std::size_t kMostKept = 100;
  const auto known = prepared_.find(text);
  if (known != prepared_.end() && known->second.statement) return known->second;
  if (prepared_.size() >= kMostKept) {
    std::erase_if(prepared_, [](const auto& kept) { return !kept.second.is_running; });
  }
  Prepared& prepared =
      prepared_.try_emplace(std::string(text), Prepared{{nullptr, sqlite().finalize}})
          .first->second;
  prepared.statement = prepare(text);
  return prepared;
}

int SqliteDatabase::step(Prepared& prepared, const std::vector<SqlValue>& values,
                         const TakeRow* take) {
  sqlite3_stmt* const statement = prepared.statement.get();
  if (statement == nullptr) return error_of(result_);
  // However it ends, also by what `take` throws.
  const auto finish = [&prepared](sqlite3_stmt* used) {
    sqlite().reset(used);
    sqlite().clear_bindings(used);
    prepared.is_running = false;
  };
  prepared.is_running = true;
  if (calls_) *calls_ = 0;
  const std::unique_ptr<sqlite3_stmt, decltype(finish)> in_use(statement, finish);
  int result = SQLITE_OK;
  for (std::size_t i = 0; i < values.size() && result == SQLITE_OK; ++i) {
    result = bind(statement, static_cast<int>(i) + 1, values[i]);
  }
  while (result == SQLITE_OK || result == SQLITE_ROW) {
    if (result == SQLITE_ROW && take != nullptr) (*take)(SqlRow(statement));
    errno = 0;
    result = sqlite().step(statement);
  }
  // SQLite keeps the number of an error, but not of one of COMMIT.
  const int last_error = errno;
  result_ = result == SQLITE_DONE ? SQLITE_OK : result;
  if (result == SQLITE_DONE) return 0;
  const int error = error_of(result);
  return error == EIO && is_about_room(last_error) ? last_error : error;
}

int SqliteDatabase::error_of(int result) const noexcept {
  // SQLite keeps it: after another failure it is that of an earlier one.
  const bool has_number = primary(result) == SQLITE_IOERR || primary(result) == SQLITE_CANTOPEN;
  const int number = database_ && has_number ? sqlite().system_errno(database_.get()) : 0;
  if (number != 0) return number;
  switch (primary(result)) {
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

std::int64_t SqliteDatabase::last_row_id() const noexcept {
  return sqlite().last_insert_rowid(database_.get());
}

std::string SqliteDatabase::message() const { return sqlite().errmsg(database_.get()); }

bool SqliteDatabase::is_misshapen() const noexcept {
  switch (primary(result_)) {
    case SQLITE_ERROR:
    case SQLITE_INTERRUPT:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
    case SQLITE_AUTH:
      return true;
    default:
      return false;
  }
}

bool SqliteDatabase::is_damaged() const noexcept {
  return primary(result_) == SQLITE_CORRUPT || primary(result_) == SQLITE_NOTADB;
}

}  // namespace wattle
