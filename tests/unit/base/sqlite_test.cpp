#include "base/sqlite.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>

#include "fakes/temp_folder.hpp"

namespace wattle {
namespace {

TEST(Sqlite, ReportsTheErrorOfTheLastFailureAlone) {
  const fakes::TempFolder folder;
  const std::string path = (folder.path() / "a.db").string();
  SqliteDatabase database(path);
  ASSERT_EQ(database.run("CREATE TABLE t (x)"), 0);
  std::filesystem::create_directory(path + "-journal");
  EXPECT_EQ(database.run("INSERT INTO t VALUES (1)"), EISDIR);
  std::filesystem::remove(path + "-journal");
  EXPECT_EQ(database.run("INSERT INTO none VALUES (1)"), EIO) << "the default";
  SqliteDatabase other(path);
  ASSERT_EQ(other.run("BEGIN IMMEDIATE"), 0);
  EXPECT_EQ(database.run("INSERT INTO t VALUES (1)"), EBUSY);
}

}  // namespace
}  // namespace wattle
