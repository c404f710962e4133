// Power over time as bytes: what the history of runs keeps.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/numbers/rice.hpp"
#include "base/text/text.hpp"
#include "sampling/power_course.hpp"

namespace wattle {
namespace {

/// With a hash of all before it at the end.
constexpr std::uint64_t kCourseFormat = 3;
/// The same without the hash, as older histories have it.
constexpr std::uint64_t kFormatWithoutHash = 2;
constexpr std::size_t kHashBytes = sizeof(std::uint64_t);

// Numbers in 7-bit groups, the lowest first; the high bit says that more follow.
void put_course(std::string& bytes, std::uint64_t number) {
  constexpr unsigned kGroup = 7;
  for (; number >= 0x80U; number >>= kGroup) bytes += static_cast<char>(0x80U | (number & 0x7fU));
  bytes += static_cast<char>(number);
}
void put_signed(std::string& bytes, std::int64_t number) {
  put_course(bytes, zigzag(static_cast<std::uint64_t>(number)));
}

std::int64_t milliwatts(Watts power) noexcept { return std::llround(power.si() * 1e3); }
Watts from_milliwatts(std::int64_t number) noexcept {
  return Watts(static_cast<double>(number) * 1e-3);
}
std::uint64_t whole_nanoseconds_of(Seconds time) noexcept {
  return static_cast<std::uint64_t>(std::llround(time.count() * 1e9));
}

// The contents of a column.
constexpr std::uint64_t kColumnUnknown = 0;
constexpr std::uint64_t kColumnMean = 1;
constexpr std::uint64_t kColumnExtremes = 2;

void put_course(std::string& bytes, const std::vector<PowerColumn>& columns) {
  std::int64_t last = 0;
  for (const PowerColumn& column : columns) {
    if (!column.mean) {
      put_course(bytes, kColumnUnknown);
      continue;
    }
    const bool has_extremes = column.lowest && column.highest;
    put_course(bytes, has_extremes ? kColumnExtremes : kColumnMean);
    const std::int64_t mean = milliwatts(*column.mean);
    put_signed(bytes, mean - std::exchange(last, mean));
    put_signed(bytes, milliwatts(column.uncertainty));
    if (!has_extremes) continue;
    put_signed(bytes, mean - milliwatts(*column.lowest));
    put_signed(bytes, milliwatts(*column.highest) - mean);
  }
}

std::string hash_bytes(std::string_view bytes) {
  std::uint64_t hash = hash_of(bytes);
  std::string text(kHashBytes, '\0');
  for (char& byte : text) byte = static_cast<char>(std::exchange(hash, hash >> 8U) & 0xffU);
  return text;
}

/// Takes numbers from bytes; once one is missing or too large, all that follow are 0.
class CourseReader {
 public:
  explicit CourseReader(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t number(std::uint64_t most) noexcept {
    constexpr unsigned kBits = 64;
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < kBits && !bytes_.empty() && is_whole_; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      number |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte >= 0x80U) continue;
      is_whole_ = number <= most;
      return is_whole_ ? number : 0;
    }
    is_whole_ = false;
    return 0;
  }
  std::string text() {
    const std::uint64_t length = number(bytes_.size());
    is_whole_ = is_whole_ && length <= bytes_.size();
    if (!is_whole_) return {};
    std::string text(bytes_.substr(0, length));
    bytes_.remove_prefix(length);
    return text;
  }
  std::vector<PowerColumn> columns(std::size_t count);

  [[nodiscard]] bool is_whole() const noexcept { return is_whole_; }
  [[nodiscard]] bool is_at_end() const noexcept { return is_whole_ && bytes_.empty(); }

 private:
  std::int64_t milliwatts() noexcept {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 50U;
    return static_cast<std::int64_t>(unzigzag(number(kMost)));
  }

  std::string_view bytes_;
  bool is_whole_ = true;
};

std::vector<PowerColumn> CourseReader::columns(std::size_t count) {
  std::vector<PowerColumn> columns(count);
  std::int64_t mean = 0;
  for (PowerColumn& column : columns) {
    const std::uint64_t kind = number(kColumnExtremes);
    if (!is_whole_) return {};
    if (kind == kColumnUnknown) continue;
    mean += milliwatts();
    column.mean = from_milliwatts(mean);
    column.uncertainty = from_milliwatts(milliwatts());
    if (kind != kColumnExtremes) continue;
    column.lowest = from_milliwatts(mean - milliwatts());
    column.highest = from_milliwatts(mean + milliwatts());
  }
  return columns;
}

}  // namespace

std::string PowerCourse::packed() const {
  std::string bytes;
  put_course(bytes, kCourseFormat);
  for (const Seconds time : {length, column, step}) put_course(bytes, whole_nanoseconds_of(time));
  put_course(bytes, count());
  put_course(bytes, domains.size());
  for (const DomainCourse& domain : domains) {
    put_course(bytes, domain.name.size());
    bytes += domain.name;
    put_course(bytes, domain.columns);
  }
  put_course(bytes, total.empty() ? 0U : 1U);
  put_course(bytes, total);
  return bytes + hash_bytes(bytes);
}

std::optional<PowerCourse> PowerCourse::unpacked(std::string_view bytes) {
  constexpr std::uint64_t kMostTime = std::uint64_t{1} << 60U;  // 36 years
  const std::uint64_t format = CourseReader(bytes).number(kCourseFormat);
  if (format == kCourseFormat) {
    const std::size_t hash_at = bytes.size() - std::min(bytes.size(), kHashBytes);
    const std::string_view hash = bytes.substr(hash_at);
    bytes = bytes.substr(0, hash_at);
    if (hash != hash_bytes(bytes)) return std::nullopt;
  } else if (format != kFormatWithoutHash) {
    return std::nullopt;
  }
  CourseReader reader(bytes);
  (void)reader.number(kCourseFormat);
  PowerCourse course;
  for (Seconds* time : {&course.length, &course.column, &course.step}) {
    *time = Seconds(static_cast<double>(reader.number(kMostTime)) * 1e-9);
  }
  const std::size_t columns = reader.number(kMostColumns);
  const std::uint64_t domains = reader.number(kMostDomains);
  for (std::uint64_t i = 0; i < domains && reader.is_whole(); ++i) {
    std::string name = reader.text();
    course.domains.push_back({std::move(name), reader.columns(columns)});
  }
  if (reader.number(1) == 1) course.total = reader.columns(columns);
  const bool is_possible = course.column > Seconds(0) && course.step > Seconds(0);
  return reader.is_at_end() && is_possible ? std::optional(std::move(course)) : std::nullopt;
}

}  // namespace wattle
