#include "history/past_history.hpp"

#include <algorithm>

#include "sampling/reading_work.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

using std::chrono::nanoseconds;

/// More channels than machines have; each takes memory.
constexpr std::size_t kMostPastChannels = 512;

/// The lanes read less often if a driver takes long.
HistoryOptions options_with(nanoseconds period) {
  return {.period = period, .longest_period = std::max(period, kLongestPeriod)};
}

/// True if values of both mean the same.
bool is_same_kind(const Channel& a, const Channel& b) noexcept {
  return a.metric == b.metric && a.scale() == b.scale() && a.gauge.window == b.gauge.window &&
         a.gauge.coverage == b.gauge.coverage && a.gauge.time_constant == b.gauge.time_constant &&
         a.gauge.longest_lag == b.gauge.longest_lag;
}

/// How often channels are read unless a batch says otherwise.
constexpr nanoseconds kUsualPeriod = std::chrono::milliseconds(100);

}  // namespace

PastChannel::PastChannel(Channel channel, nanoseconds period)
    : history_(channel, options_with(period)) {}

void PastChannel::add(TimePoint at, std::uint64_t raw) {
  if (newest_ && at <= *newest_) {
    // The value that was confirmed comes again with its next confirmation.
    if (at < *newest_) note_gap();
    return;
  }
  if (has_gap_) history_.note_suspend();
  has_gap_ = false;
  newest_ = at;
  history_.add({.at = at, .raw = raw, .status = ReadStatus::ok});
}

const History* PastEra::counter() const noexcept {
  const auto found =
      std::ranges::find_if(channels, [](const auto& each) { return each->history().is_counter(); });
  return found == channels.end() ? nullptr : &(*found)->history();
}

std::vector<const History*> PastEra::gauges() const {
  std::vector<const History*> gauges;
  for (const auto& each : channels) {
    if (!each->history().is_counter()) gauges.push_back(&each->history());
  }
  std::ranges::stable_sort(gauges, {},
                           [](const History* gauge) { return gauge->channel().metric; });
  return gauges;
}

ChunkReport PastHistory::add(std::string_view chunk) {
  ChunkReader reader(chunk);
  ChunkReport report;
  const auto& header = reader.header();
  if (!header) {
    report.refusal = "it is not a chunk of this format, or its start is damaged";
    return report;
  }
  const bool is_foreign =
      header->machine != options_.machine && header->machine != 0 && options_.machine != 0;
  if (is_foreign) {
    report.refusal = "it was read on another machine";
    return report;
  }
  start_session(*header);
  while (const auto part = reader.next()) {
    if (const auto* const channel = std::get_if<StoredChannel>(&*part)) add(*channel);
    if (const auto* const batch = std::get_if<ValueBatch>(&*part)) report.values += add(*batch);
  }
  report.damaged_bytes = reader.damaged_bytes();
  report.torn_bytes = reader.torn_bytes();
  return report;
}

void PastHistory::start_session(const ChunkHeader& header) {
  places_.clear();
  const bool goes_on = session_ == header.session && next_batch_ == header.first_batch;
  session_ = header.session;
  next_batch_ = header.first_batch;
  if (!goes_on) note_gap();
}

void PastHistory::note_gap() {
  for (auto& [key, eras] : domains_) {
    for (PastEra& era : eras) {
      for (const auto& channel : era.channels) channel->note_gap();
    }
  }
}

std::optional<PastHistory::Place> PastHistory::place_of(const StoredChannel& stored) {
  const Key key{stored.channel.domain, stored.device};
  std::vector<PastEra>& eras = domains_[key];
  const auto has_metric = [&](const std::unique_ptr<PastChannel>& each) {
    return each->channel().metric == stored.channel.metric;
  };
  if (!eras.empty()) {
    auto& channels = eras.back().channels;
    const auto found = std::ranges::find_if(channels, has_metric);
    const bool is_same =
        found != channels.end() && is_same_kind((*found)->channel(), stored.channel);
    if (is_same) {
      return Place{.key = key,
                   .era = eras.size() - 1,
                   .channel = static_cast<std::size_t>(found - channels.begin())};
    }
    if (found != channels.end()) eras.emplace_back();
  } else {
    eras.emplace_back();
  }
  if (channels_ >= kMostPastChannels) return std::nullopt;
  auto& channels = eras.back().channels;
  channels.push_back(std::make_unique<PastChannel>(stored.channel, kUsualPeriod));
  ++channels_;
  return Place{.key = key, .era = eras.size() - 1, .channel = channels.size() - 1};
}

void PastHistory::add(const StoredChannel& stored) {
  try {
    if (const auto place = place_of(stored)) places_.insert_or_assign(stored.id, *place);
  } catch (const InvalidArgument&) {
    places_.erase(stored.id);
  }
}

std::size_t PastHistory::add(const ValueBatch& batch) {
  if (batch.number != next_batch_) note_gap();
  next_batch_ = batch.number + 1;
  std::size_t added = 0;
  for (const ChannelValues& values : batch.channels) {
    const auto place = places_.find(values.channel);
    if (place == places_.end()) continue;
    PastEra& era = domains_.at(place->second.key).at(place->second.era);
    added += add(era, *era.channels.at(place->second.channel), values);
  }
  return added;
}

std::size_t PastHistory::add(PastEra& era, PastChannel& channel, const ChannelValues& values) {
  std::size_t added = 0;
  channel.set_period(values.period);
  const auto add_at = [&](TimePoint at, std::uint64_t raw) {
    if (at < options_.begin || at >= options_.end) return;
    channel.add(at, raw);
    era.first = std::min(era.first, at);
    era.last = std::max(era.last, at);
    first_ = std::min(first_.value_or(at), at);
    ++added;
  };
  for (const StoredValue& value : values.values) {
    if (value.has_gap) channel.note_gap();
    // A gauge that was confirmed was read about every period in between.
    for (TimePoint at = value.first; at < value.last; at += values.period) add_at(at, value.raw);
    add_at(value.last, value.raw);
  }
  return added;
}

const std::vector<PastEra>* PastHistory::find(const Domain& domain,
                                              const std::string& device) const {
  const auto found = domains_.find({domain, device});
  return found == domains_.end() ? nullptr : &found->second;
}

}  // namespace wattle::daemon
