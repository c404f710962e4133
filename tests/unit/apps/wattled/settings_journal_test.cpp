#include "control/settings_journal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files/file.hpp"
#include "fakes/temp_folder.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class SettingsJournalTest : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return (folder_.path() / "journal").string(); }
  [[nodiscard]] std::string content() const { return read_file(path()).value_or("none"); }
  /// What the next daemon finds.
  [[nodiscard]] std::vector<ChangedSetting> in_file() const {
    const fakes::TempFolder other;
    other.write("journal", content());
    return SettingsJournal((other.path() / "journal").string()).changed();
  }
  static ChangedSetting limit(std::uint64_t before, std::optional<std::uint64_t> set = {}) {
    return {.device = "GPU-a", .kind = SettingKind::power_limit_mw, .before = before, .set = set};
  }

  fakes::TempFolder folder_;
};

TEST_F(SettingsJournalTest, HasAChangeInItsFileBeforeItIsMade) {
  SettingsJournal journal(path());
  EXPECT_EQ(journal.begin(limit(200'000)), 0);
  EXPECT_EQ(content(), "wattled-settings/1\nGPU-a power_limit_mw 200000 -\n");
  EXPECT_THAT(in_file(), ElementsAre(limit(200'000)));
  struct stat status {};
  ASSERT_EQ(::stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(SettingsJournalTest, KeepsWhatWasBeforeTheFirstChange) {
  SettingsJournal journal(path());
  EXPECT_EQ(journal.begin(limit(200'000)), 0);
  journal.finish("GPU-a", SettingKind::power_limit_mw, 150'000);
  EXPECT_THAT(journal.changed(), ElementsAre(limit(200'000, 150'000)));
  EXPECT_EQ(journal.begin(limit(150'000)), 0);
  EXPECT_THAT(journal.changed(), ElementsAre(limit(200'000)));
  journal.finish("GPU-a", SettingKind::power_limit_mw, 100'000);
  journal.flush();
  EXPECT_THAT(in_file(), ElementsAre(limit(200'000, 100'000)));
}

TEST_F(SettingsJournalTest, DistinguishesDevicesAndKinds) {
  SettingsJournal journal(path());
  const ChangedSetting mode{.device = "GPU-a", .kind = SettingKind::persistence_mode, .before = 1};
  const ChangedSetting other{.device = "GPU-b", .kind = SettingKind::memory_clocks};
  for (const ChangedSetting& change : {limit(1), mode, other}) EXPECT_EQ(journal.begin(change), 0);
  journal.forget("GPU-a", SettingKind::power_limit_mw);
  journal.flush();
  EXPECT_THAT(in_file(), ElementsAre(mode, other));
  EXPECT_TRUE(journal.holds("GPU-b", SettingKind::memory_clocks));
  EXPECT_FALSE(journal.holds("GPU-b", SettingKind::gpu_clocks));
}

TEST_F(SettingsJournalTest, HasNoFileWhereNothingIsToBePutBack) {
  SettingsJournal journal(path());
  EXPECT_EQ(journal.begin(limit(200'000)), 0);
  journal.forget("GPU-a", SettingKind::power_limit_mw);
  journal.flush();
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(SettingsJournalTest, WritesOnceHoweverOftenASettingIsMade) {
  int writes = 0;
  SettingsJournal journal(path(), ::geteuid(), [&](const std::string&, const std::string&) {
    ++writes;
    return 0;
  });
  for (std::uint64_t set = 100'000; set < 100'100; ++set) {
    EXPECT_EQ(journal.begin(limit(200'000)), 0);
    journal.finish("GPU-a", SettingKind::power_limit_mw, set);
  }
  EXPECT_EQ(writes, 1);
  journal.flush();
  journal.flush();
  EXPECT_EQ(writes, 2);
  EXPECT_EQ(journal.begin(limit(200'000)), 0) << "the file must not name a value that is replaced";
  EXPECT_EQ(writes, 3);
}

TEST_F(SettingsJournalTest, HasAnEarlierValueInItsFileUntilThatIsWritten) {
  {
    SettingsJournal journal(path());
    EXPECT_EQ(journal.begin(limit(200'000)), 0);
    journal.finish("GPU-a", SettingKind::power_limit_mw, 150'000);
  }
  EXPECT_THAT(in_file(), ElementsAre(limit(200'000))) << "is restored, whoever has changed it";
}

TEST_F(SettingsJournalTest, IsReadWhileItsFileIsWritten) {
  std::vector<ChangedSetting> seen{limit(1)};
  SettingsJournal* reader = nullptr;
  SettingsJournal journal(path(), ::geteuid(), [&](const std::string&, const std::string&) {
    seen = reader->changed();
    reader->finish("GPU-a", SettingKind::power_limit_mw, 150'000);
    return EIO;
  });
  reader = &journal;
  EXPECT_EQ(journal.begin(limit(200'000)), EIO);
  EXPECT_THAT(seen, IsEmpty());
}

TEST_F(SettingsJournalTest, RemembersNothingThatItCannotWrite) {
  SettingsJournal journal((folder_.path() / "no/journal").string());
  EXPECT_EQ(journal.begin(limit(200'000)), ENOENT);
  EXPECT_THAT(journal.changed(), IsEmpty());
}

TEST_F(SettingsJournalTest, LeavesOutWhatMeansNothing) {
  folder_.write("journal",
                "wattled-settings/1\nGPU-a weather 1 -\nGPU-a\nGPU-a power_limit_mw x -\n"
                "GPU-a power_limit_mw 200000 x\nGPU-a power_limit_mw 200000 150000\n");
  EXPECT_THAT(SettingsJournal(path()).changed(), ElementsAre(limit(200'000, 150'000)));
  folder_.write("journal", "another file\nGPU-a power_limit_mw 200000 150000\n");
  EXPECT_THAT(SettingsJournal(path()).changed(), IsEmpty());
}

TEST_F(SettingsJournalTest, KeepsADamagedFileAside) {
  const std::string damaged = "wattled-settings/1\nGPU-a power_limit_mw 200000 -\nGPU-b pow";
  folder_.write("journal", damaged);
  SettingsJournal journal(path());
  EXPECT_THAT(journal.changed(), ElementsAre(limit(200'000)));
  EXPECT_THAT(journal.problem(), testing::HasSubstr("is damaged: it is kept as"));
  journal.forget_all();
  journal.flush();
  EXPECT_FALSE(std::filesystem::exists(path()));
  EXPECT_EQ(read_file(path() + ".damaged"), damaged);
}

TEST_F(SettingsJournalTest, FollowsNoLink) {
  const std::string other = "wattled-settings/1\nGPU-a power_limit_mw 200000 -\n";
  folder_.write("other", other);
  std::filesystem::create_symlink("other", path());
  SettingsJournal journal(path());
  EXPECT_THAT(journal.changed(), IsEmpty());
  EXPECT_THAT(journal.problem(), testing::HasSubstr("it is a link"));
  EXPECT_EQ(journal.begin(limit(100'000)), 0);
  EXPECT_FALSE(std::filesystem::is_symlink(path()));
  EXPECT_EQ(read_file((folder_.path() / "other").string()), other);
}

TEST_F(SettingsJournalTest, IsNotReadWhereOthersCouldHaveWrittenIt) {
  folder_.write("journal", "wattled-settings/1\nGPU-a power_limit_mw 200000 -\n");
  ::chmod(path().c_str(), 0622);
  const SettingsJournal journal(path());
  EXPECT_THAT(journal.changed(), IsEmpty());
  EXPECT_THAT(journal.problem(), testing::HasSubstr("others could have written it"));
}

TEST_F(SettingsJournalTest, IsThatOfOneDaemonAlone) {
  {
    const SettingsJournal journal(path());
    EXPECT_THROW(SettingsJournal{path()}, Error);
  }
  EXPECT_NO_THROW(SettingsJournal{path()});
}

}  // namespace
}  // namespace wattle::daemon
