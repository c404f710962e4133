#include "client/server_counters.hpp"

#include <chrono>
#include <optional>
#include <utility>
#include <variant>

#include "wire/message_json.hpp"

namespace wattle::client {
namespace {

/// Half of the longest round trip of a reading that counts; networks across the world take less.
constexpr std::chrono::nanoseconds kLongestHalfWidth = std::chrono::milliseconds(250);

/// The daemon reads a counter while it answers.
ReadAt between(const InquiryAnswer& answer) noexcept {
  const auto half_width = (answer.received_at - answer.sent_at) / 2;
  return {.at = answer.sent_at + half_width, .half_width = half_width};
}

/// wattled shows some callers an earlier reading, with its time. That time counts only if it is
/// surely earlier: it is less exact.
ReadAt earlier(const InquiryAnswer& answer, const std::optional<ReadAt>& stated) noexcept {
  constexpr std::chrono::milliseconds kResolution{1};
  const bool is_earlier = stated && stated->at + stated->half_width + kResolution < answer.sent_at;
  return is_earlier ? *stated : between(answer);
}

}  // namespace

ServerCounters::ServerCounters(std::size_t place, StreamContext& around)
    : place_(place),
      context_(around),
      inquiry_(around.book == nullptr ? nullptr
                                      : std::make_unique<Inquiry>(place, around.transport,
                                                                  around.clock, around.timeout)) {}

void ServerCounters::expect(DeviceType type) noexcept {
  types_.at(static_cast<std::size_t>(type)).is_counted = inquiry_ != nullptr;
}

bool ServerCounters::is_due(DeviceType type) const noexcept {
  const OfType& of_type = types_.at(static_cast<std::size_t>(type));
  return of_type.is_counted && context_.now >= of_type.due;
}

TimePoint ServerCounters::due(DeviceType type) const noexcept {
  return inquiry_ ? types_.at(static_cast<std::size_t>(type)).due : TimePoint::max();
}

void ServerCounters::ask(const FollowedStream& stream, std::string target) {
  OfType& type = types_.at(static_cast<std::size_t>(stream.type()));
  type.due = context_.now + context_.book->counter_period();
  if (stream.type() == DeviceType::cpu) {
    target += target.find('?') == std::string::npos ? '?' : '&';
    target += "cpu=true&dram=true";
  }
  inquiry_->ask(std::move(target), [this, &stream, &type](const InquiryAnswer& answer) {
    if (answer.is_good()) return book(stream, answer);
    // A daemon without counters would refuse every time.
    const bool is_refused = answer.failure.empty() && answer.status < 500;
    if (is_refused) type.is_counted = false;
  });
}

void ServerCounters::book(const FollowedStream& stream, const InquiryAnswer& answer) {
  const std::uint64_t losses = stream.losses();
  OfType& type = types_.at(static_cast<std::size_t>(stream.type()));
  const bool may_be_another = std::exchange(type.known_losses, losses) != losses;
  if (stream.type() == DeviceType::cpu) return book_cpus(stream, answer, may_be_another);
  const auto decoded = wire::decode_gpu_energies(answer.body);
  const auto* energies = std::get_if<std::map<DeviceId, std::uint64_t>>(&decoded);
  if (energies == nullptr) return;
  // The driver counts, also across restarts of the daemon.
  for (const auto& [id, mj] : *energies) {
    book_one(MeasuredQuantity::gpu, id, mj, between(answer), /*goes_on=*/true);
  }
}

void ServerCounters::book_cpus(const FollowedStream& stream, const InquiryAnswer& answer,
                               bool may_be_another) {
  const auto decoded = wire::decode_cpu_energies(answer.body);
  const auto* energies = std::get_if<std::map<DeviceId, wire::CpuEnergy>>(&decoded);
  if (energies == nullptr) return;
  for (const auto& served : *energies) {
    const DeviceId id = served.first;
    const wire::CpuEnergy& energy = served.second;
    // A daemon counts from its own start, which only wattled reports.
    const bool goes_on =
        energy.since_ms ? std::exchange(cpu_since_ms_[id], *energy.since_ms) == *energy.since_ms
                        : !may_be_another;
    const ReadAt read_at = energy.timestamp_ms
                               ? earlier(answer, stream.read_at(*energy.timestamp_ms))
                               : between(answer);
    // If the daemon does not know the power, the counter does not move or cannot be read.
    const auto book = [&](MeasuredQuantity quantity, std::optional<std::uint64_t> uj) {
      const bool is_unknown = stream.is_unknown(id, quantity == MeasuredQuantity::dram);
      if (is_unknown) context_.book->break_counter({place_, quantity, id});
      if (uj && !is_unknown) book_one(quantity, id, *uj, read_at, goes_on);
    };
    book(MeasuredQuantity::cpu, energy.cpu_uj);
    book(MeasuredQuantity::dram, energy.dram_uj);
  }
}

void ServerCounters::book_one(MeasuredQuantity quantity, DeviceId device, std::uint64_t ticks,
                              const ReadAt& read, bool goes_on) {
  const StreamHistory::QuantityKey key{.server = place_, .quantity = quantity, .device = device};
  if (!goes_on) context_.book->break_counter(key);
  // A daemon that was halted in between read the counter at an unknown time. The next reading
  // counts.
  if (read.half_width > kLongestHalfWidth) return;
  context_.book->note_counter(key, read.at, read.half_width, ticks);
}

}  // namespace wattle::client
