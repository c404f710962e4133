#include "sensors/daemon/answer.hpp"

#include <algorithm>

#include "base/text/parse.hpp"
#include "base/text/split.hpp"

namespace wattle::daemon_source {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

bool is_same_name(std::string_view name, std::string_view lower) noexcept {
  return std::ranges::equal(name, lower, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

/// "HTTP/1.1 200 OK": 200.
std::optional<unsigned> status_of(std::string_view line) noexcept {
  constexpr std::string_view kBefore = "HTTP/1.x ";
  constexpr std::size_t kDigits = 3;
  if (!line.starts_with("HTTP/1.") || line.size() < kBefore.size() + kDigits) return std::nullopt;
  const std::string_view rest = line.substr(kBefore.size() + kDigits);
  if (line[kBefore.size() - 1] != ' ' || (!rest.empty() && rest.front() != ' ')) {
    return std::nullopt;
  }
  const auto status = parse_unsigned<unsigned>(line.substr(kBefore.size(), kDigits));
  return status && *status >= 200 ? status : std::nullopt;
}

/// Takes one line of a head into account; false where it makes the answer one that is not
/// understood.
bool take_field(std::string_view line, Head& head, bool& has_length) noexcept {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (is_same_name(name, "transfer-encoding")) return false;
  if (is_same_name(name, "connection")) head.closes = head.closes || is_same_name(value, "close");
  if (!is_same_name(name, "content-length")) return true;
  const auto length = parse_unsigned<std::uint32_t>(value);
  if (!length || has_length) return false;
  head.body_bytes = *length;
  has_length = true;
  return true;
}

/// Reads JSON from its start on. After the first thing that is not as expected it is `bad`, and
/// gives nothing more.
class Scanner {
 public:
  explicit Scanner(std::string_view text) noexcept : rest_(text) {}

  [[nodiscard]] bool is_bad() const noexcept { return bad_; }
  [[nodiscard]] bool is_at_end() noexcept {
    skip_blanks();
    return rest_.empty();
  }

  // As deep as `skip` lets values be nested. NOLINTBEGIN(misc-no-recursion)

  /// Calls `visit(key)` for each member of an object; it must take the value. Keys with escapes are
  /// given as they stand there.
  template <class Visit>
  void object(Visit visit) noexcept {
    expect('{');
    if (take('}')) return;
    do {
      const std::string_view key = string();
      expect(':');
      if (bad_) return;
      visit(key);
    } while (!bad_ && take(','));
    expect('}');
  }

  // NOLINTEND(misc-no-recursion)

  /// A whole number from 0 on, or null.
  [[nodiscard]] std::optional<std::uint64_t> number_or_null() noexcept {
    skip_blanks();
    if (rest_.starts_with("null")) {
      literal("null");
      return std::nullopt;
    }
    const std::size_t end = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    const auto number = parse_unsigned<std::uint64_t>(rest_.substr(0, end));
    // The rest is a fraction, an exponent or garbage.
    const bool ends = end == rest_.size() || ends_value(rest_[end]);
    if (!number || !ends || (end > 1 && rest_.front() == '0')) bad_ = true;
    rest_.remove_prefix(end);
    return bad_ ? std::nullopt : number;
  }

  /// A string, as it stands there.
  [[nodiscard]] std::string_view text() noexcept {
    skip_blanks();
    return string();
  }

  /// Passes over a value of any kind. NOLINTBEGIN(misc-no-recursion)
  void skip(int depth = 0) noexcept {
    constexpr int kDeepest = 8;
    skip_blanks();
    if (rest_.empty() || depth > kDeepest) {
      bad_ = true;
    } else if (rest_.front() == '"') {
      (void)string();
    } else if (rest_.front() == '{') {
      object([&](std::string_view) { skip(depth + 1); });
    } else if (rest_.front() == '[') {
      list(depth);
    } else {
      word();
    }
  }
  // NOLINTEND(misc-no-recursion)

 private:
  static constexpr bool is_blank(char c) noexcept {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
  }
  static constexpr bool ends_value(char c) noexcept {
    return is_blank(c) || c == ',' || c == '}' || c == ']';
  }

  void skip_blanks() noexcept {
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
  }
  [[nodiscard]] bool take(char c) noexcept {
    skip_blanks();
    if (bad_ || rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) noexcept {
    if (!take(c)) bad_ = true;
  }
  void literal(std::string_view text) noexcept {
    rest_.remove_prefix(text.size());
    if (!rest_.empty() && !ends_value(rest_.front())) bad_ = true;
  }

  std::string_view string() noexcept {
    expect('"');
    if (bad_) return {};
    std::size_t end = 0;
    while (end < rest_.size() && rest_[end] != '"') end += rest_[end] == '\\' ? 2U : 1U;
    if (end >= rest_.size()) {
      bad_ = true;
      return {};
    }
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }

  // NOLINTNEXTLINE(misc-no-recursion): see `skip`
  void list(int depth) noexcept {
    expect('[');
    if (take(']')) return;
    do {
      skip(depth + 1);
    } while (!bad_ && take(','));
    expect(']');
  }

  /// A number, or true, false or null: whatever it is, it ends before what follows a value.
  void word() noexcept {
    const auto* const end = std::ranges::find_if(rest_, ends_value);
    const auto length = static_cast<std::size_t>(end - rest_.begin());
    const bool is_word = length > 0 && std::ranges::all_of(rest_.substr(0, length), [](char c) {
                           return c == '-' || c == '+' || c == '.' || is_digit(c) ||
                                  (c >= 'a' && c <= 'z') || c == 'E';
                         });
    if (!is_word) bad_ = true;
    rest_.remove_prefix(length);
  }

  std::string_view rest_;
  bool bad_ = false;
};

CpuCounters counters_of(Scanner& scanner) noexcept {
  CpuCounters counters;
  scanner.object([&](std::string_view key) {
    if (key == "cpu_energy_uj") {
      counters.cpu_uj = scanner.number_or_null();
    } else if (key == "dram_energy_uj") {
      counters.dram_uj = scanner.number_or_null();
    } else if (key == "since_ms") {
      counters.since_ms = scanner.number_or_null();
    } else if (key == "domain") {
      counters.domain = scanner.text();
    } else {
      scanner.skip();
    }
  });
  return counters;
}

}  // namespace

const CpuCounters* AllCounters::find(std::uint32_t id) const noexcept {
  const auto* const end = cpus.begin() + static_cast<std::ptrdiff_t>(count);
  const auto* const found =
      std::find_if(cpus.begin(), end, [id](const CpuCounters& cpu) { return cpu.id == id; });
  return found == end ? nullptr : found;
}

const CpuCounters* AllCounters::find(std::string_view domain) const noexcept {
  const auto* const end = cpus.begin() + static_cast<std::ptrdiff_t>(count);
  const auto* const found = std::find_if(
      cpus.begin(), end, [domain](const CpuCounters& cpu) { return cpu.domain == domain; });
  return found == end ? nullptr : found;
}

Head parse_head(std::string_view text) noexcept {
  constexpr Head kNone{.extent = Extent::none};
  constexpr std::string_view kBegin = "HTTP/1.";
  const std::string_view begin = text.substr(0, kBegin.size());
  if (begin != kBegin.substr(0, begin.size())) return kNone;
  const std::size_t end = text.find("\r\n\r\n");
  if (end == std::string_view::npos) return {};

  std::string_view lines = text.substr(0, end + kLineEnd.size());
  const auto take_line = [&lines] {
    const std::size_t length = lines.find(kLineEnd);
    const std::string_view line = lines.substr(0, length);
    lines.remove_prefix(length + kLineEnd.size());
    return line;
  };
  const auto status = status_of(take_line());
  if (!status) return kNone;
  Head head{.status = *status, .body_at = end + 2 * kLineEnd.size()};
  bool has_length = false;
  while (!lines.empty()) {
    if (!take_field(take_line(), head, has_length)) return kNone;
  }
  if (!has_length) return kNone;
  const bool has_all = text.size() - head.body_at >= head.body_bytes;
  head.extent = has_all ? Extent::whole : Extent::part;
  return head;
}

std::optional<AllCounters> parse_counters(std::string_view json) noexcept {
  AllCounters all;
  Scanner scanner(json);
  bool fits = true;
  scanner.object([&](std::string_view key) {
    const auto id = parse_unsigned<std::uint32_t>(key);
    CpuCounters cpu = counters_of(scanner);
    fits = fits && id && all.count < kMostCpus && all.find(*id) == nullptr;
    if (!fits) return;
    cpu.id = *id;
    all.cpus.at(all.count++) = cpu;
  });
  if (scanner.is_bad() || !fits || !scanner.is_at_end()) return std::nullopt;
  return all;
}

}  // namespace wattle::daemon_source
