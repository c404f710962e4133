#include "wattle/run_log.hpp"

#include <chrono>
#include <exception>
#include <mutex>

#include "base/files/line_file.hpp"
#include "base/files/whole_file.hpp"
#include "base/forks.hpp"
#include "base/log.hpp"
#include "base/text/piece.hpp"
#include "base/text/python_repr.hpp"
#include "run_monitor/json_text.hpp"
#include "run_monitor/tables/time_text.hpp"

namespace wattle {
namespace {

/// The start of every line.
constexpr const char* kFirstBytes = R"({"ts": ")";

void require_free(std::string_view name) {
  for (const std::string_view reserved : {"ts", "type", "name", "seconds"}) {
    if (name != reserved) continue;
    throw InvalidArgument("cannot log a phase with an extra member named \"" + std::string(name) +
                          "\": every phase has one of that name; choose another name");
  }
}

void require_free(const Value::Object& extra) {
  for (const auto& member : extra) require_free(member.first);
}

std::string line_begin(std::string_view type) {
  std::string line = kFirstBytes + utc_text(to_unix(std::chrono::steady_clock::now())) + "\", ";
  append_json_member(line, "type", Value(type));
  return line;
}

void append_member(std::string& line, std::string_view name, const Value& value) {
  line += ", ";
  append_json_member(line, name, value);
}

}  // namespace

void Value::refuse_number() {
  throw InvalidArgument(
      "cannot make a value of a whole number from 2^63 on: give it as a floating-point number or "
      "as "
      "a text");
}

struct RunLog::State {
  explicit State(Durability wanted) noexcept : durability(wanted) {}
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void log_phase(std::string_view name, Seconds seconds, const Value::Object& extra);
  void log(std::string line);
  void flush();

  /// Adds lines to what is written; called with the lock held.
  void put(std::string_view lines) {
    file->add(lines);
    if (durability == Durability::fsync) file->sync();
  }
  void put_kept() {
    if (!file || kept.empty()) return;
    put(kept);
    kept.clear();
  }
  /// In the copy that a forked child has, nothing is written: the parent's is.
  [[nodiscard]] bool is_copy() const noexcept { return forks() != made_at; }

  Durability durability;
  std::uint64_t made_at = forks();
  std::unique_ptr<LineFile> file;  ///< null: the entries are kept
  mutable std::mutex mutex;
  std::string kept;  ///< without a file: all entries
};

RunLog::State::~State() {
  try {
    flush();
  } catch (const std::exception& error) {
    wattle::log(error.what());
  }
}

void RunLog::State::log_phase(std::string_view name, Seconds seconds, const Value::Object& extra) {
  require_free(extra);
  if (is_copy()) return;
  std::string line = line_begin("phase");
  append_member(line, "name", Value(name));
  append_member(line, "seconds", Value(python_round(seconds.count(), 3)));
  for (const auto& [key, value] : extra) append_member(line, key, value);
  log(std::move(line));
}

void RunLog::State::log(std::string line) {
  line += "}\n";
  const std::lock_guard lock(mutex);
  if (file && durability != Durability::none) {
    put(line);
    return;
  }
  const std::size_t size = kept.size();
  kept += line;
  if (!file || kept.size() < kPieceBytes) return;
  try {
    put_kept();
  } catch (...) {
    kept.resize(size);  // what was kept before stays, for a later try
    throw;
  }
}

void RunLog::State::flush() {
  if (is_copy()) return;
  const std::lock_guard lock(mutex);
  put_kept();
}

RunLog::RunLog() : state_(std::make_shared<State>(Durability::none)) {}

RunLog::RunLog(std::filesystem::path path, Durability durability)
    : state_(std::make_shared<State>(durability)) {
  state_->file = std::make_unique<LineFile>(std::move(path), kFirstBytes);
}

RunLog::~RunLog() = default;
RunLog::RunLog(RunLog&&) noexcept = default;

RunLog& RunLog::operator=(RunLog&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

RunLog::State& RunLog::state() const {
  if (!state_) throw InvalidArgument("cannot use a run log that was moved: use the one it became");
  return *state_;
}

void RunLog::log_phase(std::string_view name, Seconds seconds, const Value::Object& extra) {
  state().log_phase(name, seconds, extra);
}

void RunLog::log_event(std::string_view event, const Value::Object& data) {
  State& log = state();
  if (log.is_copy()) return;
  std::string line = line_begin("event");
  append_member(line, "event", Value(event));
  if (!data.empty()) append_member(line, "data", Value(data));
  log.log(std::move(line));
}

void RunLog::flush() { state().flush(); }

void RunLog::write(const std::filesystem::path& path) const {
  const State& log = state();
  if (log.is_copy()) return;
  const std::lock_guard lock(log.mutex);
  if (log.file) {
    throw InvalidArgument("cannot write a log to " + path.string() + " that adds its entries to " +
                          log.file->path() + " as they happen: copy that file");
  }
  WholeFile(path.string(), WholeFile::Mode::replace).write(log.kept);
}

RunLog::Phase RunLog::phase(std::string name, Value::Object extra) {
  require_free(extra);
  (void)state();
  return {state_, std::move(name), std::move(extra)};
}

RunLog::Phase::Phase(std::shared_ptr<State> log, std::string name, Value::Object extra)
    : log_(std::move(log)),
      name_(std::move(name)),
      extra_(std::move(extra)),
      begin_(std::chrono::steady_clock::now()) {}

RunLog::Phase::~Phase() {
  try {
    close();
  } catch (const std::exception& error) {
    wattle::log(error.what());
  }
}

void RunLog::Phase::add(std::string name, Value value) {
  require_free(name);
  extra_.emplace_back(std::move(name), std::move(value));
}

void RunLog::Phase::close() {
  if (log_ == nullptr) return;
  const std::shared_ptr<State> log = std::exchange(log_, nullptr);
  log->log_phase(name_, std::chrono::steady_clock::now() - begin_, extra_);
}

}  // namespace wattle
