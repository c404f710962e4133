#include "otlp/otlp_exporter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "base/schedule.hpp"
#include "base/text/text.hpp"
#include "otlp/otlp_spool.hpp"

namespace wattle::otlp {
namespace {

using std::chrono::nanoseconds;

/// Between two lines of one kind.
constexpr std::chrono::seconds kQuiet{60};

/// Losses of one kind: counted, and logged at most once a minute.
class LossLine {
 public:
  void add(std::uint64_t items, std::string why) {
    items_ += items;
    why_ = std::move(why);
    is_new_ = true;
  }
  /// Absent: there is nothing to say, or not yet.
  [[nodiscard]] std::optional<std::string> take(TimePoint now, bool is_last) {
    if (!is_new_ || (!is_last && said_at_ && now - *said_at_ < kQuiet)) return std::nullopt;
    is_new_ = false;
    said_at_ = now;
    const std::uint64_t items = std::exchange(items_, 0);
    if (items == 0) return why_;
    return fmt::format("{} data points or spans dropped: {}", items, why_);
  }

 private:
  std::uint64_t items_ = 0;
  std::string why_;
  bool is_new_ = false;
  std::optional<TimePoint> said_at_;
};

}  // namespace

/// All that the thread touches.
class OtlpExporter::Work {
 public:
  Work(OtlpExporterOptions options, std::unique_ptr<OtlpPost> post, const TimeSource& clock)
      : options_(std::move(options)),
        post_(std::move(post)),
        clock_(clock),
        spool_(options_.spool, options_.most_bytes),
        backoff_(options_.first_delay, options_.longest_delay),
        random_(std::random_device{}()) {}

  void add(OtlpBatch batch) {
    const std::lock_guard lock(mutex_);
    arrived_.push_back(std::move(batch));
    // A thread that hangs must not fill the memory.
    for (arrived_bytes_ += arrived_.back().body.size();
         arrived_bytes_ > options_.most_bytes && !arrived_.empty();) {
      arrived_bytes_ -= arrived_.front().body.size();
      lost_arrived_ += arrived_.front().items;
      arrived_.erase(arrived_.begin());
    }
  }

  /// No request is in progress after that.
  void end_after(nanoseconds patience) noexcept {
    end_ns_ = (clock_.now() + patience).time_since_epoch().count();
  }

  TimePoint turn() {
    try {
      take_arrived();
      while (!is_over() && clock_.now() >= next_try_) {
        const OtlpBatch* const batch = spool_.front();
        if (batch == nullptr) break;
        send(*batch);
        take_arrived();
      }
      say_losses(false);
    } catch (const std::exception& error) {
      say(error.what());  // no memory: it may go better later
      next_try_ = clock_.now() + options_.longest_delay;
    }
    return spool_.waiting() == 0 ? TimePoint::max() : std::max(next_try_, clock_.now());
  }

  /// Sends what waits, unless the last try failed.
  void end() {
    (void)turn();
    if (!spool_.is_on_disk() && spool_.waiting() > 0) {
      dropped_.add(spool_.waiting_items(),
                   "the program ended before they could be sent to " + options_.name);
    }
    try {
      say_losses(true);
    } catch (const std::exception&) {
      return;  // no memory for a line
    }
  }

 private:
  [[nodiscard]] bool is_over() const noexcept {
    return clock_.now().time_since_epoch().count() >= end_ns_.load();
  }

  void take_arrived() {
    std::vector<OtlpBatch> arrived;
    {
      const std::lock_guard lock(mutex_);
      arrived.swap(arrived_);
      arrived_bytes_ = 0;
      if (lost_arrived_ > 0) full_.add(std::exchange(lost_arrived_, 0), "too many wait");
    }
    for (OtlpBatch& batch : arrived) spool_.add(std::move(batch));
    note_losses();
  }

  void note_losses() {
    OtlpSpool::Losses losses = spool_.take_losses();
    if (losses.items > 0) {
      full_.add(losses.items,
                fmt::format("the oldest of what waits for {}, which is more than {} bytes",
                            options_.name, options_.most_bytes));
    }
    for (const std::string& name : losses.damaged) {
      say(fmt::format("{}/{} is damaged: skipped and removed", printable(options_.spool),
                      printable(name)));
    }
    if (!losses.write_failure.empty()) {
      disk_.add(0, fmt::format("cannot write to {}: {}; what waits is kept in memory",
                               printable(options_.spool), losses.write_failure));
    }
  }

  void send(const OtlpBatch& batch) {
    const OtlpAnswer answer = post_->post(batch, options_.timeout, [this] { return is_over(); });
    const OtlpOutcome outcome = outcome_of(answer, batch.signal, batch.items);
    note_losses();
    if (outcome.verdict == OtlpVerdict::retry) return wait(outcome);
    if (outcome.rejected > 0 || outcome.verdict == OtlpVerdict::refused) {
      dropped_.add(outcome.rejected,
                   fmt::format("{}: {}", options_.name,
                               outcome.reason.empty() ? "no reason given" : outcome.reason));
    } else if (!outcome.reason.empty()) {
      warned_.add(0, fmt::format("{} warns: {}", options_.name, outcome.reason));
    }
    spool_.pop();
    backoff_.reset();
    next_try_ = TimePoint::min();
    if (std::exchange(is_failing_, false)) {
      say(fmt::format("{} takes telemetry again; {} requests wait", options_.name,
                      spool_.waiting()));
    }
  }

  void wait(const OtlpOutcome& outcome) {
    const double chance = std::uniform_real_distribution<double>(0.0, 1.0)(random_);
    nanoseconds delay = backoff_.next(chance);
    if (outcome.wait) delay = std::max<nanoseconds>(delay, *outcome.wait);
    next_try_ = clock_.now() + delay;
    if (is_over() || std::exchange(is_failing_, true)) return;
    say(fmt::format("cannot send telemetry to {}: {}; it waits {} and is sent again", options_.name,
                    outcome.reason,
                    spool_.is_on_disk() ? "in " + printable(options_.spool) : "in memory"));
  }

  void say_losses(bool is_last) {
    for (LossLine* const line : {&dropped_, &full_, &disk_, &warned_}) {
      if (const auto text = line->take(clock_.now(), is_last)) say(*text);
    }
  }

  void say(const std::string& line) const {
    if (options_.say) options_.say("telemetry: " + line);
  }

  OtlpExporterOptions options_;
  std::unique_ptr<OtlpPost> post_;
  const TimeSource& clock_;
  OtlpSpool spool_;
  RetryDelay backoff_;
  std::mt19937 random_;
  TimePoint next_try_ = TimePoint::min();
  bool is_failing_ = false;
  LossLine dropped_;  ///< refused by the collector
  LossLine full_;     ///< the spool is
  LossLine disk_;
  LossLine warned_;
  std::atomic<std::int64_t> end_ns_ = TimePoint::max().time_since_epoch().count();
  std::mutex mutex_;
  std::vector<OtlpBatch> arrived_;
  std::uint64_t arrived_bytes_ = 0;
  std::uint64_t lost_arrived_ = 0;
};

OtlpExporter::OtlpExporter(OtlpExporterOptions options, std::unique_ptr<OtlpPost> post,
                           const TimeSource& clock)
    : work_(std::make_shared<Work>(std::move(options), std::move(post), clock)),
      worker_(std::make_unique<Worker>([work = work_] { return work->turn(); },
                                       "a thread to send telemetry with")) {}

OtlpExporter::~OtlpExporter() { (void)finish(nanoseconds(0)); }

void OtlpExporter::add(OtlpBatch batch) {
  work_->add(std::move(batch));
  worker_->wake();
}

bool OtlpExporter::finish(nanoseconds patience) noexcept {
  if (std::exchange(has_finished_, true)) return true;
  // A request in progress sees the end within a second.
  constexpr std::chrono::seconds kLastRequest{2};
  work_->end_after(patience);
  try {
    if (!worker_->add([work = work_] { work->end(); })) return false;
  } catch (const std::exception&) {
    return false;
  }
  return worker_->finish(patience + kLastRequest);
}

}  // namespace wattle::otlp
