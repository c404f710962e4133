#include "run_monitor/rounds/gpu_row_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace wattle {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// The power of a row below a header.
Cell power_of(const std::string& title, const std::string& cell) {
  GpuRowReader reader;
  EXPECT_TRUE(reader.take_header("index, " + title));
  return reader.read("0, " + cell).power;
}

TEST(GpuRowReader, HonoursTheUnitOfAHeader) {
  EXPECT_EQ(power_of("power.draw [mW]", "120000").value(), 120.0);
  EXPECT_EQ(power_of("power.draw [mW]", "120000 mW").value(), 120.0);
  EXPECT_EQ(power_of("power.draw [kW]", "0.12").value(), 120.0);
  EXPECT_EQ(power_of("power.draw [W]", "120 W").value(), 120.0);
  EXPECT_EQ(power_of("power.draw (mW)", "120000").value(), 120.0);
  EXPECT_EQ(power_of("Power.Draw", "120").value(), 120.0);
}

TEST(GpuRowReader, HonoursTheUnitOfACell) {
  EXPECT_EQ(power_of("power.draw", "120000 mW").value(), 120.0);
  EXPECT_EQ(power_of("power.draw", "0.12 kW").value(), 120.0);
  EXPECT_EQ(power_of("power.draw", "120W").value(), 120.0);
}

TEST(GpuRowReader, TakesNoCellThatContradictsTheHeader) {
  EXPECT_TRUE(power_of("power.draw [W]", "120000 mW").is_bad());
  EXPECT_TRUE(power_of("power.draw [W]", "120 MiB").is_bad());
}

TEST(GpuRowReader, HonoursUnitsOfMemory) {
  GpuRowReader reader;
  for (const auto& [title, cell] : {std::pair{"memory.used [MiB]", "1000"},
                                    {"memory.used [KiB]", "1024000"},
                                    {"memory.used [B]", "1048576000"},
                                    {"memory.used [GiB]", "0.9765625"},
                                    {"memory.used [MB]", "1048.576"},
                                    {"memory.used", "1000 MiB"}}) {
    ASSERT_TRUE(reader.take_header(std::string("index, ") + title));
    EXPECT_DOUBLE_EQ(reader.read(std::string("0, ") + cell).memory.value(), 1000.0) << title;
  }
}

TEST(GpuRowReader, RefusesAUnitThatItDoesNotKnow) {
  GpuRowReader reader;
  ASSERT_TRUE(reader.take_header("index, power.draw [hp], utilization.gpu [%]"));
  const GpuRow row = reader.read("0, 1, 50 %");
  EXPECT_TRUE(row.is_good());
  EXPECT_TRUE(row.power.is_missing());
  EXPECT_EQ(row.util.value(), 50.0);
  EXPECT_THAT(reader.note(), HasSubstr("power.draw [hp]: the unit is unknown"));
}

TEST(GpuRowReader, TakesThePowerOfTheColumnThatHasOne) {
  GpuRowReader reader;
  ASSERT_TRUE(reader.take_header(
      "timestamp, index, power.draw [W], power.draw.average [W], power.draw.instant [W]"));
  const std::string begin = "2026/03/02 09:15:00.000, 0, ";
  EXPECT_EQ(reader.read(begin + "[N/A], [N/A], 412.50 W").power.value(), 412.5);
  EXPECT_EQ(reader.note(), "power is power.draw.instant: power.draw has no value there");
  EXPECT_EQ(reader.read(begin + "[N/A], 400 W, 412.50 W").power.value(), 400.0);
  EXPECT_EQ(reader.read(begin + "390 W, 400 W, 412.50 W").power.value(), 390.0);
  EXPECT_THAT(reader.note(), HasSubstr("power is power.draw.average in 1 of 3 rows"));
}

TEST(GpuRowReader, HasNothingToNoteOfWhatIsUsual) {
  GpuRowReader reader;
  ASSERT_TRUE(reader.take_header("index, power.draw [W]"));
  (void)reader.read("0, 5");
  EXPECT_THAT(reader.note(), IsEmpty());
}

/// Why a row is none, below a header.
std::string why(const std::string& header, const std::string& line) {
  GpuRowReader reader;
  EXPECT_TRUE(header.empty() || reader.take_header(header));
  EXPECT_FALSE(reader.read(line).is_good());
  return reader.why_bad(line);
}

TEST(GpuRowReader, NamesWhatDoesNotFit) {
  EXPECT_THAT(why("index, power.draw", "0, 1, 2"), HasSubstr("it has 3 cells, and the header 2"));
  EXPECT_THAT(why("", "1, 2, 3"), HasSubstr("without a header 9 are expected"));
  EXPECT_THAT(why("timestamp, power.draw", "yesterday, 2"), HasSubstr("'yesterday' is no time"));
  EXPECT_THAT(why("timestamp, power.draw", "02/03/2026 09:15:00, 2"),
              HasSubstr("which number is the day"));
  EXPECT_THAT(why("index, power.draw", "0, 12x"), HasSubstr("power.draw is '12x', not a number"));
  EXPECT_THAT(why("index, utilization.gpu", "0, 101"), HasSubstr("not 0 to 100 %"));
  EXPECT_THAT(why("index, power.draw [W]", "0, 5 mW"), HasSubstr("in the unit of the header"));
  EXPECT_THAT(why("", "NVIDIA-SMI has failed"), HasSubstr("no header with a known column"));
}

TEST(GpuRowReader, FindsItsColumnInALineOfAnyLength) {
  for (std::size_t columns = 2; columns <= 66; ++columns) {
    for (std::size_t before = 0; before + 1 < columns; before += 7) {
      std::string header;
      std::string line;
      for (std::size_t i = 0; i + 1 < columns; ++i) {
        if (i == before) {
          header += "power.draw, ";
          line += "120.5, ";
        }
        header += "clock" + std::to_string(i) + (i + 2 < columns ? ", " : "");
        line += std::string(i % 23, '7') + (i + 2 < columns ? ", " : "");
      }
      GpuRowReader reader;
      const bool is_readable = columns <= 64;
      ASSERT_EQ(reader.take_header(header), is_readable) << columns;
      if (!is_readable) continue;
      EXPECT_EQ(reader.read(line).power.value(), 120.5) << line;
      EXPECT_FALSE(reader.read(line + ",").whole) << line;
    }
  }
}

TEST(GpuRowReader, NamesTheColumnsItLooksFor) {
  EXPECT_THAT(why("timestamp,device,GPU use (%)", "2026/03/02 09:15:00.000,card0,90"),
              HasSubstr("expected: utilization.gpu, utilization.memory, memory.used, power.draw"));
}

}  // namespace
}  // namespace wattle
