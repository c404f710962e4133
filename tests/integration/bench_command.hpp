// `wattle bench` on a machine without sensors.
#pragma once

#include <string>

#include "command.hpp"

namespace wattle::integration {

class BenchCommandTest : public CommandTest {
 protected:
  /// `wattle bench WORDS` on a machine without sensors.
  [[nodiscard]] Start bench(const Words& words) const {
    return wattle(Words{"bench"} + words +
                  Words{"--sysfs", path("none"), "--procfs", path("none"), "--nvml-library",
                        path("nothing.so")});
  }
  /// The JSON of a benchmark that works.
  [[nodiscard]] Json json_of(const Words& words) const {
    const Outcome outcome = run(bench(Words{"--export-json", path("bench.json")} + words));
    EXPECT_EQ(outcome.code(), 0) << outcome.err;
    return parse_json(content_of(path("bench.json")));
  }
};

}  // namespace wattle::integration
