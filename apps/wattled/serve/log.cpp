#include "serve/log.hpp"

#include <fmt/format.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "base/text/text.hpp"
#include "serve/log_queue.hpp"

namespace wattle::daemon {
namespace {

constexpr std::size_t kLongestLine = 2000;
constexpr const char* kPattern = "%Y-%m-%dT%H:%M:%S.%e%z %l %v";
constexpr const char* kName = "wattled";
/// A working reader takes the last lines sooner.
constexpr std::chrono::milliseconds kPatienceAtEnd{200};

std::string loss_line(std::uint64_t lost) {
  const std::string text =
      fmt::format("{} lines of this log were lost: stderr was not read in time", lost);
  spdlog::memory_buf_t line;
  spdlog::pattern_formatter(kPattern).format({kName, spdlog::level::warn, text}, line);
  return {line.data(), line.size()};
}

LogQueue& queue() {
  static LogQueue made(STDERR_FILENO, loss_line);
  return made;
}

class QueueSink final : public spdlog::sinks::base_sink<std::mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    queue().push({line.data(), line.size()});
  }
  void flush_() override {}
};

spdlog::logger& logger() {
  static const auto made = [] {
    auto log = std::make_shared<spdlog::logger>(kName, std::make_shared<QueueSink>());
    log->set_pattern(kPattern);
    return log;
  }();
  return *made;
}

void write(spdlog::level::level_enum level, std::string_view message) {
  // Escaping twice is ugly, but an unescaped line breaks the log.
  logger().log(level, "{}", printable(message, kLongestLine));
}

}  // namespace

void log_info(std::string_view message) { write(spdlog::level::info, message); }
void log_warning(std::string_view message) { write(spdlog::level::warn, message); }
void log_error(std::string_view message) { write(spdlog::level::err, message); }

void end_log(std::string_view text) {
  if (!text.empty()) queue().push(std::string(text));
  (void)queue().flush(kPatienceAtEnd);
}

}  // namespace wattle::daemon
