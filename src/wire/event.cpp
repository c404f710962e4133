#include "wire/event.hpp"

#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "base/text/parse.hpp"

namespace wattle::wire {
namespace {

/// The capacity that is kept after an event.
constexpr std::size_t kKeptRoom = 1024;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// The end of the first line of `bytes`. Searching first for LF, which ends nearly all lines, is
/// much faster than searching for both.
std::size_t line_end(std::string_view bytes) noexcept {
  const std::size_t feed = bytes.find('\n');
  const std::size_t carriage = bytes.substr(0, feed).find('\r');
  return carriage == std::string_view::npos ? feed : carriage;
}

void empty(std::string& text) noexcept {
  if (text.capacity() > kKeptRoom) {
    std::string().swap(text);
  } else {
    text.clear();
  }
}

using simdjson::dom::element;
using simdjson::dom::object;

/// A number from 0 to `most`; absent for anything else.
std::optional<double> number_in(const element& value, double most) noexcept {
  double number = -1.0;
  if (value.get(number) != simdjson::SUCCESS) return {};
  // The comparison also refuses NaN.
  return number >= 0.0 && number <= most ? std::optional(number) : std::nullopt;
}

std::optional<double> power_in(const element& value) noexcept {
  return number_in(value, static_cast<double>(kMostMilliwatts));
}

std::optional<DeviceId> id_in(const element& value) noexcept {
  std::uint64_t id = 0;
  if (value.get(id) != simdjson::SUCCESS) return {};
  if (id > std::numeric_limits<DeviceId>::max()) return {};
  return static_cast<DeviceId>(id);
}

/// Absent, or null: unknown.
std::optional<element> member(const object& from, std::string_view key) noexcept {
  element value;
  if (from.at_key(key).get(value) != simdjson::SUCCESS || value.is_null()) return {};
  return value;
}

/// Reads the power under `key`, if present, to `power`. False: it is invalid.
bool read_power(const object& from, std::string_view key, std::optional<double>& power) noexcept {
  const auto value = member(from, key);
  power = value ? power_in(*value) : std::nullopt;
  return !value || power;
}

bool read_cpu(const object& from, DevicePower& cpu) noexcept {
  return read_power(from, "cpu_mw", cpu.power_mw) && read_power(from, "dram_mw", cpu.dram_mw);
}

}  // namespace

std::optional<std::string_view> SseReader::next(std::string_view& bytes) {
  if (std::exchange(was_given_, false)) start_event();
  while (!bytes.empty()) {
    if (std::exchange(after_cr_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const std::size_t end = line_end(bytes);
    if (end == std::string_view::npos) {
      keep_piece_of_line(bytes);
      bytes = {};
      break;
    }
    const std::string_view piece = bytes.substr(0, end);
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    std::optional<std::string_view> event;
    if (line_.empty() && !line_was_dropped_ && piece.size() <= kLongestEvent) {
      event = end_line(piece, true);
    } else {
      keep_piece_of_line(piece);
      if (!std::exchange(line_was_dropped_, false)) event = end_line(line_, false);
      empty(line_);
    }
    if (event) return event;
  }
  keep_data();
  return std::nullopt;
}

/// `is_lasting`: the line refers to the caller's bytes.
std::optional<std::string_view> SseReader::end_line(std::string_view line, bool is_lasting) {
  if (std::exchange(is_first_line_, false) && line.starts_with(kByteOrderMark)) {
    line.remove_prefix(kByteOrderMark.size());
  }
  if (line.empty()) return end_event();
  const std::size_t colon = line.find(':');
  if (colon == 0 && on_comment_) on_comment_(line.substr(line.starts_with(": ") ? 2 : 1));
  if (line.substr(0, colon) != "data") return std::nullopt;
  std::string_view data;
  if (colon != std::string_view::npos) data = line.substr(colon + 1);
  if (data.starts_with(' ')) data.remove_prefix(1);
  add_data(data, is_lasting);
  return std::nullopt;
}

std::optional<std::string_view> SseReader::end_event() noexcept {
  is_dropping_ = false;
  if (!has_data_) return std::nullopt;
  const std::string_view data = lasting_data_.empty() ? std::string_view(data_) : lasting_data_;
  if (data.empty()) {
    start_event();
    return std::nullopt;
  }
  was_given_ = true;
  return data;
}

void SseReader::keep_piece_of_line(std::string_view piece) {
  if (line_was_dropped_) return;
  if (line_.size() + piece.size() <= kLongestEvent) {
    line_ += piece;
    return;
  }
  empty(line_);
  line_was_dropped_ = true;
  is_first_line_ = false;
  drop_event();
}

void SseReader::add_data(std::string_view data, bool is_lasting) {
  if (is_dropping_) return;
  if (!has_data_ && is_lasting) {
    lasting_data_ = data;
    has_data_ = true;
    return;
  }
  keep_data();
  if (data_.size() + data.size() >= kLongestEvent) {
    drop_event();
    return;
  }
  if (has_data_) data_ += '\n';
  data_ += data;
  has_data_ = true;
}

void SseReader::keep_data() {
  if (!lasting_data_.empty()) data_ = lasting_data_;
  lasting_data_ = {};
}

void SseReader::drop_event() noexcept {
  if (!std::exchange(is_dropping_, true)) ++dropped_;
  start_event();
}

void SseReader::start_event() noexcept {
  empty(data_);
  lasting_data_ = {};
  has_data_ = false;
}

class EventParser::Impl {
 public:
  std::optional<PowerEvent> parse(DeviceType type, std::string_view json) {
    element root;
    object event;
    devices_.clear();
    if (read(json, root) != simdjson::SUCCESS) return refuse("is not JSON");
    if (root.get(event) != simdjson::SUCCESS) return refuse("is not a JSON object");

    PowerEvent made;
    const auto at = member(event, "timestamp_ms");
    const auto timestamp_ms = at ? number_in(*at, static_cast<double>(kLastUnixMs)) : std::nullopt;
    if (!timestamp_ms) return refuse("has no 'timestamp_ms' that is a time");
    made.timestamp_ms = *timestamp_ms;

    object powers;
    const auto power = member(event, "power_mw");
    made.is_snapshot = power && power->get(powers) == simdjson::SUCCESS;
    const bool is_understood =
        made.is_snapshot ? add_all(type, powers) : add_one(type, event, power);
    if (!is_understood) return std::nullopt;
    made.devices = devices_;
    return made;
  }

  [[nodiscard]] std::string_view refusal() const noexcept { return refusal_; }

 private:
  /// simdjson reads beyond the end of its input: it gets a copy with padding.
  simdjson::error_code read(std::string_view json, element& root) {
    constexpr std::size_t kRoom = simdjson::SIMDJSON_PADDING;
    if (text_.size() < json.size() + kRoom) text_.resize(2 * (json.size() + kRoom));
    std::ranges::copy(json, text_.begin());
    std::memset(text_.data() + json.size(), ' ', kRoom);
    return parser_.parse(text_.data(), json.size(), false).get(root);
  }

  std::nullopt_t refuse(std::string_view why) noexcept {
    refusal_ = why;
    return std::nullopt;
  }
  bool wrong(std::string_view why) noexcept {
    refusal_ = why;
    return false;
  }

  bool add_one(DeviceType type, const object& event, const std::optional<element>& power) {
    const bool is_gpu = type == DeviceType::gpu;
    const auto device = member(event, is_gpu ? "gpu_id" : "cpu_id");
    const auto id = device ? id_in(*device) : std::nullopt;
    if (!id) {
      return wrong(is_gpu ? "has no 'gpu_id' that is an index"
                          : "has no 'cpu_id' that is an index");
    }
    DevicePower one{.id = *id};
    if (is_gpu) {
      if (power) one.power_mw = power_in(*power);
      if (!one.power_mw) return wrong("has no 'power_mw' that is a power");
    } else if (!read_cpu(event, one)) {
      return wrong("has a 'cpu_mw' or 'dram_mw' that is not a power");
    }
    devices_.push_back(one);
    return true;
  }

  bool add_all(DeviceType type, const object& powers) {
    for (const auto [key, value] : powers) {
      const auto id = parse_unsigned<DeviceId>(key);
      if (!id) return wrong("has a key in 'power_mw' that is not an index");
      DevicePower one{.id = *id};
      if (type == DeviceType::gpu) {
        one.power_mw = power_in(value);
        if (!one.power_mw) return wrong("has a value in 'power_mw' that is not a power");
      } else {
        object cpu;
        if (value.get(cpu) != simdjson::SUCCESS || !read_cpu(cpu, one)) {
          return wrong("has a value in 'power_mw' that is not a CPU's power");
        }
      }
      devices_.push_back(one);
    }
    return true;
  }

  simdjson::dom::parser parser_;
  std::vector<char> text_;
  std::vector<DevicePower> devices_;
  std::string_view refusal_;
};

EventParser::EventParser() : impl_(std::make_unique<Impl>()) {}
EventParser::~EventParser() = default;

std::optional<PowerEvent> EventParser::parse(DeviceType type, std::string_view json) {
  return impl_->parse(type, json);
}

std::string_view EventParser::refusal() const noexcept { return impl_->refusal(); }

}  // namespace wattle::wire
