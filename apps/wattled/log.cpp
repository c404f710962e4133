#include "log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "base/text.hpp"

namespace wattle::daemon {
namespace {

constexpr std::size_t kLongestLine = 2000;

spdlog::logger& logger() {
  static const auto made = [] {
    auto log = spdlog::stderr_logger_mt("wattled");
    log->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
    log->flush_on(spdlog::level::info);
    return log;
  }();
  return *made;
}

void write(spdlog::level::level_enum level, std::string_view message) {
  // A line more than once escaped is ugly; one that is not escaped at all breaks the log.
  logger().log(level, "{}", printable(message, kLongestLine));
}

}  // namespace

void log_info(std::string_view message) { write(spdlog::level::info, message); }
void log_warning(std::string_view message) { write(spdlog::level::warn, message); }
void log_error(std::string_view message) { write(spdlog::level::err, message); }

}  // namespace wattle::daemon
