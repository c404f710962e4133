#include "golden.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/files/file.hpp"
#include "base/text/split.hpp"

namespace wattle::testing_support {

void expect_golden(const std::string& name, std::string_view text) {
  const std::filesystem::path path = std::filesystem::path(WATTLE_FIXTURES) / "golden" / name;
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream file(path, std::ios::binary);
    file << text;
    EXPECT_TRUE(file.flush()) << "cannot write " << path;
    return;
  }
  const auto expected = read_file(path.string());
  ASSERT_TRUE(expected) << path << " cannot be read; UPDATE_GOLDEN=1 writes it";
  EXPECT_EQ(text, *expected) << "differs from " << path << "; UPDATE_GOLDEN=1 rewrites it";
}

void expect_looks(const std::string& name,
                  const std::function<std::string(const TextStyle&)>& text) {
  std::string all;
  for (const std::size_t width : {60U, 80U, 120U}) {
    for (const bool unicode : {true, false}) {
      for (const bool color : {false, true}) {
        const std::string shown = text({.width = width, .color = color, .unicode = unicode});
        all += "== " + std::to_string(width) + " columns, " + (unicode ? "UTF-8" : "ASCII") +
               (color ? ", colours" : "") + "\n";
        std::string_view rest = shown;
        while (!rest.empty()) {
          const std::string_view line = take_line(rest);
          EXPECT_LE(columns_of(line), width) << line;
          for (const char c : line) {
            EXPECT_TRUE(unicode || static_cast<unsigned char>(c) < 0x80U) << line;
            all += c == '\x1b' ? std::string("\\e") : std::string(1, c);
          }
          all += '\n';
        }
      }
    }
  }
  expect_golden(name, all);
}

}  // namespace wattle::testing_support
