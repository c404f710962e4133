// What a summary says of logs without an index is right, or it says nothing.
#include "generated_log.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include "run_monitor/tables/gpu_table.hpp"

namespace wattle::test {
namespace {

enum class Verdict : std::uint8_t { right, total_only, withheld, wrong };

/// True if an energy is within its ±, and within what the unknown time can hold.
bool is_within(const GpuFigures& figures, const GeneratedLog::Gpu& truth) {
  if (!figures.energy) return false;
  const double allowed_j = figures.energy_uncertainty.value_or(Joules()).si() +
                           1e-4 * truth.energy_j + 0.01 * truth.most_w + truth.doubt_j;
  const double error_j = figures.energy->si() - truth.energy_j;
  return error_j <= allowed_j &&
         error_j >= -(allowed_j + figures.energy_unknown.count() * truth.most_w);
}

/// The number of GPUs that is known beside the rows.
enum class KnownNumber : std::uint8_t { none, given, of_file, wrong_of_file };

GpuTable table_of(const GeneratedLog& log, KnownNumber number) {
  GpuCsv csv;
  ExpectedGpus expected{.count = log.gpus.size(), .is_given = number == KnownNumber::given};
  if (number == KnownNumber::wrong_of_file) {
    const std::array others = {std::size_t{1}, expected.count + 1, 2 * expected.count};
    expected.count = others.at(log.lines.size() % (expected.count == 1 ? 2 : 3));
    if (expected.count == log.gpus.size()) ++expected.count;
  }
  if (number != KnownNumber::none) csv.expect_gpus(expected);
  for (const std::string& line : log.lines) csv.take(line);
  csv.end();
  return csv.result();
}

/// For people: what was said, and what is true.
void print_wrong(const GeneratedLog& log, const GpuTable& table) {
  fmt::print("{}; by {}\n", log.description, table.gpus_by);
  const auto print = [](std::string_view name, const GpuFigures& figures) {
    fmt::print("  {}: {:.1f} J ± {:.1f}, {:.1f} s unknown\n", name,
               figures.energy.value_or(Joules()).si(),
               figures.energy_uncertainty.value_or(Joules()).si(), figures.energy_unknown.count());
  };
  print("all", table.all);
  for (const GpuSummary& gpu : table.gpus) print(gpu.name, gpu);
  for (const GeneratedLog::Gpu& gpu : log.gpus) {
    fmt::print("  truth: {:.1f} J, at most {:.1f} W, {:.1f} J in doubt\n", gpu.energy_j, gpu.most_w,
               gpu.doubt_j);
  }
}

Verdict verdict_of(const GeneratedLog& log, const GpuTable& table) {
  if (!table.all.energy) {
    EXPECT_FALSE(table.problem.empty()) << log.description;
    EXPECT_TRUE(table.gpus.empty()) << log.description;
    return Verdict::withheld;
  }
  GeneratedLog::Gpu sum;
  for (const GeneratedLog::Gpu& gpu : log.gpus) {
    sum.energy_j += gpu.energy_j;
    sum.most_w += gpu.most_w;
    sum.doubt_j += gpu.doubt_j;
  }
  if (!is_within(table.all, sum)) return Verdict::wrong;
  if (table.gpus.empty()) {
    EXPECT_FALSE(table.problem.empty()) << log.description;
    return Verdict::total_only;
  }
  if (table.gpus.size() != log.gpus.size()) return Verdict::wrong;
  if (log.may_be_mixed) return Verdict::right;
  for (const GpuSummary& gpu : table.gpus) {
    const std::size_t number = std::stoul(gpu.name);
    if (number >= log.gpus.size() || !is_within(gpu, log.gpus[number])) return Verdict::wrong;
  }
  return Verdict::right;
}

class Tally {
 public:
  void add(Irregularity kind, Verdict verdict) {
    ++counts_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(verdict)];
  }
  [[nodiscard]] double all() const {
    return percent(Verdict::right, 0, kIrregularities.size()).second;
  }
  /// The part of the logs of some kinds, in percent.
  [[nodiscard]] double part(Verdict verdict, Irregularity first, Irregularity last) const {
    return percent(verdict, static_cast<std::size_t>(first), static_cast<std::size_t>(last) + 1)
        .first;
  }
  [[nodiscard]] double part(Verdict verdict) const {
    return percent(verdict, 0, kIrregularities.size()).first;
  }
  /// As docs/run-monitor.md has it.
  [[nodiscard]] std::string table() const {
    std::string text =
        "| irregularity | right | total only | withheld | wrong |\n|---|---|---|---|---|\n";
    const auto line = [&](std::string_view name, std::size_t begin, std::size_t end) {
      text += fmt::format(
          "| {} | {:.1f} | {:.1f} | {:.1f} | {:.2f} |\n", name,
          percent(Verdict::right, begin, end).first, percent(Verdict::total_only, begin, end).first,
          percent(Verdict::withheld, begin, end).first, percent(Verdict::wrong, begin, end).first);
    };
    for (std::size_t i = 0; i < kIrregularities.size(); ++i) line(kIrregularities[i], i, i + 1);
    line("all", 0, kIrregularities.size());
    return text;
  }

 private:
  /// And the number of logs.
  [[nodiscard]] std::pair<double, double> percent(Verdict verdict, std::size_t begin,
                                                  std::size_t end) const {
    double count = 0.0;
    double sum = 0.0;
    for (std::size_t i = begin; i < end; ++i) {
      count += counts_[i][static_cast<std::size_t>(verdict)];
      for (const int each : counts_[i]) sum += each;
    }
    return {sum > 0.0 ? 100.0 * count / sum : 0.0, sum};
  }
  std::array<std::array<int, 4>, kIrregularities.size()> counts_{};
};

std::uint64_t number_from(const char* name, std::uint64_t usual) {
  const char* const given = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return given == nullptr ? usual : std::stoul(given);
}

/// GENERATED_LOGS: how many, the `part`-th part of it here; GENERATED_LOGS_AFTER: how many seeds
/// are passed over.
Tally tally_of(std::uint64_t first_seed, KnownNumber number, std::uint64_t part = 1,
               GeneratedLog (*log_of)(std::uint64_t seed) = generated_log) {
  const std::uint64_t count = number_from("GENERATED_LOGS", 250) / part;
  first_seed += number_from("GENERATED_LOGS_AFTER", 0);
  Tally tally;
  for (std::uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
    const GeneratedLog log = log_of(seed);
    const GpuTable table = table_of(log, number);
    const Verdict verdict = verdict_of(log, table);
    tally.add(log.kind, verdict);
    if (verdict == Verdict::wrong) {
      fmt::print("seed {}: ", seed);
      print_wrong(log, table);
    }
  }
  fmt::print("{}", tally.table());
  return tally;
}

/// One in 2,000; and one of few.
double most_wrong(const Tally& tally) { return tally.all() < 2000.0 ? 0.41 : 0.05; }

TEST(GeneratedLog, IsTheSameForTheSameSeed) {
  EXPECT_EQ(generated_log(7).lines, generated_log(7).lines);
  EXPECT_NE(generated_log(7).lines, generated_log(8).lines);
}

TEST(GeneratedLog, GivesFiguresThatAreRightOrNone) {
  constexpr std::uint64_t kSeed = 1'000'000;
  const Tally tally = tally_of(kSeed, KnownNumber::none);
  EXPECT_LE(tally.part(Verdict::wrong), most_wrong(tally));
  EXPECT_LE(tally.part(Verdict::withheld), 7.0);
  EXPECT_LE(tally.part(Verdict::total_only), 16.0);
  EXPECT_LE(tally.part(Verdict::withheld, Irregularity::none, Irregularity::one_torn), 3.0);
  EXPECT_LE(
      tally.part(Verdict::withheld, Irregularity::percent_missing, Irregularity::percent_late),
      11.0);
}

/// A GPU that leaves for a moment, an order of two GPUs that is one of one, a restart that is
/// hardly late, memory that changed just then; a round of the next order at the end of one, a
/// restart after a part of a round, rows before the place where times show that one is missing,
/// one GPU that is two at twice the period, a block that ends with rows of no order, a missing row
/// of the first round.
TEST(GeneratedLog, IsNotReadWronglyAgain) {
  constexpr std::array<std::uint64_t, 16> kWithoutNumber = {
      5'000'137,  5'000'252,  5'001'464,  5'001'912,    5'004'266,  5'004'957,
      5'006'630,  5'006'713,  50'001'416, 50'006'228,   50'009'503, 72'000'424,
      72'007'057, 92'004'701, 41'000'018, 1'022'000'359};
  constexpr std::array<std::uint64_t, 14> kWithNumber = {
      6'000'962, 6'001'361, 6'002'690,  6'005'739,  6'006'469,  6'006'567,   6'006'683,
      6'008'332, 6'008'743, 60'006'708, 60'007'180, 95'006'305, 619'001'092, 1'022'000'359};
  const auto expect_not_wrong = [](std::uint64_t seed, KnownNumber number,
                                   GeneratedLog (*log_of)(std::uint64_t seed) = generated_log) {
    const GeneratedLog log = log_of(seed);
    EXPECT_NE(verdict_of(log, table_of(log, number)), Verdict::wrong)
        << seed << ": " << log.description;
  };
  for (const std::uint64_t seed : kWithoutNumber) expect_not_wrong(seed, KnownNumber::none);
  for (const std::uint64_t seed : kWithNumber) expect_not_wrong(seed, KnownNumber::given);
  // Two orders of GPUs whose powers are unknown for different times.
  expect_not_wrong(1'023'000'053, KnownNumber::none, swapped_log);
  // Twice as many GPUs, with two pauses a round.
  expect_not_wrong(880'000'900, KnownNumber::wrong_of_file);
}

TEST(GeneratedLog, GivesMoreFiguresWithTheNumberOfGpus) {
  constexpr std::uint64_t kSeed = 2'000'000;
  const Tally tally = tally_of(kSeed, KnownNumber::given);
  EXPECT_LE(tally.part(Verdict::wrong), most_wrong(tally));
  EXPECT_LE(tally.part(Verdict::withheld), 3.0);
}

/// Two alike cannot be seen to change places: then the total is right.
TEST(GeneratedLog, IsNotReadWronglyWhereGpusChangePlaces) {
  constexpr std::uint64_t kSeed = 4'000'000;
  const Tally tally = tally_of(kSeed, KnownNumber::none, 2, swapped_log);
  EXPECT_LE(tally.part(Verdict::wrong), most_wrong(tally));
  EXPECT_LE(tally.part(Verdict::withheld), 7.0);
}

/// hw_dmon.csv may be of other GPUs than the rows.
TEST(GeneratedLog, IsNotReadWronglyWithTheNumberOfAnotherFile) {
  constexpr std::uint64_t kSeed = 3'000'000;
  const Tally right = tally_of(kSeed, KnownNumber::of_file, 2);
  EXPECT_LE(right.part(Verdict::wrong), most_wrong(right));
  EXPECT_LE(right.part(Verdict::withheld), 7.0);
  const Tally wrong = tally_of(kSeed, KnownNumber::wrong_of_file, 2);
  EXPECT_LE(wrong.part(Verdict::wrong), most_wrong(wrong));
}

}  // namespace
}  // namespace wattle::test
