#include "sensors/nvml/query.hpp"

#include <cmath>
#include <concepts>
#include <cstring>

namespace wattle::nvml {
namespace {

template <class Number>
Number stored(const FieldValue& field) noexcept {
  Number number{};
  std::memcpy(&number, field.value.data(), sizeof number);
  return number;
}

template <std::signed_integral Number>
std::optional<std::uint64_t> unless_negative(Number number) noexcept {
  if (number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(number);
}

std::optional<std::uint64_t> rounded(double number) noexcept {
  constexpr double kLimit = 1e15;  // far beyond any power, and exact as an integer
  const bool is_power = number >= 0.0 && number <= kLimit;  // false for what is not a number
  if (!is_power) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(number));
}

/// By a function that answers one number, its last parameter.
template <class Number = std::uint32_t, class Function, class... Questions>
QueryAnswer ask_number(Function function, Handle handle, Questions... questions) noexcept {
  Number value = 0;
  const Return result = call(function, handle, questions..., &value);
  return {result, value};
}

void ask_fields(const Api& api, Handle handle, Items wanted, Answers& answers) noexcept {
  std::array<FieldValue, kPowerFields.size()> fields;
  int count = 0;
  for (std::size_t i = 0; i < kPowerFields.size(); ++i) {
    if (!wanted[i]) continue;
    fields[static_cast<std::size_t>(count++)] = {.field_id = kPowerFields[i].id,
                                                 .scope_id = kPowerFields[i].scope};
  }
  const Return all = call(api.field_values, handle, count, fields.data());
  const FieldValue* field = fields.data();
  for (std::size_t i = 0; i < kPowerFields.size(); ++i) {
    if (!wanted[i]) continue;
    answers[i] = {.result = all == Return::success ? field->result : all};
    if (answers[i].result == Return::success) {
      const auto power = milliwatts(*field);
      answers[i] = power ? QueryAnswer{Return::success, *power} : QueryAnswer{Return::unknown};
    }
    ++field;
  }
}

QueryAnswer ask_limit(const Api& api, Handle handle) noexcept {
  const QueryAnswer enforced = ask_number(api.enforced_power_limit, handle);
  return enforced.result == Return::success ? enforced : ask_number(api.power_limit, handle);
}

void ask_utilization(const Api& api, Handle handle, Answers& answers) noexcept {
  Utilization percent;
  const Return result = call(api.utilization, handle, &percent);
  answers[0] = {result, percent.gpu};
  answers[1] = {result, percent.memory};
}

void ask_memory(const Api& api, Handle handle, Answers& answers) noexcept {
  MemoryV2 memory;
  Return result = call(api.memory_v2, handle, &memory);
  // The two count different memory as used: a call that fails now and then must not mix them.
  if (result == Return::function_not_found || result == Return::invalid_argument) {
    Memory older;
    result = call(api.memory, handle, &older);
    memory.used = older.used;
    memory.total = older.total;
  }
  answers[0] = {result, memory.used};
  answers[1] = {result, memory.total};
}

}  // namespace

std::optional<std::uint64_t> milliwatts(const FieldValue& field) noexcept {
  switch (field.type) {
    case ValueType::real:
      return rounded(stored<double>(field));
    case ValueType::unsigned_int:
      return stored<std::uint32_t>(field);
    case ValueType::unsigned_long:
      return stored<unsigned long>(field);
    case ValueType::unsigned_long_long:
      return stored<std::uint64_t>(field);
    case ValueType::signed_long_long:
      return unless_negative(stored<std::int64_t>(field));
    case ValueType::signed_int:
      return unless_negative(stored<std::int32_t>(field));
    case ValueType::unsigned_short:
      return stored<std::uint16_t>(field);
  }
  return std::nullopt;
}

void ask(const Api& api, Handle handle, Query query, Items wanted, Answers& answers) noexcept {
  switch (query) {
    case Query::energy:
      answers[0] = ask_number<unsigned long long>(api.total_energy, handle);
      break;
    case Query::fields:
      ask_fields(api, handle, wanted, answers);
      break;
    case Query::usage:
      answers[0] = ask_number(api.power_usage, handle);
      break;
    case Query::limit:
      answers[0] = ask_limit(api, handle);
      break;
    case Query::utilization:
      ask_utilization(api, handle, answers);
      break;
    case Query::memory:
      ask_memory(api, handle, answers);
      break;
    case Query::temperature:
      answers[0] = ask_number(api.temperature, handle, kTemperatureGpu);
      break;
    case Query::sm_clock:
      answers[0] = ask_number(api.clock, handle, kClockSm);
      break;
    case Query::memory_clock:
      answers[0] = ask_number(api.clock, handle, kClockMemory);
      break;
  }
}

}  // namespace wattle::nvml
