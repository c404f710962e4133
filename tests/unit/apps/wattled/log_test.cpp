#include "serve/log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace wattle::daemon {
namespace {

TEST(Log, HasOneLineOfPrintableCharactersForEachEventWhateverIsInIt) {
  testing::internal::CaptureStderr();
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text = {'a', static_cast<char>(byte), 'b'};
    log_warning(text);
    all += text;
  }
  log_error(all);
  end_log();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(log, '\n'), 257);
  for (const char byte : log) {
    EXPECT_TRUE(byte == '\n' || (byte >= ' ' && byte <= '~')) << static_cast<int>(byte);
  }
}

}  // namespace
}  // namespace wattle::daemon
