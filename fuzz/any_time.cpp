// Times of day in tables of others.
#include "run_monitor/tables/any_time.hpp"

#include "check.hpp"
#include "run_monitor/tables/time_text.hpp"

FUZZ_TARGET(any_time)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  const std::string_view text = fuzz::text_of(data, size);
  const auto time_ms = parse_any_time_ms(text);
  constexpr std::int64_t kLastMs = 10'000'000'000'000;
  fuzz::require(!time_ms || (*time_ms > -100'000'000 && *time_ms < kLastMs),
                "a time is of our years");
  fuzz::require(!time_ms || !is_ambiguous_date(text), "no date is guessed");
  TimeReader times;
  const auto first = times.read(text);
  fuzz::require(first == times.read(text), "a text is the same time again");
  if (const auto local = parse_local_ms(text))
    fuzz::require(first == local, "as nvidia-smi means it");
  return 0;
}
