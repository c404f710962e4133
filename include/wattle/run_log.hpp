// A log of a run: what happened when and how long it took, one JSON object a line.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "wattle/clock.hpp"
#include "wattle/error.hpp"
#include "wattle/export.hpp"

namespace wattle {

namespace detail {
/// A range whose elements are values; texts and paths are ranges too, but values themselves.
template <class List, class Value>
concept ListOfValues =
    !std::same_as<List, Value> && !std::same_as<List, std::filesystem::path> &&
    !std::convertible_to<const List&, std::string_view> && std::ranges::input_range<const List> &&
    !std::same_as<std::ranges::range_value_t<List>, Value> &&
    std::convertible_to<std::ranges::range_value_t<List>, Value>;
}  // namespace detail

/// A value of JSON: null, true and false, a whole number, another number, a text, a list, or
/// names with values. Texts are UTF-8; what is none is written as U+FFFD. NaN and infinities are
/// written as null. Threads: a value type.
class WATTLE_EXPORT Value {
 public:
  using Array = std::vector<Value>;
  /// In the order in which they are written; the names should differ.
  using Object = std::vector<std::pair<std::string, Value>>;
  /// Lists and objects are shared by the copies of a value, and never null.
  using Content = std::variant<std::nullptr_t, bool, std::int64_t, double, std::string,
                               std::shared_ptr<const Array>, std::shared_ptr<const Object>>;

  // NOLINTBEGIN(google-explicit-constructor): each of these is a value
  Value(std::nullptr_t = nullptr) noexcept {}
  Value(std::same_as<bool> auto truth) noexcept : content_(truth) {}
  /// Throws `InvalidArgument` for a number from 2^63 on.
  template <std::integral Number>
    requires(!std::same_as<Number, bool> && !std::same_as<Number, char>)
  Value(Number number) : content_(static_cast<std::int64_t>(number)) {
    if (!std::in_range<std::int64_t>(number)) refuse_number();
  }
  Value(std::floating_point auto number) noexcept : content_(static_cast<double>(number)) {}
  /// A text of one letter.
  Value(std::same_as<char> auto letter) : content_(std::string(1, letter)) {}
  Value(std::string text) noexcept : content_(std::move(text)) {}
  Value(std::string_view text) : content_(std::string(text)) {}
  Value(const char* text) : content_(std::string(text)) {}
  Value(const std::filesystem::path& path) : content_(path.string()) {}
  Value(Array list) : content_(std::make_shared<const Array>(std::move(list))) {}
  Value(Object members) : content_(std::make_shared<const Object>(std::move(members))) {}
  /// A list: `{1, "two"}`. Names with values are a `Value::Object`.
  Value(std::initializer_list<Value> list) : Value(Array(list)) {}
  /// A list of anything that is a value: `std::vector<double>`, `std::set<std::string>` ...
  template <class List>
    requires detail::ListOfValues<List, Value>
  Value(const List& list) : Value(list_of(list)) {}
  /// Null where it is empty.
  template <class Content>
    requires std::convertible_to<const Content&, Value>
  Value(const std::optional<Content>& content) : Value(content ? Value(*content) : Value()) {}
  Value(std::nullopt_t) noexcept {}
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] const Content& content() const noexcept { return content_; }

 private:
  [[noreturn]] static void refuse_number();
  template <class List>
  [[nodiscard]] static Array list_of(const List& list) {
    Array values;
    for (const auto& one : list) {
      values.emplace_back(static_cast<const std::ranges::range_value_t<List>&>(one));
    }
    return values;
  }

  Content content_;
};

/// How far a line has come when the call that logs it returns.
enum class Durability : std::uint8_t {
  none,   ///< kept in this process, written when much has come together: lost if it is killed
  flush,  ///< with the operating system: lost if the machine fails, not if the process is killed
  fsync,  ///< on the disk
};

/// Phases and events of a run, as lines of JSON:
///
///     {"ts": "2026-11-21T01:50:09.123+00:00", "type": "phase", "name": "compile",
///     "seconds": 1.235}
///     {"ts": "2026-11-21T01:50:09.125+00:00", "type": "event", "event": "start", "data": {"gpus":
///     8}}
///
/// `ts` is the time of logging (UTC); a phase is logged at its end. All of a line is ASCII.
///
/// Opened on a path, it adds each line to the file at once, by one system call. `tail -f` follows
/// it, and a killed process leaves all lines. The end of a line that was cut off (by a kill, or a
/// power failure) is taken away when the file is opened again. Several logs may share a file. A
/// file that is deleted while the log is open is made again. A log that was moved from refuses
/// everything with `InvalidArgument`. Threads: any. In a forked child it does nothing.
class WATTLE_EXPORT RunLog {
 public:
  class Phase;

  /// Keeps the entries until `write`.
  RunLog();
  /// Adds to `path`; makes it where it does not exist, and the folders above it. Throws
  /// `WriteError`, and `FormatError` for a file that holds something else.
  explicit RunLog(std::filesystem::path path, Durability durability = Durability::flush);
  /// Writes what `Durability::none` kept back, once no phase is open any more; where that fails,
  /// it is reported to the log (`set_log`).
  ~RunLog();
  RunLog(RunLog&&) noexcept;
  RunLog& operator=(RunLog&&) noexcept;

  /// A phase took `seconds`, written with three decimals. The members of `extra` follow in the same
  /// object. Throws `InvalidArgument` if one is named ts, type, name or seconds, and `WriteError`
  /// (disk full ...). Nothing is logged then, and the next entry is tried again.
  void log_phase(std::string_view name, Seconds seconds, const Value::Object& extra = {});
  /// Something happened. `data` is left out where it is empty. Throws `WriteError`.
  void log_event(std::string_view event, const Value::Object& data = {});

  /// Starts a phase that times itself and is logged when the result goes. `extra` as for
  /// `log_phase`, checked now. The log may be moved, or go, before the phase ends.
  [[nodiscard]] Phase phase(std::string name, Value::Object extra = {});

  /// Writes all entries so far to a file in place of what it held. Throws `WriteError`, and
  /// `InvalidArgument` for a log that was opened on a path: there they are written already.
  void write(const std::filesystem::path& path) const;
  /// Writes what `Durability::none` keeps back. Throws `WriteError`: it is kept, and tried again
  /// with what comes next.
  void flush();

 private:
  struct State;
  /// Throws `InvalidArgument` for a log that was moved from.
  [[nodiscard]] State& state() const;

  std::shared_ptr<State> state_;  ///< open phases have it too
};

/// The time from here to the end of the scope, also when that is left by an exception.
/// Threads: one at a time.
class WATTLE_EXPORT RunLog::Phase {
 public:
  /// As `close`; what cannot be written is reported to the log (`set_log`).
  ~Phase();
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;

  /// One more member: what is known only at the end. Throws `InvalidArgument` as `log_phase`.
  void add(std::string name, Value value);
  /// Logs the phase now; does nothing the second time. Throws `WriteError`.
  void close();

 private:
  friend class RunLog;
  Phase(std::shared_ptr<State> log, std::string name, Value::Object extra);

  std::shared_ptr<State> log_;  ///< null once it is logged
  std::string name_;
  Value::Object extra_;
  TimePoint begin_;
};

}  // namespace wattle
