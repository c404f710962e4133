#include "sensors/nvml/processes.hpp"

#include <fmt/format.h>

#include "nvml_test.hpp"

namespace wattle::nvml {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::byte> written(std::size_t bytes, std::size_t capacity) {
  std::vector<std::byte> buffer(capacity, kUntouched);
  std::fill_n(buffer.begin(), bytes, std::byte{0});
  return buffer;
}

TEST(RecordSize, IsTheOneThatExplainsHowFarTheDriverWrote) {
  EXPECT_EQ(record_size(written(3 * 16, 320), 3), 16U);
  EXPECT_EQ(record_size(written(3 * 24, 320), 3), 24U);
  EXPECT_EQ(record_size(written(3 * 32, 320), 3), 32U);
}

TEST(RecordSize, IsNoneWhereNoSizeExplainsIt) {
  EXPECT_EQ(record_size(written(200, 320), 3), 0U);
  EXPECT_EQ(record_size(written(16, 16), 40), 0U) << "more records than the buffer holds";
}

using Processes = std::optional<std::vector<DeviceProcess>>;

Processes processes_of(const std::string& script,
                       fakes::NvmlBuild build = fakes::NvmlBuild::current) {
  return Gpus("gpu A\n" + script, build)[0].processes();
}

MATCHER_P2(IsProcess, pid, memory, "") { return arg.pid == pid && arg.memory_bytes == memory; }
constexpr std::optional<std::uint64_t> kNotTold = std::nullopt;
constexpr std::optional<std::uint64_t> bytes(std::uint64_t count) { return count; }

class EachRecord : public testing::TestWithParam<int> {};

TEST_P(EachRecord, IsUnderstoodWhateverItsSize) {
  const Processes found = processes_of(fmt::format("process_record {}\n", GetParam()) +
                                       "process compute 4711 1000000\n"
                                       "process compute 4712 2000000\n"
                                       "process compute 4713 3000000\n");
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(*found,
              ElementsAre(IsProcess(4711, bytes(1'000'000)), IsProcess(4712, bytes(2'000'000)),
                          IsProcess(4713, bytes(3'000'000))));
}

INSTANTIATE_TEST_SUITE_P(Sizes, EachRecord, testing::Values(16, 24, 32));

TEST(Processes, ComeFromTheOldFunctionsWhereTheLibraryHasNoOthers) {
  const Processes found = processes_of("process compute 4711 1000000\nprocess graphics 4712 5\n",
                                       fakes::NvmlBuild::old);
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(*found, ElementsAre(IsProcess(4711, bytes(1'000'000)), IsProcess(4712, bytes(5))));
}

TEST(Processes, ThatComputeAndDrawAreListedOnce) {
  const Processes found =
      processes_of("process compute 4711 1000000\nprocess graphics 4711 1000000\n");
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(*found, ElementsAre(IsProcess(4711, bytes(1'000'000))));
}

TEST(Processes, OnSeveralMigInstancesHoldTheSumOfTheirMemory) {
  const Processes found = processes_of("process compute 4711 100\nprocess compute 4711 200\n");
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(*found, ElementsAre(IsProcess(4711, bytes(300))));
}

TEST(Processes, MayNotReportTheirMemory) {
  const Processes found = processes_of("process compute 4711 none\n");
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(*found, ElementsAre(IsProcess(4711, kNotTold)));
}

TEST(Processes, AreAllListedHoweverManyThereAre) {
  std::string script;
  for (int pid = 1; pid <= 500; ++pid) script += fmt::format("process compute {} 1\n", pid);
  const Processes found = processes_of(script);
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(*found, SizeIs(500));
}

TEST(Processes, AreNoneOnAnIdleGpu) {
  const Processes found = processes_of("");
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(*found, IsEmpty());
}

TEST(Processes, OfOneKindAreEnoughWhereTheOtherCannotBeAsked) {
  const Processes found =
      processes_of("error nvmlDeviceGetGraphicsRunningProcesses_v3 3\nprocess compute 4711 1\n");
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(*found, SizeIs(1));
}

TEST(Processes, AreUnknownWhereTheDriverDoesNotReport) {
  EXPECT_FALSE(processes_of("error nvmlDeviceGetComputeRunningProcesses_v3 4\n"
                            "error nvmlDeviceGetGraphicsRunningProcesses_v3 4\n"
                            "process compute 4711 1\n")
                   .has_value())
      << "not the same as none";
}

TEST(Processes, WithImpossibleNumbersAreLeftOut) {
  const Processes found =
      processes_of("process compute 0 1\nprocess compute 4294967295 1\nprocess compute 9 1\n");
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(*found, ElementsAre(IsProcess(9, bytes(1))));
}

}  // namespace
}  // namespace wattle::nvml
