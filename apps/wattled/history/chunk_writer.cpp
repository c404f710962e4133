#include "history/chunk_writer.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text/text.hpp"

namespace wattle::daemon {
namespace {

/// True if somebody removed the file: what is written to it is lost.
bool is_removed(const Fd& file) noexcept {
  struct stat status {};
  return ::fstat(file.get(), &status) != 0 || status.st_nlink == 0;
}

}  // namespace

ChunkWriter::ChunkWriter(std::shared_ptr<const ChunkFolder> folder, const ChunkLimits& limits,
                         const ChunkHeader& session, Log log)
    : folder_(std::move(folder)), limits_(limits), header_(session), log_(std::move(log)) {}

void ChunkWriter::append(const ChunkFrames& frames) noexcept {
  try {
    write(frames);
  } catch (const std::exception&) {
    file_.reset();  // the next chunk has all that is needed
  }
}

void ChunkWriter::write(const ChunkFrames& frames) {
  uptime_ = frames.uptime;
  channels_ += frames.channels;
  // The wall clock may have been set back since the failure.
  const bool waits = failed_ && frames.at >= *failed_ && frames.at < *failed_ + kRetry;
  if (waits) return;
  const bool is_full = bytes_ >= limits_.chunk_bytes || frames.at < made_ ||
                       frames.at >= made_ + limits_.chunk_length;
  if (file_ && (is_full || is_removed(file_))) {
    (void)::fdatasync(file_.get());
    file_.reset();
  }
  int error = 0;
  if (!file_) {
    error = open_chunk(frames);
  } else {
    const std::string all = frames.channels + frames.batch;
    bytes_ += all.size();
    error = write_all(file_.get(), all);
  }
  if (error != 0) return fail(error, frames.at);
  if (failed_) log_(fmt::format("keeps the history in {} again", printable(folder_->path())));
  failed_.reset();
}

int ChunkWriter::open_chunk(const ChunkFrames& frames) {
  header_.first_batch = frames.number;
  header_.made = made_ = frames.at;
  name_ = chunk_name(made_, header_.session, ++number_);
  file_ = folder_->make(name_);
  if (!file_) return errno;
  const std::string all = encode(header_) + channels_ + frames.batch;
  bytes_ = all.size();
  const int error = write_all(file_.get(), all);
  // A failure that lasts must not fill the folder with empty files.
  if (error != 0) (void)folder_->remove(name_);
  remove_old(frames.at);
  return error;
}

void ChunkWriter::fail(int error, TimePoint now) {
  // Readers leave out what was written of the frames; the next chunk has all that is needed.
  file_.reset();
  if (!failed_) {
    log_(fmt::format(
        "cannot write the history in {}: {}; it is tried again every {} s, and what "
        "is not written is missing after a restart",
        printable(folder_->path()), std::generic_category().message(error), kRetry.count()));
  }
  failed_ = now;
}

void ChunkWriter::remove_old(TimePoint now) const {
  std::vector<ChunkFile> files = folder_->list();
  std::erase_if(files, [&](const ChunkFile& file) { return file_ && file.name == name_; });
  // Those from a wall clock that was ahead first.
  constexpr std::chrono::hours kAhead{24};
  std::ranges::stable_partition(files,
                                [&](const ChunkFile& file) { return file.made > now + kAhead; });
  const auto charge = [](std::uint64_t bytes) { return std::max(bytes, kLeastCharge); };
  std::uint64_t sum = file_ ? charge(limits_.chunk_bytes) : 0;
  for (const ChunkFile& file : files) sum += charge(file.bytes);
  // Whatever the wall clock shows, what earlier sessions wrote last is as old as this session.
  std::optional<TimePoint> newest;
  const auto is_own = [&](const ChunkFile& file) {
    return is_chunk_of(file.name, header_.session);
  };
  for (const ChunkFile& file : files) {
    if (!is_own(file)) newest = std::max(newest.value_or(file.made), file.made);
  }
  for (const ChunkFile& file : files) {
    // It ended within the longest time of a chunk.
    const TimePoint kept_until = file.made + limits_.chunk_length + limits_.age;
    const bool is_old =
        kept_until < now && (is_own(file) || kept_until < newest.value_or(now) + uptime_);
    if (sum <= limits_.bytes && !is_old) continue;
    if (folder_->remove(file.name) == 0) sum -= charge(file.bytes);
  }
}

}  // namespace wattle::daemon
