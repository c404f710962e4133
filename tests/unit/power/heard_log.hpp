// What the library has to say while a test runs.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "wattle/error.hpp"

namespace wattle::power_test {

/// One at a time. Threads: any.
class HeardLog {
 public:
  HeardLog() {
    set_log([this](std::string_view message) {
      const std::scoped_lock lock(mutex_);
      messages_.emplace_back(message);
    });
  }
  HeardLog(const HeardLog&) = delete;
  HeardLog& operator=(const HeardLog&) = delete;
  ~HeardLog() { set_log({}); }

  [[nodiscard]] std::vector<std::string> messages() const {
    const std::scoped_lock lock(mutex_);
    return messages_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> messages_;
};

}  // namespace wattle::power_test
