#include "history/disk_history.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <ctime>
#include <functional>
#include <new>
#include <random>
#include <system_error>
#include <utility>

#include "base/files/file.hpp"
#include "base/text/text.hpp"
#include "history/crc32c.hpp"
#include "history/past_history.hpp"
#include "history/past_windows.hpp"
#include "serve/log.hpp"

namespace wattle::daemon {
namespace {

/// Half-second batches that wait for a disk: 30 s.
constexpr std::size_t kMostBatchesWaiting = 60;
/// How long the end of the daemon waits for a disk.
constexpr std::chrono::seconds kDiskPatience{1};

std::uint64_t random_session() {
  std::random_device source;
  return (static_cast<std::uint64_t>(source()) << 32U) | source();
}

std::string utc_text(TimePoint stored) {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(stored.time_since_epoch()).count();
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

/// Why a chunk is left out, or which part of it; empty: nothing was.
std::string problem_of(const ChunkReport& report) {
  if (!report.refusal.empty()) return std::string(report.refusal);
  if (report.damaged_bytes == 0) return {};
  return fmt::format("{} damaged bytes are left out", report.damaged_bytes);
}

/// Logs the first of many problems, and how many more there are.
class Problems {
 public:
  explicit Problems(std::string folder) : folder_(std::move(folder)) {}

  void add(const std::string& file, std::string_view problem) {
    if (++count_ <= kMostLogged) {
      log_warning(fmt::format("history: {}/{}: {}", folder_, file, problem));
    }
  }
  void log_rest() const {
    if (count_ <= kMostLogged) return;
    log_warning(
        fmt::format("history: {}: {} more files have problems", folder_, count_ - kMostLogged));
  }

 private:
  static constexpr std::size_t kMostLogged = 5;
  std::string folder_;
  std::size_t count_ = 0;
};

/// Reads the chunks of earlier sessions, and logs what is wrong with them. Null once `is_over`.
std::unique_ptr<const PastHistory> read_past(const ChunkFolder& folder, const PastOptions& options,
                                             std::uint64_t session,
                                             const std::function<bool()>& is_over) {
  auto past = std::make_unique<PastHistory>(options);
  Problems problems(printable(folder.path()));
  std::size_t used = 0;
  std::string bytes;
  for (const ChunkFile& file : folder.list()) {
    if (is_over()) return nullptr;
    if (is_chunk_of(file.name, session)) continue;
    // The writer removes old ones.
    if (!folder.read(file.name, bytes)) {
      if (errno != ENOENT) {
        problems.add(file.name, "cannot read it: " + std::generic_category().message(errno));
      }
      continue;
    }
    const ChunkReport report = past->add(bytes);
    const std::string problem = problem_of(report);
    if (!problem.empty()) problems.add(file.name, problem);
    if (report.values > 0) ++used;
  }
  prepare_columns(*past);
  if (is_over()) return nullptr;
  problems.log_rest();
  const auto first = past->first();
  log_info(first ? fmt::format("history: read {} files in {}, from {}", used,
                               printable(folder.path()), utc_text(*first))
                 : fmt::format("history: there is none yet in {}", printable(folder.path())));
  return past;
}

}  // namespace

std::uint64_t machine_number() {
  const auto id = read_line("/etc/machine-id");
  if (!id || id->empty()) return 0;
  // The ID itself is confidential: machine-id(5).
  const std::uint32_t first = crc32c("wattled history " + *id);
  return (std::uint64_t{1} << 32U) | first;
}

DiskHistory::DiskHistory(EnergyHistory& history, Loop& loop,
                         std::shared_ptr<const ChunkFolder> folder,
                         const DiskHistoryOptions& options)
    : history_(history),
      loop_(loop),
      folder_(std::move(folder)),
      session_(random_session()),
      started_(loop.now()),
      writer_(std::make_shared<ChunkWriter>(
          folder_, options.limits,
          ChunkHeader{.session = session_, .machine = options.machine, .made = {}},
          [](std::string_view line) { log_warning(line); })),
      pace_(loop, kPeriod, [this] { write(); }) {
  load(options);
  pace_.start();
}

void DiskHistory::load(const DiskHistoryOptions& options) {
  const TimePoint now = stored_time(loop_.now());
  const PastOptions past{.begin = now - options.limits.age, .end = now, .machine = options.machine};
  const auto give = [&history = history_,
                     lives = std::weak_ptr(lives_)](std::shared_ptr<const PastHistory> read) {
    if (!lives.expired()) history.set_past(std::move(read));
  };
  const bool starts = reads_.add([folder = folder_, session = session_, past, give,
                                  lives = std::weak_ptr(lives_), post = loop_.poster()]() mutable {
    try {
      std::shared_ptr<const PastHistory> read =
          read_past(*folder, past, session, [&] { return lives.expired(); });
      folder.reset();  // and its lock, should the daemon have ended
      if (!read) return;
      post([give, read = std::move(read)] { give(read); });
    } catch (const std::bad_alloc&) {
      log_warning("history: there is not enough memory for what is on disk");
    }
  });
  if (!starts) log_warning("history: cannot read what is on disk: there are too many threads");
}

void DiskHistory::write() {
  const TimePoint now = loop_.now();
  note_set_back(stored_time(now));
  const ValueCollector::CollectedValues collected = collector_.collect(history_.sources(), now);
  for (const StoredChannel& channel : collected.new_channels) {
    unwritten_channels_ += encode(channel, session_);
  }
  if (collected.batch.channels.empty()) return;
  ChunkFrames frames{.channels = unwritten_channels_,
                     .batch = encode(collected.batch, session_),
                     .number = collected.batch.number,
                     .at = stored_time(now),
                     .uptime = now - started_};
  const bool is_taken =
      writes_.add([writer = writer_, frames = std::move(frames)] { writer->append(frames); },
                  kMostBatchesWaiting);
  if (is_taken) unwritten_channels_.clear();
  if (!is_taken && !drops_) {
    log_warning(
        fmt::format("history: {} does not answer; what is not written is missing after a "
                    "restart",
                    printable(folder_->path())));
  }
  drops_ = !is_taken;
}

void DiskHistory::note_set_back(TimePoint stored) {
  constexpr std::chrono::seconds kWorthALine{1};
  if (stored + kWorthALine < written_) {
    log_warning(
        fmt::format("history: the wall clock was set back by {} s; after a restart, values of a "
                    "time that is already on disk are left out",
                    std::chrono::round<std::chrono::seconds>(written_ - stored).count()));
  }
  written_ = stored;
}

DiskHistory::~DiskHistory() {
  pace_.stop();
  write();
  // Before the log is destroyed, to which the reader writes.
  lives_.reset();
  (void)reads_.stop(kDiskPatience);
  (void)writes_.finish(kDiskPatience);
}

}  // namespace wattle::daemon
