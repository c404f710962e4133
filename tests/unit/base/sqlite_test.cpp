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

TEST(Sqlite, RunsAStatementWhileItsRowsAreTaken) {
  const fakes::TempFolder folder;
  SqliteDatabase database((folder.path() / "a.db").string());
  ASSERT_EQ(database.run("CREATE TABLE t (x)"), 0);
  ASSERT_EQ(database.run("INSERT INTO t VALUES (1), (2)"), 0);
  int outer = 0;
  int inner = 0;
  const auto count_all = [&](const SqlRow& /*row*/) {
    if (++outer > 2) return;
    EXPECT_EQ(database.query("SELECT x FROM t", {}, [&](const SqlRow& /*row*/) { ++inner; }), 0);
  };
  EXPECT_EQ(database.query("SELECT x FROM t LIMIT 9", {}, count_all), 0);
  EXPECT_EQ(outer, 2);
  EXPECT_EQ(inner, 4);
  outer = 0;
  inner = 0;
  EXPECT_EQ(database.query("SELECT x FROM t", {}, count_all), 0);
  EXPECT_EQ(outer, 2) << "of the same text";
  EXPECT_EQ(inner, 4);
}

/// What a foreign file holds may not have the schema rewritten.
TEST(Sqlite, LetsNobodyWriteTheSchemaOfADatabaseThatIsNotTrusted) {
  const fakes::TempFolder folder;
  SqliteDatabase database((folder.path() / "a.db").string());
  ASSERT_EQ(database.run("CREATE TABLE t (x)"), 0);
  constexpr std::string_view kRewrite = "UPDATE sqlite_master SET sql = 'CREATE TABLE t (y)'";
  ASSERT_EQ(database.run("PRAGMA writable_schema = ON"), 0);
  EXPECT_EQ(database.run(kRewrite), 0);
  database.distrust();
  EXPECT_NE(database.run(kRewrite), 0);
}

}  // namespace
}  // namespace wattle
