#include "sensors/nvml/busy_samples.hpp"

#include <cstring>
#include <vector>

namespace wattle::nvml {
namespace {

using std::chrono::nanoseconds;

std::uint32_t percent_of(const Sample& sample) noexcept {
  std::uint32_t percent = 0;
  std::memcpy(&percent, sample.value.data(), sizeof percent);
  return percent;
}

}  // namespace

/// False where the driver has no samples.
bool BusySamples::ask(const Api& api, Handle handle) {
  constexpr std::size_t kMost = 1024;  // an H100 keeps 72
  std::vector<Sample> samples(kMost);
  auto count = static_cast<std::uint32_t>(samples.size());
  ValueType type = ValueType::unsigned_int;
  const Return result =
      call(api.samples, handle, kUtilizationSamples, newest_us_, &type, &count, samples.data());
  if (result == Return::not_found) return true;
  if (result != Return::success || type != ValueType::unsigned_int || count > kMost) return false;
  samples.resize(count);
  const bool is_first_answer = newest_us_ == 0;
  for (const Sample& sample : samples) {
    if (sample.timestamp_us <= newest_us_) continue;
    const std::uint64_t length_us = sample.timestamp_us - newest_us_;
    // After a pause it is not known how long one is of.
    if (!is_first_answer && length_us <= microseconds_in(kLongestSample) &&
        percent_of(sample) <= 100) {
      const nanoseconds length = std::chrono::microseconds(length_us);
      sum_.busy += length * percent_of(sample) / 100;
      sum_.known += length;
    }
    newest_us_ = sample.timestamp_us;
  }
  return true;
}

std::optional<BusyTime> BusySamples::until_now(const Api& api, Handle handle,
                                               const TimeSource& clock) {
  const TimePoint now = clock.now();
  if (spacing_.is_due(now)) {
    answers_ = ask(api, handle);
    spacing_.add(now, clock.now());  // a call takes 1.5 to 3 ms on an H100
  }
  return answers_ ? std::optional(sum_) : std::nullopt;
}

}  // namespace wattle::nvml
