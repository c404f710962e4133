#include "sensors/drm/fdinfo.hpp"

#include <gtest/gtest.h>

#include <string>

#include "fakes/drm_tree.hpp"

namespace wattle::drm {
namespace {

using std::chrono::nanoseconds;

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;

/// xe, after the example in its documentation.
constexpr std::string_view kXe =
    "pos:    0\nflags:  0100002\nmnt_id: 26\nino:    685\n"
    "drm-driver:     xe\ndrm-client-id:  3\ndrm-pdev:       0000:03:00.0\n"
    "drm-total-system:       0\ndrm-resident-system:    0\n"
    "drm-total-gtt:  192 KiB\ndrm-resident-gtt:       192 KiB\n"
    "drm-total-vram0:        23992 KiB\ndrm-shared-vram0:       16 MiB\n"
    "drm-resident-vram0:     20000 KiB\ndrm-resident-vram1:     2 MiB\n"
    "drm-total-stolen:       0\ndrm-resident-stolen:    0\n"
    "drm-cycles-rcs: 28257900\ndrm-total-cycles-rcs:   7655183225\n"
    "drm-engine-capacity-vcs:        2\n";

TEST(Fdinfo, ReportsWhoUsesWhatOfAnAmdGpu) {
  const std::string text = fakes::amdgpu_fdinfo("0000:03:00.0", 185, 60060, 5'000'000'000);
  const ClientUsage usage = parse_fdinfo(text);
  EXPECT_EQ(usage.pci_address, "0000:03:00.0");
  EXPECT_EQ(usage.client_id, 185U);
  EXPECT_EQ(usage.memory_bytes, 60060 * kKiB);
  EXPECT_EQ(usage.engine_time, nanoseconds(5'000'001'000));
}

TEST(Fdinfo, AddsTheMemoryOfAllTiles) {
  EXPECT_EQ(parse_fdinfo(kXe).memory_bytes, 20000 * kKiB + 2 * kMiB);
}

TEST(Fdinfo, TakesNoNumberOfEnginesOrCyclesForATime) {
  EXPECT_EQ(parse_fdinfo(kXe).engine_time, std::nullopt);
}

TEST(Fdinfo, KnowsTheBoardsMemoryByEachDriversName) {
  EXPECT_EQ(parse_fdinfo("drm-resident-vram: 3\n").memory_bytes, 3U);
  EXPECT_EQ(parse_fdinfo("drm-resident-local0: 4\n").memory_bytes, 4U);
  EXPECT_EQ(parse_fdinfo("drm-resident-system0: 5\n").memory_bytes, std::nullopt);
  EXPECT_EQ(parse_fdinfo("drm-resident-vram_mapped: 6\n").memory_bytes, std::nullopt);
  EXPECT_EQ(parse_fdinfo("amd-memory-visible-vram: 7 KiB\n").memory_bytes, std::nullopt);
}

TEST(Fdinfo, PrefersWhatIsThereToWhatMayBe) {
  EXPECT_EQ(
      parse_fdinfo("drm-total-vram: 9\ndrm-memory-vram: 8\ndrm-resident-vram: 7\n").memory_bytes,
      7U);
  EXPECT_EQ(parse_fdinfo("drm-total-vram: 9\ndrm-memory-vram: 8\n").memory_bytes, 8U);
  EXPECT_EQ(parse_fdinfo("drm-total-vram: 9\n").memory_bytes, 9U);
}

TEST(Fdinfo, KnowsTheUnitsOfTheSpecificationAndNoOther) {
  EXPECT_EQ(parse_fdinfo("drm-memory-vram:\t2 KiB\n").memory_bytes, 2 * kKiB);
  EXPECT_EQ(parse_fdinfo("drm-memory-vram: \t2 MiB\n").memory_bytes, 2 * kMiB);
  for (const char* text : {"2 MB", "2 kB", "2 GiB", "2KiB", "2 KiB KiB", "-2", "", "KiB"}) {
    EXPECT_EQ(parse_fdinfo("drm-memory-vram: " + std::string(text)).memory_bytes, std::nullopt)
        << text;
  }
}

TEST(Fdinfo, DoesNotAddUpPartsOfWhichOneIsUnknown) {
  EXPECT_EQ(parse_fdinfo("drm-resident-vram0: 1\ndrm-resident-vram1: 2 GB\n").memory_bytes,
            std::nullopt);
}

TEST(Fdinfo, KnowsNoSumThatDoesNotFit) {
  EXPECT_EQ(parse_fdinfo("drm-memory-vram: 18014398509481984 KiB\n").memory_bytes, std::nullopt);
  EXPECT_EQ(parse_fdinfo("drm-resident-vram0: 18446744073709551615\ndrm-resident-vram1: 1\n")
                .memory_bytes,
            std::nullopt);
  EXPECT_EQ(
      parse_fdinfo("drm-engine-gfx: 9223372036854775807 ns\ndrm-engine-dec: 1 ns\n").engine_time,
      std::nullopt);
}

TEST(Fdinfo, KnowsNothingOfAFileThatIsNoGpus) {
  const ClientUsage usage = parse_fdinfo("pos:\t0\nflags:\t02\nmnt_id:\t15\neventfd-count: 0\n");
  EXPECT_TRUE(usage.pci_address.empty());
  EXPECT_EQ(usage.client_id, std::nullopt);
  EXPECT_EQ(usage.memory_bytes, std::nullopt);
}

TEST(Fdinfo, KnowsNothingOfKernelsBeforeTheSpecification) {
  const ClientUsage usage =
      parse_fdinfo("pdev:\t0000:03:00.0\npasid:\t32770\nvram mem:\t60060 kB\ngfx0:\t1.25%\n");
  EXPECT_TRUE(usage.pci_address.empty());
  EXPECT_EQ(usage.client_id, std::nullopt);
  EXPECT_EQ(usage.memory_bytes, std::nullopt);
}

}  // namespace
}  // namespace wattle::drm
