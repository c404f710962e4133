#include "otlp/otlp_spool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include "base/files/file.hpp"
#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle::otlp {
namespace {

constexpr std::string_view kFormat = "wattle.otlp/1";
constexpr std::string_view kSpoolNameEnd = ".otlp";
constexpr std::size_t kNameDigits = 20;
constexpr std::size_t kMostHeadBytes = 128;
constexpr mode_t kOwnSpoolFile = 0600;

struct SpoolHead {
  OtlpSignal signal = OtlpSignal::metrics;
  std::uint64_t items = 0;
  std::uint64_t bytes = 0;
  std::uint64_t hash = 0;
};

/// Takes the first line off `bytes`: "wattle.otlp/1 metrics ITEMS BYTES HASH".
std::optional<SpoolHead> take_head(std::string_view& bytes) {
  if (bytes.substr(0, kMostHeadBytes).find('\n') == std::string_view::npos) return std::nullopt;
  std::string_view line = take_line(bytes);
  if (take_until(line, ' ') != kFormat) return std::nullopt;
  const std::string_view signal = take_until(line, ' ');
  const auto items = parse_unsigned<std::uint64_t>(take_until(line, ' '));
  const auto size = parse_unsigned<std::uint64_t>(take_until(line, ' '));
  const auto hash = parse_unsigned<std::uint64_t>(line);
  if ((signal != "metrics" && signal != "traces") || !items || !size || !hash) return std::nullopt;
  return SpoolHead{.signal = signal == "metrics" ? OtlpSignal::metrics : OtlpSignal::traces,
                   .items = *items,
                   .bytes = *size,
                   .hash = *hash};
}

/// Absent: this is no name of a file of a spool.
std::optional<std::uint64_t> number_in(std::string_view name) {
  if (name.size() != kNameDigits + kSpoolNameEnd.size() || !name.ends_with(kSpoolNameEnd)) {
    return std::nullopt;
  }
  return parse_unsigned<std::uint64_t>(name.substr(0, kNameDigits));
}

std::string spool_name_of(std::uint64_t number) {
  return fmt::format("{:020}{}", number, kSpoolNameEnd);
}

std::string error_text(int error) { return std::generic_category().message(error); }

[[noreturn]] void refuse_spool(const std::string& path, std::string_view why) {
  throw Error(fmt::format("cannot keep telemetry in {}: {}; name another folder with --otlp-spool",
                          printable(path), why));
}

Fd open_spool_folder(const std::string& path) {
  if (::mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    refuse_spool(path, error_text(errno));
  }
  Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!folder || ::fstat(folder.get(), &status) != 0) refuse_spool(path, error_text(errno));
  if (status.st_uid != ::geteuid()) refuse_spool(path, "another user owns it");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    refuse_spool(path, "other users may write in it");
  }
  return folder;
}

Fd lock_spool(const Fd& folder, const std::string& path) {
  Fd lock(::openat(folder.get(), "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, kOwnSpoolFile));
  if (!lock) refuse_spool(path, error_text(errno));
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    refuse_spool(path, errno == EWOULDBLOCK ? "another process uses it" : error_text(errno));
  }
  return lock;
}

std::string without_slash_at_end(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

std::string spool_file_of(const OtlpBatch& batch) {
  return fmt::format("{} {} {} {} {}\n{}", kFormat,
                     batch.signal == OtlpSignal::metrics ? "metrics" : "traces", batch.items,
                     batch.body.size(), hash_of(batch.body), batch.body);
}

std::optional<OtlpBatch> parse_spool_file(std::string_view bytes) {
  const auto head = take_head(bytes);
  if (!head || head->bytes != bytes.size() || head->hash != hash_of(bytes)) return std::nullopt;
  return OtlpBatch{.signal = head->signal, .items = head->items, .body = std::string(bytes)};
}

OtlpSpool::OtlpSpool(const std::string& folder, std::uint64_t most_bytes)
    : path_(without_slash_at_end(folder)), most_bytes_(most_bytes) {
  if (path_.empty()) return;
  folder_ = open_spool_folder(path_);
  lock_ = lock_spool(folder_, path_);
  take_over();
}

/// Files of an earlier process, in the order in which they were made.
void OtlpSpool::take_over() {
  for (const std::string& name : list_folder(path_).names) {
    const auto number = number_in(name);
    if (!number) {
      // The leftovers of a killed process.
      if (name.ends_with(".part")) (void)::unlinkat(folder_.get(), name.c_str(), 0);
      continue;
    }
    last_number_ = std::max(last_number_, *number);
    struct stat status {};
    const bool is_file =
        ::fstatat(folder_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(status.st_mode);
    if (!is_file) continue;
    const std::string start = read(name, kMostHeadBytes).value_or("");
    std::string_view rest = start;
    const auto head = take_head(rest);
    const auto bytes = static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0));
    bytes_ += bytes;
    entries_.push_back({.name = name, .bytes = bytes, .items = head ? head->items : 0});
  }
  make_room();
}

bool OtlpSpool::write(const std::string& name, std::string_view bytes) {
  const std::string part = name + ".part";
  (void)::unlinkat(folder_.get(), part.c_str(), 0);
  const Fd file(::openat(folder_.get(), part.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kOwnSpoolFile));
  int error = file ? write_all(file.get(), bytes) : errno;
  if (error == 0 && ::renameat(folder_.get(), part.c_str(), folder_.get(), name.c_str()) != 0) {
    error = errno;
  }
  if (error == 0) return true;
  (void)::unlinkat(folder_.get(), part.c_str(), 0);
  losses_.write_failure = error_text(error);
  return false;
}

std::optional<std::string> OtlpSpool::read(const std::string& name, std::size_t most) const {
  const Fd file(
      ::openat(folder_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  std::string bytes(std::min<std::size_t>(most, static_cast<std::size_t>(status.st_size)), '\0');
  const ssize_t count = read_pieces(file.get(), bytes);
  if (count < 0) return std::nullopt;
  bytes.resize(static_cast<std::size_t>(count));
  return bytes;
}

void OtlpSpool::add(OtlpBatch batch) {
  WaitingBatch entry{.items = batch.items};
  if (is_on_disk()) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    // Its order, whatever the clock does.
    last_number_ = std::max<std::uint64_t>(
        last_number_ + 1, static_cast<std::uint64_t>(
                              std::chrono::duration_cast<std::chrono::microseconds>(now).count()));
    const std::string bytes = spool_file_of(batch);
    const std::string name = spool_name_of(last_number_);
    entry.bytes = bytes.size();
    if (write(name, bytes)) entry.name = name;
  }
  if (entry.name.empty()) {
    entry.bytes = batch.body.size();
    entry.batch = std::move(batch);
  }
  bytes_ += entry.bytes;
  entries_.push_back(std::move(entry));
  make_room();
}

void OtlpSpool::make_room() {
  while (bytes_ > most_bytes_ && !entries_.empty()) {
    losses_.items += entries_.front().items;
    drop_front();
  }
}

void OtlpSpool::drop_front() {
  const WaitingBatch& entry = entries_.front();
  if (!entry.name.empty()) (void)::unlinkat(folder_.get(), entry.name.c_str(), 0);
  bytes_ -= entry.bytes;
  entries_.pop_front();
  front_.reset();
}

const OtlpBatch* OtlpSpool::front() {
  while (!entries_.empty()) {
    const WaitingBatch& entry = entries_.front();
    if (entry.name.empty()) return &entry.batch;
    if (front_) return &*front_;
    front_ = parse_spool_file(read(entry.name, kMostFileBytes).value_or(""));
    if (front_) return &*front_;
    losses_.damaged.push_back(entry.name);
    drop_front();
  }
  return nullptr;
}

void OtlpSpool::pop() {
  if (!entries_.empty()) drop_front();
}

std::uint64_t OtlpSpool::waiting_items() const noexcept {
  std::uint64_t items = 0;
  for (const WaitingBatch& entry : entries_) items += entry.items;
  return items;
}

OtlpSpool::Losses OtlpSpool::take_losses() { return std::exchange(losses_, {}); }

}  // namespace wattle::otlp
