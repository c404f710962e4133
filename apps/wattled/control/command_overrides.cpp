#include "control/command_overrides.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/files/fd.hpp"
#include "base/text/shell_words.hpp"
#include "base/text/text.hpp"
#include "serve/toml.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

constexpr std::size_t kMostOverridesBytes = std::size_t{64} << 10U;

/// A placeholder of a command, and the function that makes its value from a call.
struct Placeholder {
  std::string_view name;
  std::uint32_t (*value)(const ControlCall& call, std::uint32_t gpu);
};

constexpr Placeholder kGpuId = {"gpu_id",
                                [](const ControlCall&, std::uint32_t gpu) { return gpu; }};

template <std::size_t kPlace>
std::uint32_t value_at(const ControlCall& call, std::uint32_t /*gpu*/) {
  return call.values.at(kPlace);
}

std::vector<Placeholder> placeholders_of(ControlOperation operation) {
  switch (operation) {
    case ControlOperation::set_persistence_mode:
      return {kGpuId, {"enabled", value_at<0>}};
    case ControlOperation::set_power_limit:
      return {kGpuId,
              {"power_limit_mw", value_at<0>},
              {"power_limit_w",
               [](const ControlCall& call, std::uint32_t) { return call.values.front() / 1000; }}};
    case ControlOperation::set_gpu_locked_clocks:
    case ControlOperation::set_mem_locked_clocks:
      return {kGpuId, {"min_clock_mhz", value_at<0>}, {"max_clock_mhz", value_at<1>}};
    case ControlOperation::reset_gpu_locked_clocks:
    case ControlOperation::reset_mem_locked_clocks:
    case ControlOperation::reset_locked_clocks:
      break;
  }
  return {kGpuId};
}

/// "{gpu_id} {enabled}"
std::string list_of(const std::vector<Placeholder>& placeholders) {
  return joined(placeholders, " ",
                [](const Placeholder& each) { return fmt::format("{{{}}}", each.name); });
}

/// `word` with each `{name}` replaced. Throws `InvalidArgument` for an unbalanced brace and for a
/// name that the operation does not have.
std::string fill_in(std::string_view word, const ControlCall& call, std::uint32_t gpu) {
  const std::vector<Placeholder> known = placeholders_of(call.operation);
  std::string filled;
  while (!word.empty()) {
    const std::size_t brace = std::min(word.find_first_of("{}"), word.size());
    filled += word.substr(0, brace);
    word.remove_prefix(brace);
    if (word.empty()) break;
    const std::size_t end = word.find_first_of("{}", 1);
    const bool is_pair = word.front() == '{' && end != std::string_view::npos && word[end] == '}';
    if (!is_pair) {
      throw InvalidArgument(fmt::format("unmatched brace in '{}'", printable(word)));
    }
    const std::string_view name = word.substr(1, end - 1);
    const auto found = std::ranges::find(known, name, &Placeholder::name);
    if (found == known.end()) {
      throw InvalidArgument(fmt::format("{} has no value '{{{}}}'; it has {}",
                                        name_of(call.operation), printable(name), list_of(known)));
    }
    filled += std::to_string(found->value(call, gpu));
    word.remove_prefix(end + 1);
  }
  return filled;
}

std::vector<std::string> words_of(const std::string& command, ControlOperation operation) {
  std::vector<std::string> words = split_words(command);
  if (words.empty()) throw InvalidArgument("a command is empty");
  (void)daemon::fill_in(words, {.operation = operation}, 0);
  return words;
}

/// `node` as `Value`: no other type is converted.
template <class Value>
Value typed(const toml::node& node, std::string_view key, std::string_view type) {
  std::optional<Value> value = node.value_exact<Value>();
  if (!value) throw InvalidArgument(fmt::format("{} must be {}", key, type));
  return *std::move(value);
}

std::vector<std::vector<std::string>> commands_of(const toml::node& node,
                                                  ControlOperation operation) {
  static constexpr std::string_view kType = "a list of strings";
  const toml::array* const list = node.as_array();
  if (list == nullptr) throw InvalidArgument(fmt::format("commands must be {}", kType));
  std::vector<std::vector<std::string>> commands;
  for (const toml::node& command : *list) {
    commands.push_back(words_of(typed<std::string>(command, "commands", kType), operation));
  }
  return commands;
}

CommandOverride override_of(const toml::table& table, ControlOperation operation) {
  CommandOverride made;
  for (const auto& [key, node] : table) {
    if (key == "commands") {
      made.commands = commands_of(node, operation);
    } else if (key == "error_pattern") {
      made.error_pattern.emplace(typed<std::string>(node, key.str(), "a string"));
    } else if (key == "timeout_s") {
      constexpr std::int64_t kLongestS = 3600;
      const auto seconds = typed<std::int64_t>(node, key.str(), "a whole number");
      if (seconds < 1 || seconds > kLongestS) {
        throw InvalidArgument(fmt::format("timeout_s must be 1 to {}", kLongestS));
      }
      made.timeout = std::chrono::seconds(seconds);
    } else {
      throw InvalidArgument(fmt::format(
          "unknown key '{}'; known: commands, error_pattern, timeout_s", printable(key.str())));
    }
  }
  if (made.commands.empty()) throw InvalidArgument("commands are missing");
  return made;
}

toml::table parsed(std::string_view text) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw InvalidArgument(
        fmt::format("line {}: {}", error.source().begin.line, printable(error.description())));
  }
}

[[noreturn]] void refuse_overrides(const std::string& path, std::string_view why) {
  throw InvalidArgument(fmt::format("cannot use the commands in {}: {}", shell_quoted(path), why));
}

/// A user who can write the file has the rights of this process.
void check_trust(const std::string& path, const struct stat& status) {
  if (!S_ISREG(status.st_mode)) refuse_overrides(path, "it is not a regular file");
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
    refuse_overrides(
        path, fmt::format("user {} owns it, and could run any command; run 'chown root FILE'",
                          status.st_uid));
  }
  if ((status.st_mode & S_IWOTH) != 0) {
    refuse_overrides(path,
                     "every user can change it, and so run any command; run 'chmod o-w FILE'");
  }
}

}  // namespace

CommandOverrides CommandOverrides::parse(std::string_view text) {
  CommandOverrides all;
  for (const auto& [key, node] : parsed(text)) {
    const auto* const name = std::ranges::find(kControlNames, key.str());
    if (name == kControlNames.end()) {
      throw InvalidArgument(fmt::format("unknown operation '{}'; known: {}", printable(key.str()),
                                        fmt::join(kControlNames, ", ")));
    }
    const auto operation = static_cast<ControlOperation>(name - kControlNames.begin());
    try {
      const toml::table* const table = node.as_table();
      if (table == nullptr) throw InvalidArgument("it must be a table");
      all.overrides_.at(static_cast<std::size_t>(operation)) = override_of(*table, operation);
    } catch (const InvalidArgument& error) {
      throw InvalidArgument(fmt::format("[{}]: {}", *name, error.what()));
    }
  }
  return all;
}

CommandOverrides CommandOverrides::load(const std::string& path) {
  // Does not wait for the writer of a pipe.
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) {
    refuse_overrides(path, std::generic_category().message(errno));
  }
  check_trust(path, status);
  std::string text(kMostOverridesBytes + 1, '\0');
  const ssize_t size = read_pieces(file.get(), text);
  if (size < 0) refuse_overrides(path, std::generic_category().message(errno));
  text.resize(static_cast<std::size_t>(size));
  if (text.size() > kMostOverridesBytes) refuse_overrides(path, "it is larger than 64 KiB");
  try {
    CommandOverrides all = parse(text);
    all.is_writable_by_group_ = (status.st_mode & S_IWGRP) != 0;
    return all;
  } catch (const InvalidArgument& error) {
    refuse_overrides(path, error.what());
  }
}

const CommandOverride* CommandOverrides::find(ControlOperation operation) const noexcept {
  const auto& found = overrides_.at(static_cast<std::size_t>(operation));
  return found ? &*found : nullptr;
}

std::string CommandOverrides::names() const {
  std::string names;
  for (std::size_t i = 0; i < kControlOperations; ++i) {
    if (!overrides_.at(i)) continue;
    names.append(names.empty() ? "" : ", ").append(name_of(static_cast<ControlOperation>(i)));
  }
  return names;
}

std::vector<std::string> fill_in(const std::vector<std::string>& words, const ControlCall& call,
                                 std::uint32_t gpu) {
  std::vector<std::string> filled;
  filled.reserve(words.size());
  for (const std::string& word : words) filled.push_back(fill_in(word, call, gpu));
  return filled;
}

}  // namespace wattle::daemon
