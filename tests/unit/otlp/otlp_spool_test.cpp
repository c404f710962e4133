#include "otlp/otlp_spool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "fakes/temp_folder.hpp"
#include "wattle/error.hpp"

namespace wattle::otlp {
namespace {

using fakes::TempFolder;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t kPlenty = 1 << 20;

OtlpBatch batch(const std::string& body, std::uint64_t items = 1) {
  return {.signal = OtlpSignal::metrics, .items = items, .body = body};
}

std::vector<std::string> drained(OtlpSpool& spool) {
  std::vector<std::string> bodies;
  while (const OtlpBatch* const front = spool.front()) {
    bodies.push_back(front->body);
    spool.pop();
  }
  return bodies;
}

class OtlpSpoolTest : public testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      if (entry.path().extension() == ".otlp") names.push_back(entry.path().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  TempFolder temp_;
  std::string folder_ = (temp_.path() / "spool").string();
};

TEST_F(OtlpSpoolTest, ReturnsTheOldestFirst) {
  for (const std::string& folder : {folder_, std::string()}) {
    OtlpSpool spool(folder, kPlenty);
    spool.add(batch("a"));
    spool.add(batch("b"));
    spool.add(batch("c"));
    EXPECT_THAT(drained(spool), ElementsAre("a", "b", "c"));
    EXPECT_EQ(spool.waiting(), 0U);
  }
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(OtlpSpoolTest, OutlivesItsProcess) {
  {
    OtlpSpool spool(folder_, kPlenty);
    spool.add(batch("a", 3));
    spool.add({.signal = OtlpSignal::traces, .items = 4, .body = "b"});
  }
  OtlpSpool spool(folder_, kPlenty);
  spool.add(batch("c"));
  EXPECT_EQ(spool.waiting_items(), 8U);
  EXPECT_EQ(spool.front()->items, 3U);
  spool.pop();
  EXPECT_EQ(spool.front()->signal, OtlpSignal::traces);
  EXPECT_THAT(drained(spool), ElementsAre("b", "c"));
}

TEST_F(OtlpSpoolTest, ForgetsTheOldestWhenItIsFullAndCountsThem) {
  for (const std::string& folder : {folder_, std::string()}) {
    OtlpSpool spool(folder, 1000);
    for (int i = 0; i < 10; ++i) spool.add(batch(std::string(300, static_cast<char>('a' + i)), 2));
    const std::uint64_t kept = spool.waiting();
    EXPECT_GE(kept, 2U);
    EXPECT_LE(kept, 3U);
    EXPECT_EQ(spool.take_losses().items, 2 * (10 - kept));
    EXPECT_EQ(spool.take_losses().items, 0U);
    EXPECT_EQ(drained(spool).back(), std::string(300, 'j'));
  }
}

TEST_F(OtlpSpoolTest, ASmallerBoundAppliesToWhatAnEarlierProcessLeft) {
  {
    OtlpSpool spool(folder_, kPlenty);
    for (int i = 0; i < 10; ++i) spool.add(batch(std::string(300, 'x'), 1));
  }
  OtlpSpool spool(folder_, 1000);
  EXPECT_EQ(spool.take_losses().items, 10 - spool.waiting());
  EXPECT_THAT(files(), SizeIs(spool.waiting()));
}

TEST_F(OtlpSpoolTest, SkipsAndNamesDamagedFiles) {
  std::string damaged;
  {
    OtlpSpool spool(folder_, kPlenty);
    spool.add(batch("first"));
    spool.add(batch("second"));
    spool.add(batch("third"));
    damaged = files()[1];
    std::ofstream(damaged, std::ios::app) << "more";
  }
  OtlpSpool spool(folder_, kPlenty);
  EXPECT_THAT(drained(spool), ElementsAre("first", "third"));
  EXPECT_THAT(spool.take_losses().damaged,
              ElementsAre(std::filesystem::path(damaged).filename().string()));
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(OtlpSpoolTest, EveryDamageOfAFileIsFound) {
  const std::string good = spool_file_of(batch(R"({"resourceMetrics":[]})", 5));
  ASSERT_TRUE(parse_spool_file(good));
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    const auto read = parse_spool_file(bad);
    // A number of items is not checked, but is one.
    EXPECT_TRUE(!read || read->body == parse_spool_file(good)->body) << i;
    EXPECT_FALSE(parse_spool_file(good.substr(0, i))) << i;
  }
}

TEST_F(OtlpSpoolTest, RandomBytesAreNoFile) {
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same each time
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = i % 2 == 0 ? "" : "wattle.otlp/1 metrics ";
    for (auto left = random() % 300; left > 0; --left) {
      bytes += static_cast<char>(random());
    }
    EXPECT_FALSE(parse_spool_file(bytes));
  }
}

TEST_F(OtlpSpoolTest, LeavesFilesOfOthersAlone) {
  std::filesystem::create_directory(folder_);
  ::chmod(folder_.c_str(), 0700);
  std::ofstream(folder_ + "/notes.txt") << "mine";
  std::filesystem::create_directory(folder_ + "/00000000000000000001.otlp");
  std::filesystem::create_symlink("/etc/passwd", folder_ + "/00000000000000000002.otlp");
  OtlpSpool spool(folder_, kPlenty);
  EXPECT_EQ(spool.front(), nullptr);
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/notes.txt"));
}

TEST_F(OtlpSpoolTest, AFolderIsForOneProcessAndOneUser) {
  const OtlpSpool first(folder_, kPlenty);
  EXPECT_THROW(OtlpSpool(folder_, kPlenty), Error);
  const std::string open = (temp_.path() / "open").string();
  std::filesystem::create_directory(open);
  ::chmod(open.c_str(), 0777);
  EXPECT_THROW(OtlpSpool(open, kPlenty), Error);
  EXPECT_THROW(OtlpSpool("/dev/null", kPlenty), Error);
  EXPECT_THROW(OtlpSpool((temp_.path() / "no/such").string(), kPlenty), Error);
}

TEST_F(OtlpSpoolTest, KeepsInMemoryWhatCannotBeWritten) {
  OtlpSpool spool(folder_, kPlenty);
  spool.add(batch("a"));
  std::filesystem::remove_all(folder_);
  spool.add(batch("b"));
  EXPECT_NE(spool.take_losses().write_failure, "");
  EXPECT_THAT(drained(spool), ElementsAre("b"));
  EXPECT_THAT(spool.take_losses().damaged, SizeIs(1));
}

}  // namespace
}  // namespace wattle::otlp
