#include "runs/history/run_id.hpp"

#include "base/text/text.hpp"

namespace wattle {
namespace {

constexpr std::string_view kIdDigits = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr unsigned kBitsPerDigit = 5;
constexpr std::size_t kIdLength = kRunIdBits / kBitsPerDigit;
constexpr std::size_t kShortestId = 4;

}  // namespace

std::uint64_t run_id_of(std::string_view record) noexcept {
  const std::uint64_t hash = hash_of(record);  // folded to the bits of an ID
  return (hash ^ (hash >> kRunIdBits)) & ((std::uint64_t{1} << kRunIdBits) - 1);
}

std::string run_id_text(std::uint64_t id) {
  std::string text(kIdLength, '0');
  for (std::size_t i = kIdLength; i-- > 0; id >>= kBitsPerDigit) text[i] = kIdDigits[id % 32];
  return text;
}

std::optional<RunIdRange> parse_run_id(std::string_view text) noexcept {
  if (text.size() < kShortestId || text.size() > kIdLength) return std::nullopt;
  std::uint64_t id = 0;
  for (const char c : text) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const std::size_t digit = kIdDigits.find(lower);
    if (digit == std::string_view::npos) return std::nullopt;
    id = id << kBitsPerDigit | digit;
  }
  const auto missing = static_cast<unsigned>(kIdLength - text.size()) * kBitsPerDigit;
  return RunIdRange{.first = id << missing, .last = ((id + 1) << missing) - 1};
}

}  // namespace wattle
