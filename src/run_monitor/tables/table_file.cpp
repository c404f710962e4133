#include "run_monitor/tables/table_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/files/input_file.hpp"
#include "base/text/text.hpp"

namespace wattle {
namespace {

constexpr std::size_t kTrialLines = 100;
constexpr std::size_t kTrialBytes = std::size_t{32} << 10U;

void seek(const Fd& fd, std::uint64_t begin) noexcept {
  struct stat status {};
  if (begin == 0 || ::fstat(fd.get(), &status) != 0) return;
  if (begin <= static_cast<std::uint64_t>(status.st_size)) {
    (void)::lseek(fd.get(), static_cast<off_t>(begin), SEEK_SET);
  }
}

}  // namespace

TableFile::TableFile(std::filesystem::path path, std::uint64_t begin) : path_(std::move(path)) {
  InputFile input = open_input(path_.string());
  if (!input.file) {
    problem_ = std::move(input.problem);
    return;
  }
  seek(input.file, begin);
  lines_.emplace(std::move(input.file));
  read_first_lines();
}

void TableFile::read_first_lines() {
  std::size_t bytes = 0;
  while (first_.size() < kTrialLines && bytes < kTrialBytes) {
    const auto line = lines_->next();
    if (!line) return;
    if (trimmed(*line).empty()) continue;
    bytes += line->size();
    first_.emplace_back(*line);
    damaged_before_.push_back(lines_->damaged());
  }
}

std::string TableFile::joined_notes(const std::string& dialect, const std::string& table) const {
  std::string notes = lines_->start().encoding == Encoding::utf8 ? "" : "UTF-16";
  if (lines_->ends_in_cr()) notes += notes.empty() ? "lines end in CR" : ", lines end in CR";
  for (const std::string* note : {&dialect, &table}) {
    if (note->empty()) continue;
    notes += notes.empty() ? "" : "; ";
    notes += *note;
  }
  return notes;
}

SummaryFile TableFile::outcome(SummaryFile file, const std::string& first_bad,
                               const std::string& why_bad, std::string note) const {
  constexpr std::size_t kMostShown = 60;
  constexpr std::uint64_t kFewDamaged = 10;  // one row in this number
  file.note = std::move(note);
  const FileStart& start = lines_->start();
  if (lines_->error() != 0) {
    file.problem = std::generic_category().message(lines_->error());
  } else if (file.rows == 0 && !start.foreign.empty()) {
    file.problem = fmt::format("it is {}, not a table of text", start.foreign);
  } else if (file.rows == 0 && file.bad_rows == 0 && first_.empty()) {
    file.problem = "it is empty";
  } else if (file.rows == 0) {
    file.problem = "no row can be read";
    if (first_bad.empty() && first_.empty()) {
      file.problem += ": a line is longer than 64 KiB, or the only one has no end";
    } else if (first_bad.empty()) {
      file.problem += ": there is a header alone";
    } else {
      file.problem +=
          fmt::format("; the first: \"{}\": {}", printable(first_bad, kMostShown), why_bad);
    }
  } else if (!why_bad.empty() && file.bad_rows * kFewDamaged >= file.rows) {
    file.note += file.note.empty() ? "" : "; ";
    file.note += fmt::format("the first damaged row: {}", why_bad);
  }
  return file;
}

}  // namespace wattle
