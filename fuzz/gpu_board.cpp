// The name of a GPU's board and the version of its driver, as the driver gives them: two lines.
#include "base/text/split.hpp"
#include "check.hpp"
#include "sensors/known_sensors.hpp"

namespace {

using namespace wattle;  // NOLINT(google-build-using-namespace): the program's own

void check(const GaugeFacts& facts) {
  if (facts.window) fuzz::require(facts.window->count() > 0, "a window has a length");
  const auto coverage = facts.coverage();
  if (coverage) fuzz::require(*coverage > 0.0 && *coverage <= 1.0, "a coverage is a part");
}

}  // namespace

FUZZ_TARGET(gpu_board)(const unsigned char* data, std::size_t size) {
  std::string_view text = fuzz::text_of(data, size);
  const std::string_view board = take_line(text);
  const auto branch = parse_driver_branch(take_line(text));
  const GpuFacts facts = known_gpu(board, branch);
  check(facts.instant);
  check(facts.average);
  check(facts.usage);
  if (!branch && facts.usage.window) {
    const bool same = known_gpu(board, 530).usage.window == facts.usage.window;
    fuzz::require(same, "without a version only what holds for all is known");
  }
  return 0;
}
