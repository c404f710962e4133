#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <system_error>
#include <utility>

#include "base/files/input_file.hpp"
#include "base/text/line_reader.hpp"
#include "base/text/text.hpp"
#include "top/sources/record.hpp"
#include "top/sources/source.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

constexpr std::size_t kMostLineBytes = std::size_t{16} << 20U;

/// A recording: each observation as long after the one before as it was, by the speed.
class ReplaySource : public TopSource {
 public:
  ReplaySource(const std::string& path, double speed)
      : path_(path),
        lines_(open(path), kMostLineBytes),
        timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)),
        speed_(speed) {
    if (!timer_) throw Error("cannot make a timer: " + std::generic_category().message(errno));
    const auto first = lines_.next();
    if (!first || !first->starts_with(kTopRecordStart)) {
      throw InvalidArgument(
          fmt::format("{} is not a recording of wattle top --record", printable(path)));
    }
    next_ = read_next();
    if (!next_) {
      throw InvalidArgument(fmt::format("{} has no period that can be shown", printable(path)));
    }
    wait(0.0);
  }

  [[nodiscard]] int fd() const noexcept override { return next_ ? timer_.get() : -1; }

  [[nodiscard]] std::optional<TopObservation> take() override {
    std::uint64_t expired = 0;
    if (::read(timer_.get(), &expired, sizeof expired) != sizeof expired) return std::nullopt;
    std::optional<TopObservation> now = std::exchange(next_, read_next());
    if (now && next_) wait(next_->length.value_or(Seconds(0)).count());
    return now;
  }

  /// The rest of the time until the next period passes at the new speed.
  void set_speed(double speed) override {
    itimerspec left{};
    const double before = std::exchange(speed_, speed);
    if (::timerfd_gettime(timer_.get(), &left) != 0) return;
    const double left_s = static_cast<double>(left.it_value.tv_sec) +
                          static_cast<double>(left.it_value.tv_nsec) * 1e-9;
    if (left_s > 0.0) wait(left_s * before);
  }

  /// The recording starts again, if it can be read twice.
  void reset() override {
    struct stat status {};
    if (::stat(path_.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
    InputFile again = open_input(path_);
    if (!again.file) return;
    lines_ = LineReader(std::move(again.file), kMostLineBytes);
    next_ = read_next();
    wait(0.0);
  }

 private:
  static Fd open(const std::string& path) {
    InputFile input = open_input(path);
    if (!input.file) {
      throw InvalidArgument(fmt::format("cannot read {}: {}", printable(path), input.problem));
    }
    return std::move(input.file);
  }

  std::optional<TopObservation> read_next() {
    while (const auto line = lines_.next()) {
      if (auto seen = parse_record_line(*line)) return seen;
    }
    return std::nullopt;
  }

  /// The timer fires after this time of the recording.
  void wait(double recorded_s) noexcept {
    constexpr double kShortest = 1e-6;
    constexpr double kLongest = 3600.0;
    const double wait_s = std::clamp(recorded_s / speed_, kShortest, kLongest);
    const double whole = std::floor(wait_s);
    itimerspec at{};
    at.it_value.tv_sec = static_cast<time_t>(whole);
    at.it_value.tv_nsec = static_cast<decltype(at.it_value.tv_nsec)>((wait_s - whole) * 1e9);
    ::timerfd_settime(timer_.get(), 0, &at, nullptr);
  }

  std::string path_;
  LineReader lines_;
  Fd timer_;
  double speed_;
  std::optional<TopObservation> next_{};
};

}  // namespace

std::unique_ptr<TopSource> make_replay(const std::string& path, double speed) {
  return std::make_unique<ReplaySource>(path, speed);
}

}  // namespace wattle::app
