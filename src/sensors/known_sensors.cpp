#include "sensors/known_sensors.hpp"

#include <algorithm>
#include <array>

#include "base/text/parse.hpp"
#include "base/text/split.hpp"

namespace wattle {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// Ten boards of one model were renewed every 99 to 101 ms: a spread of 1 %, and the 99th
/// percentile where a normal distribution has it.
constexpr UpdateInterval every(nanoseconds mean) noexcept {
  return {.mean = mean, .spread = mean / 100, .p99 = mean + mean * 7 / 300};
}

constexpr GaugeFacts mean_over(nanoseconds window, nanoseconds update) noexcept {
  return {.window = window, .update = every(update)};
}

constexpr GaugeFacts kNoFacts{};
/// Stated to be a mean over a second. Of an A5000 it is (recorded beside a power meter, as below),
/// ten H100 PCIe show 90 % of a step after 0.9 s, and Ada boards are reported to take longer: so it
/// is taken for a filter that nobody has described.
constexpr GaugeFacts kAverage = {.update = every(milliseconds(100)),
                                 .longest_lag = kAverageLongestLag};
constexpr GaugeFacts kWholeTime = mean_over(milliseconds(100), milliseconds(100));
constexpr GaugeFacts kQuarter = mean_over(milliseconds(25), milliseconds(100));
constexpr GaugeFacts kFifth = mean_over(milliseconds(20), milliseconds(100));
constexpr GaugeFacts kHalf = mean_over(milliseconds(10), milliseconds(20));
/// As kQuarter; renewed every 101.15 ms as recorded beside a power meter
/// (github.com/JimZeyuYang/GPU_Power_Benchmark, plotting/data, A100 PCIe).
constexpr GaugeFacts kQuarterOfA100 = mean_over(milliseconds(25), microseconds(101'150));
/// From the same recordings and Overall_Results.xlsx: renewed every 31 ms, a mean over 14 ms.
constexpr GaugeFacts kM40 = mean_over(milliseconds(14), milliseconds(31));
constexpr GaugeFacts kTitanXPascal = mean_over(milliseconds(11), milliseconds(20));
/// The value follows the power with a first-order lag of an unknown time constant.
constexpr GaugeFacts kLagging = {.window = std::nullopt, .update = every(milliseconds(100))};
/// The same of a K40m, renewed every 15.4 ms: 55 ms fit its answer to a step, recorded beside a
/// power meter (plotting/data/Transient_Response/K40m_TR there).
constexpr GaugeFacts kLaggingK40 = {.window = std::nullopt,
                                    .update = every(microseconds(15'400)),
                                    .time_constant = milliseconds(55)};

/// The sensors of one generation. `usage` changed its meaning with driver branch 530 and back.
struct Generation {
  GaugeFacts instant;
  GaugeFacts average;
  GaugeFacts usage_before_530;
  GaugeFacts usage_of_530;
  GaugeFacts usage_since;
  CounterFeed counter_feed = CounterFeed::unknown;
};

// Both dimensions of the table from "Part-time Power Measurements" (arXiv 2312.02741), as its
// authors' data have it: github.com/JimZeyuYang/GPU_Power_Benchmark, Overall_Results.xlsx.
// The counters of an H100 and an H200 showed the mean of a load at the gauge's period that the
// gauge did not (bench/gpu/examine, driver 580.159). Of no other board with such a gauge is that
// known.
constexpr Generation kHopper = {kQuarter, kAverage, kNoFacts, kNoFacts, kAverage, CounterFeed::own};
constexpr Generation kAmpereAndAda = {kWholeTime, kAverage, kAverage, kWholeTime, kAverage};
constexpr Generation kA100 = {kQuarterOfA100, kNoFacts, kQuarterOfA100, kQuarterOfA100,
                              kQuarterOfA100};
constexpr Generation kTuring = {kWholeTime, kNoFacts, kWholeTime, kWholeTime, kWholeTime};
constexpr Generation kTuringBig = {kFifth, kNoFacts, kFifth, kFifth, kFifth};
constexpr Generation kVoltaAndPascal = {kHalf, kNoFacts, kHalf, kHalf, kHalf};
constexpr Generation kM40s = {kM40, kNoFacts, kM40, kM40, kM40};
constexpr Generation kTitanX = {kTitanXPascal, kNoFacts, kTitanXPascal, kTitanXPascal,
                                kTitanXPascal};
constexpr Generation kK40 = {kLaggingK40, kNoFacts, kLaggingK40, kLaggingK40, kLaggingK40};
constexpr Generation kMaxwellAndKepler = {kLagging, kNoFacts, kLagging, kLagging, kLagging};

struct KnownBoard {
  /// Words of the board's name, one after the other; # is a digit. The first line that fits counts.
  std::string_view words;
  const Generation* generation;
};

// Only boards that the data name, or that differ from one of them in size alone. Not here, because
// nobody has measured them: GH200, B200, A30.
constexpr std::array kLines = {
    KnownBoard{"H100",
               &kHopper},  // ten H100 PCIe: windows of 21 to 25 ms, updates of 99 to 101 ms; SXM:
    KnownBoard{"H200",
               &kHopper},  // 22 and 21 ms, updates of 100 ms (bench/gpu/examine, driver 580.159)
    KnownBoard{"A100", &kA100},  // 17.6 to 25.4 ms
    KnownBoard{"GeForce RTX 40##",
               &kAmpereAndAda},  // a 4090: 100 ms every 100 ms, not late, as recorded
    KnownBoard{"RTX #### Ada", &kAmpereAndAda},
    KnownBoard{"L4", &kAmpereAndAda},
    KnownBoard{"L40", &kAmpereAndAda},
    KnownBoard{"L40S", &kAmpereAndAda},
    KnownBoard{"GeForce RTX 30##", &kAmpereAndAda},  // so a 3090, with driver 530 too
    KnownBoard{"RTX A####", &kAmpereAndAda},         // so an A5000
    KnownBoard{"A40", &kAmpereAndAda},
    KnownBoard{"A10", &kAmpereAndAda},
    KnownBoard{"Quadro RTX 8000", &kTuringBig},  // the generation's odd one out
    KnownBoard{"Quadro RTX ####", &kTuring},
    KnownBoard{"TITAN RTX", &kTuring},
    KnownBoard{"GeForce RTX 20##", &kTuring},
    KnownBoard{"GeForce GTX 16##", &kTuring},
    KnownBoard{"T4", &kTuring},
    KnownBoard{"V100", &kVoltaAndPascal},  // 10.5 to 10.8 ms, every 20 ms
    KnownBoard{"TITAN V", &kVoltaAndPascal},
    KnownBoard{"P100", &kVoltaAndPascal},  // 10.5 to 11.1 ms, every 20 to 21 ms
    KnownBoard{"P40", &kVoltaAndPascal},
    KnownBoard{"GeForce GTX 10##", &kVoltaAndPascal},
    KnownBoard{"GeForce GTX TITAN X",
               &kMaxwellAndKepler},  // of Maxwell, before Pascal's of that name
    KnownBoard{"TITAN X", &kTitanX},
    KnownBoard{"M40", &kM40s},
    KnownBoard{"K40m", &kK40},
    KnownBoard{"K80", &kMaxwellAndKepler},
};

/// Takes the first word off a board's name; words end at a blank or a dash.
std::string_view take_name_word(std::string_view& text) noexcept {
  constexpr std::string_view kBetween = " -";
  text.remove_prefix(std::min(text.find_first_not_of(kBetween), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(kBetween));
  text.remove_prefix(word.size());
  return word;
}

bool fits(std::string_view word, std::string_view pattern) noexcept {
  return std::ranges::equal(
      word, pattern, [](char c, char wanted) { return wanted == '#' ? is_digit(c) : c == wanted; });
}

bool begins_with(std::string_view name, std::string_view pattern) noexcept {
  while (!pattern.empty()) {
    if (!fits(take_name_word(name), take_name_word(pattern))) return false;
  }
  return true;
}

bool contains(std::string_view name, std::string_view pattern) noexcept {
  while (!name.empty()) {
    if (begins_with(name, pattern)) return true;
    take_name_word(name);
  }
  return false;
}

GaugeFacts usage_of(const Generation& generation, std::optional<unsigned> branch) noexcept {
  constexpr unsigned kOddBranch = 530;
  if (branch) {
    if (*branch < kOddBranch) return generation.usage_before_530;
    return *branch == kOddBranch ? generation.usage_of_530 : generation.usage_since;
  }
  // Whatever the driver is, where that makes no difference.
  const auto is_as_since = [&](const GaugeFacts& facts) {
    return facts.window == generation.usage_since.window &&
           facts.longest_lag == generation.usage_since.longest_lag;
  };
  const bool never_changed =
      is_as_since(generation.usage_before_530) && is_as_since(generation.usage_of_530);
  return never_changed ? generation.usage_since : kNoFacts;
}

}  // namespace

std::optional<double> GaugeFacts::coverage() const noexcept {
  if (time_constant) return 1.0;
  if (!window || !update.known()) return std::nullopt;
  return std::min(1.0, Seconds(*window) / Seconds(update.mean));
}

GpuFacts known_gpu(std::string_view board, std::optional<unsigned> driver_branch) noexcept {
  GpuFacts facts;
  // A Grace-Hopper counts CPU and memory of its module too (github.com/ml-energy/zeus/pull/172).
  if (contains(board, "GH200")) facts.energy_scope = Scope::module;
  const auto* const line = std::ranges::find_if(
      kLines, [&](const KnownBoard& candidate) { return contains(board, candidate.words); });
  if (line == kLines.end()) return facts;
  facts.instant = line->generation->instant;
  facts.average = line->generation->average;
  facts.usage = usage_of(*line->generation, driver_branch);
  facts.counter_feed = line->generation->counter_feed;
  return facts;
}

std::optional<unsigned> parse_driver_branch(std::string_view version) noexcept {
  const std::size_t dot = version.find('.');
  if (dot == std::string_view::npos || dot + 1 == version.size()) return std::nullopt;
  return parse_unsigned<unsigned>(version.substr(0, dot));
}

}  // namespace wattle
