#include "lab/trace_file.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <system_error>
#include <vector>

#include "base/files/file.hpp"
#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle::lab {
namespace {

/// Ten hours at 100 Hz are about 70 MB.
constexpr std::size_t kMaxTraceBytes = std::size_t{256} << 20U;

std::string_view without_blanks(std::string_view text) noexcept {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::optional<Level> parse_level(std::string_view line) noexcept {
  const std::size_t comma = line.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const auto time_s = parse_double(without_blanks(line.substr(0, comma)));
  const auto power_w = parse_double(without_blanks(line.substr(comma + 1)));
  constexpr double kMostW = 1e9;
  if (!time_s || !power_w || *power_w < 0.0 || *power_w > kMostW) return std::nullopt;
  return Level{*time_s, *power_w};
}

bool is_heading(std::string_view line) noexcept {
  return std::isalpha(static_cast<unsigned char>(line.front())) != 0;
}

}  // namespace

Waveform parse_trace(std::string_view text, std::string_view name) {
  std::vector<Level> levels;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = without_blanks(take_line(text));
    if (line.empty() || (number == 1 && is_heading(line))) continue;
    const std::optional<Level> level = parse_level(line);
    if (!level || (!levels.empty() && level->start_s <= levels.back().start_s)) {
      throw InvalidArgument(
          fmt::format("{}, line {}: expected TIME_S,POWER_W with a later time than the line before "
                      "and a power from 0 to 1e9, got {}",
                      printable(name), number, shell_quoted(line)));
    }
    levels.push_back(*level);
  }
  if (levels.size() < 2) {
    throw InvalidArgument(
        fmt::format("{}: a trace takes at least two lines of TIME_S,POWER_W; the last one ends it",
                    printable(name)));
  }
  const double begin_s = levels.front().start_s;
  for (Level& level : levels) level.start_s -= begin_s;
  const double period_s = levels.back().start_s;
  levels.pop_back();
  return Waveform::repeated(levels, period_s);
}

Waveform read_trace(const std::string& path) {
  const std::optional<std::string> text = read_file(path, kMaxTraceBytes);
  if (!text) {
    throw InvalidArgument(fmt::format("cannot read the trace {}: {}", printable(path),
                                      std::generic_category().message(errno)));
  }
  return parse_trace(*text, path);
}

}  // namespace wattle::lab
