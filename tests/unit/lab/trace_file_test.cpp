#include "lab/trace_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fakes/temp_folder.hpp"
#include "wattle/error.hpp"

namespace wattle::lab {
namespace {

using testing::HasSubstr;

std::string complaint_about(std::string_view text) {
  try {
    static_cast<void>(parse_trace(text, "load.csv"));
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "none";
}

TEST(TraceFile, HoldsEachPowerUntilTheNextLine) {
  const Waveform trace = parse_trace("10,100\n10.5,300\n11,0\n", "load.csv");
  EXPECT_EQ(trace.power_w(0.4), 100.0);
  EXPECT_EQ(trace.power_w(0.5), 300.0);
  EXPECT_DOUBLE_EQ(trace.energy_j(0.0, 1.0), 200.0);
}

TEST(TraceFile, StartsAgainAfterItsLastLine) {
  const Waveform trace = parse_trace("0,100\n1,300\n2,0\n", "load.csv");
  EXPECT_EQ(trace.period_s(), 2.0);
  EXPECT_EQ(trace.power_w(2.5), 100.0);
}

TEST(TraceFile, MayHaveAHeadingBlanksAndEmptyLines) {
  const Waveform trace = parse_trace("time_s,power_w\r\n 0 , 100 \r\n\r\n1,100\r\n", "load.csv");
  EXPECT_EQ(trace.power_w(0.5), 100.0);
}

TEST(TraceFile, SaysWhichLineIsNone) {
  for (const char* line : {"1", "1,", "one,2", "1,2,3", "1,-2", "1,nan", "1,1e10", "0,5"}) {
    const std::string complaint = complaint_about(std::string("0,1\n") + line + "\n2,1\n");
    EXPECT_THAT(complaint, HasSubstr("load.csv, line 2: expected TIME_S,POWER_W")) << line;
  }
}

TEST(TraceFile, TakesTwoLinesAtLeast) {
  for (const char* text : {"", "time,power\n", "0,100\n"}) {
    EXPECT_THAT(complaint_about(text), HasSubstr("at least two lines")) << text;
  }
}

TEST(TraceFile, ThatCannotBeReadSaysSo) {
  const fakes::TempFolder folder;
  const std::string path = (folder.path() / "missing.csv").string();
  try {
    static_cast<void>(read_trace(path));
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(std::string(error.what()),
              "cannot read the trace " + path + ": No such file or directory");
  }
}

}  // namespace
}  // namespace wattle::lab
