// Does the time of a refusal show how much of a signature was right? Welch's t-test of two kinds of
// wrong tokens, as dudect does it (Reparaz, Balasch, Verbauwhede 2017): |t| under 4.5 after a
// million tries is no evidence that it does.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "auth/token.hpp"
#include "tokens.hpp"

namespace wattle::daemon {
namespace {

using namespace tokens;

constexpr int kTries = 1'000'000;
constexpr double kEvidence = 4.5;

std::string with_other(std::string token, std::size_t at) {
  token[at] = token[at] == 'A' ? 'E' : 'A';  // in the last place too, base64 in its one form
  return token;
}

struct Moments {
  double count = 0;
  double mean = 0;
  double square_sum = 0;
  void add(double value) {
    const double before = value - mean;
    mean += before / ++count;
    square_sum += before * (value - mean);
  }
  /// The square of the standard error of the mean.
  [[nodiscard]] double error2() const { return square_sum / (count - 1) / count; }
};

/// t of the times that `check` takes for a token with its signature wrong from the first byte on,
/// and for one with its last byte wrong; in random order. The slowest tenth, interrupted or
/// preempted, is left out.
template <class Check>
double t_of(Check check) {
  const std::size_t signature = kAlice.rfind('.') + 1;
  const std::array tokens{with_other(kAlice, signature), with_other(kAlice, kAlice.size() - 1)};
  std::array<std::vector<double>, 2> times;
  std::mt19937 random(1);
  int taken = 0;
  for (int i = 0; i < kTries; ++i) {
    const std::size_t kind = random() & 1U;
    const std::string& token = tokens[kind];
    const auto begin = std::chrono::steady_clock::now();
    taken += check(token) ? 1 : 0;
    const auto end = std::chrono::steady_clock::now();
    times[kind].push_back(std::chrono::duration<double, std::nano>(end - begin).count());
  }
  EXPECT_EQ(taken, 0);

  std::vector<double> all = times[0];
  all.insert(all.end(), times[1].begin(), times[1].end());
  const auto limit = all.begin() + std::ssize(all) * 9 / 10;
  std::ranges::nth_element(all, limit);
  std::array<Moments, 2> moments;
  for (std::size_t kind = 0; kind < 2; ++kind) {
    for (const double time : times[kind]) {
      if (time < *limit) moments[kind].add(time);
    }
  }
  const double t =
      (moments[0].mean - moments[1].mean) / std::sqrt(moments[0].error2() + moments[1].error2());
  std::printf("%.1f ns and %.1f ns, t = %.2f\n", moments[0].mean, moments[1].mean, t);
  return t;
}

TEST(TokenTiming, DoesNotRevealHowMuchOfASignatureIsRight) {
  const double t = t_of([](std::string_view token) {
    return std::holds_alternative<Claims>(verify(token, kKey, kNow));
  });
  EXPECT_LT(std::abs(t), kEvidence);
}

TEST(TokenTiming, WouldBeFoundToReportWhereItDid) {
  const double t = t_of([](std::string_view token) {
    // As long as `verify` takes, and then a comparison that stops at the first wrong character.
    const bool is_signed = !sign(kHeader, R"({"sub":"alice"})", kKey).empty();
    return is_signed && std::equal(token.begin(), token.end(), kAlice.begin(),
                                   [](char a, char b) { return a == b; });
  });
  EXPECT_GT(std::abs(t), kEvidence);
}

}  // namespace
}  // namespace wattle::daemon
