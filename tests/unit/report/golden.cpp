#include "golden.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/file.hpp"

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

}  // namespace wattle::testing_support
