#include "base/files/state_folder.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "fakes/temp_folder.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

namespace fs = std::filesystem;

/// While it lives, a variable has another value, or none.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const char* value) const {
    if (value != nullptr) {
      ::setenv(name_, value, 1);
    } else {
      ::unsetenv(name_);
    }
  }
  const char* name_;
  std::optional<std::string> before_;
};

TEST(StateFolder, IsTheUsersOwn) {
  const fakes::TempFolder folder;
  const Variable state("XDG_STATE_HOME", folder.path().c_str());
  const fs::path file = new_state_file("usage", ".jsonl");
  EXPECT_EQ(file.parent_path(), folder.path() / "wattle" / "usage");
  EXPECT_EQ(file.extension(), ".jsonl");
  EXPECT_TRUE(fs::is_directory(file.parent_path()));
  EXPECT_NE(new_state_file("usage", ".jsonl"), file);
}

TEST(StateFolder, IsInTheHomeFolderOtherwise) {
  const fakes::TempFolder folder;
  const Variable home("HOME", folder.path().c_str());
  for (const char* value : {static_cast<const char*>(nullptr), "", "relative"}) {
    const Variable state("XDG_STATE_HOME", value);
    EXPECT_EQ(new_state_file("usage", "").parent_path(),
              folder.path() / ".local/state/wattle/usage");
  }
}

TEST(StateFolder, MayBeNowhere) {
  const Variable state("XDG_STATE_HOME", nullptr);
  const Variable home("HOME", nullptr);
  EXPECT_THROW((void)new_state_file("usage", ""), Error);
  const Variable bad("HOME", "/dev/null");
  EXPECT_THROW((void)new_state_file("usage", ""), WriteError);
}

}  // namespace
}  // namespace wattle
