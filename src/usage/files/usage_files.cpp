#include "usage/files/usage_files.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

#include "base/files/input_file.hpp"
#include "base/files/state_folder.hpp"
#include "base/json/json_read.hpp"
#include "base/log.hpp"
#include "base/text/text.hpp"
#include "usage/files/usage_json.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostBytes = std::size_t{1} << 30U;

bool is_whole(const Json& json) {
  return json.is_object() && json.contains("schema") &&
         (json["schema"] == kTrackSchema || json["schema"] == kFirstTrackSchema) &&
         json.contains("tick") && json["tick"].is_number_unsigned() &&
         json.contains("resource_usage") && json["resource_usage"].is_object() &&
         json["resource_usage"].contains("compute_time");
}

[[noreturn]] void refuse_one_file_for_both(const std::filesystem::path& path) {
  throw InvalidArgument(
      fmt::format("the tracking file and the usage file are both {}", printable(path.string())));
}

}  // namespace

std::string usage_line(const ResourceUsage& usage, std::uint64_t tick) {
  Json json = native_json(usage);
  json["tick"] = tick;
  return dumped(json) + "\n";
}

RecoveredUsage recovered(std::string_view lines, const std::string& path) {
  const std::string_view all = lines;
  // Text after the last line end was not completed.
  while (!lines.empty()) {
    const std::size_t end = lines.rfind('\n');
    if (end == std::string_view::npos) break;
    lines = lines.substr(0, end);
    const std::size_t before = lines.rfind('\n');
    const std::string_view line =
        before == std::string_view::npos ? lines : lines.substr(before + 1);
    const Json json = parse_json(line);
    if (!is_whole(json)) continue;
    return {.usage = usage_from_native_json(json), .ticks = json["tick"].get<std::uint64_t>()};
  }
  if (all.empty()) {
    throw FormatError(path, "cannot recover from " + printable(path) +
                                ": it is empty; the tracker ended before it wrote anything");
  }
  constexpr std::size_t kShown = 60;
  throw FormatError(path, "cannot recover from " + printable(path) + ": no line of it is whole " +
                              "and of a tracker (schema wattle.track/2); it starts with \"" +
                              printable(all.substr(0, kShown)) + "\"");
}

ResourceUsage recover_usage(const std::filesystem::path& usage_file) {
  const InputFile input = open_input(usage_file.string());
  const auto lines = input.file ? read_rest(input.file, kMostBytes) : std::nullopt;
  if (!lines) {
    throw Error("cannot read the usage file " + printable(usage_file.string()) + ": " +
                (input.file ? std::generic_category().message(errno) : input.problem));
  }
  return recovered(*lines, usage_file.string()).usage;
}

UsageFiles::UsageFiles(const UsageFileOptions& options, std::size_t most_bytes)
    : logs_(options.logs), first_most_bytes_(most_bytes), most_bytes_(most_bytes) {
  const auto& rows = options.tracking_file;
  const auto& usage = options.usage_file;
  if (rows && rows == usage) refuse_one_file_for_both(*rows);
  if (rows) rows_ = open_tracking_table(*rows, options.overwrite);
  if (!usage) {
    is_due_ = true;
    if (!options.is_late) make_in_state_folder();
  } else if (!usage->empty()) {
    usage_.emplace(*usage, options.overwrite, "usage file");
  }
  if (rows_ && usage_ && rows_->file().is(*usage_)) refuse_one_file_for_both(*rows);
  if (rows_) rows_->clear();
  if (usage_) usage_->clear();
}

/// Without one nothing is lost but what a crash would cost.
void UsageFiles::make_in_state_folder() {
  is_due_ = false;
  try {
    usage_.emplace(new_state_file("usage", ".jsonl"), false, "usage file");
  } catch (const Error& error) {
    static std::atomic<bool> reported{false};
    if (logs_ && !reported.exchange(true)) {
      log(fmt::format("no usage file is kept for the case of a crash: {}", error.what()));
    }
  }
}

void UsageFiles::keep(bool wanted) noexcept {
  if (rows_) rows_->file().keep(wanted);
  if (usage_) usage_->keep(wanted);
}

void UsageFiles::begin_rows(const TrackingHeader& header) {
  if (rows_) check_rows(rows_->begin(header));
}

void UsageFiles::add_row(const std::vector<TrackingCell>& row) {
  if (rows_) check_rows(rows_->add(row));
}

void UsageFiles::check_rows(int error) {
  if (error != 0) note_failure(rows_->file().path(), error);
}

void UsageFiles::write_usage(const ResourceUsage& usage, std::uint64_t ticks) {
  if (is_due_) {
    make_in_state_folder();
    keep(true);
  }
  if (!usage_ || !*usage_) return;
  const std::string line = usage_line(usage, ticks);
  // Who is killed in the middle of a write leaves the records before: the first has none before it.
  if (usage_->bytes() == 0 && usage_->replace_with(line) == 0) return;
  if (usage_->bytes() > most_bytes_) {
    const int error = usage_->replace_with(line);
    if (error == 0) return;
    most_bytes_ += first_most_bytes_;
    report(fmt::format("cannot replace the usage file {}, which has grown large: {}; it goes on",
                       printable(usage_->path()), std::generic_category().message(error)));
  }
  if (const int error = usage_->append(line); error != 0) note_failure(usage_->path(), error);
}

void UsageFiles::end() {
  is_due_ = false;
  if (!usage_ || !*usage_) return;
  if (!failure_) {
    usage_->remove();
  } else {
    report(fmt::format("the usage file {} is kept", printable(usage_->path())));
  }
}

void UsageFiles::note_failure(const std::string& path, int error) {
  const WriteError failure(path, error);
  if (!failure_) failure_ = failure;
  report(failure.what());
}

void UsageFiles::report(const std::string& message) const {
  if (logs_) log(message);
}

}  // namespace wattle
