#include "settings_journal.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "base/file.hpp"
#include "base/parse.hpp"
#include "base/whole_file.hpp"

namespace wattle::daemon {
namespace {

constexpr std::string_view kFormat = "wattled-settings/1";
constexpr std::string_view kUnknown = "-";
constexpr std::array<std::string_view, 4> kKindNames = {"power_limit_mw", "persistence_mode",
                                                        "gpu_clocks", "memory_clocks"};

std::optional<SettingKind> kind_named(std::string_view name) {
  const auto* const found = std::ranges::find(kKindNames, name);
  if (found == kKindNames.end()) return std::nullopt;
  return static_cast<SettingKind>(found - kKindNames.begin());
}

std::optional<ChangedSetting> parse_line(const std::string& line) {
  std::istringstream words(line);
  ChangedSetting change;
  std::string kind;
  std::string set;
  if (!(words >> change.device >> kind >> change.before >> set)) return std::nullopt;
  if (set != kUnknown) {
    change.set = parse_unsigned<std::uint64_t>(set);
    if (!change.set) return std::nullopt;
  }
  const auto known = kind_named(kind);
  if (!known) return std::nullopt;
  change.kind = *known;
  return change;
}

std::vector<ChangedSetting> parse(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  std::vector<ChangedSetting> changed;
  if (!std::getline(lines, line) || line != kFormat) return changed;
  while (std::getline(lines, line)) {
    if (auto change = parse_line(line)) changed.push_back(*std::move(change));
  }
  return changed;
}

}  // namespace

SettingsJournal::SettingsJournal(std::string path)
    : path_(std::move(path)), changed_(parse(read_file(path_).value_or(""))) {}

std::vector<ChangedSetting> SettingsJournal::changed() const {
  const std::scoped_lock lock(mutex_);
  return changed_;
}

bool SettingsJournal::holds(std::string_view device, SettingKind kind) const {
  std::vector<ChangedSetting> all = changed();
  return find(all, device, kind) != all.end();
}

std::vector<ChangedSetting>::iterator SettingsJournal::find(std::vector<ChangedSetting>& changed,
                                                            std::string_view device,
                                                            SettingKind kind) {
  return std::ranges::find_if(changed, [&](const ChangedSetting& change) {
    return change.device == device && change.kind == kind;
  });
}

int SettingsJournal::begin(const ChangedSetting& change) {
  const std::scoped_lock lock(mutex_);
  std::vector<ChangedSetting> next = changed_;
  const auto known = find(next, change.device, change.kind);
  if (known != next.end()) {
    known->set.reset();
  } else {
    next.push_back(change);
    next.back().set.reset();
  }
  if (const int error = save(next); error != 0) return error;
  changed_ = std::move(next);
  return 0;
}

void SettingsJournal::finish(std::string_view device, SettingKind kind,
                             std::optional<std::uint64_t> set) {
  const std::scoped_lock lock(mutex_);
  const auto known = find(changed_, device, kind);
  if (known == changed_.end()) return;
  known->set = set;
  // Without it the setting is put back whoever has changed it since.
  [[maybe_unused]] const int error = save(changed_);
}

void SettingsJournal::forget(std::string_view device, SettingKind kind) {
  const std::scoped_lock lock(mutex_);
  const auto known = find(changed_, device, kind);
  if (known == changed_.end()) return;
  changed_.erase(known);
  [[maybe_unused]] const int put_back_twice_at_worst = save(changed_);
}

void SettingsJournal::forget_all() {
  const std::scoped_lock lock(mutex_);
  changed_.clear();
  [[maybe_unused]] const int put_back_twice_at_worst = save(changed_);
}

int SettingsJournal::save(const std::vector<ChangedSetting>& changed) const {
  if (changed.empty()) return ::unlink(path_.c_str()) == 0 || errno == ENOENT ? 0 : errno;
  std::string text = fmt::format("{}\n", kFormat);
  for (const ChangedSetting& change : changed) {
    text += fmt::format("{} {} {} {}\n", change.device,
                        kKindNames.at(static_cast<std::size_t>(change.kind)), change.before,
                        change.set ? std::to_string(*change.set) : std::string(kUnknown));
  }
  return put_in_place(place_of(path_), text, kForOwner).error;
}

}  // namespace wattle::daemon
