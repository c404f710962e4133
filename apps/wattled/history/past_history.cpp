#include "history/past_history.hpp"

#include <algorithm>
#include <utility>

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

void PastChannel::close() noexcept {
  if (!newest_) return;
  history_.note_suspend();
  history_.add({.at = *newest_ + nanoseconds(1)});
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
  // Which channels had no description is not known: all have a gap.
  const bool goes_on =
      session_ == header.session && next_batch_ == header.first_batch && !has_skipped_;
  has_skipped_ = false;
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

std::optional<PastHistory::SessionChannel> PastHistory::place_of(const StoredChannel& stored) {
  const Key key{stored.channel.domain, stored.device};
  const auto known = domains_.find(key);
  bool starts_era = known == domains_.end();
  if (!starts_era) {
    const std::vector<PastEra>& eras = known->second;
    const auto& channels = eras.back().channels;
    const auto found = std::ranges::find(channels, stored.channel.metric,
                                         [](const auto& each) { return each->channel().metric; });
    starts_era = found != channels.end();
    if (starts_era && is_same_kind((*found)->channel(), stored.channel)) {
      return SessionChannel{.key = key,
                            .era = eras.size() - 1,
                            .channel = static_cast<std::size_t>(found - channels.begin())};
    }
  }
  // Before anything is kept: what is left out takes no memory.
  if (channels_ >= kMostPastChannels) return std::nullopt;
  auto added = std::make_unique<PastChannel>(stored.channel, kUsualPeriod);
  std::vector<PastEra>& eras = domains_[key];
  if (starts_era) eras.emplace_back();
  auto& channels = eras.back().channels;
  channels.push_back(std::move(added));
  ++channels_;
  return SessionChannel{.key = key, .era = eras.size() - 1, .channel = channels.size() - 1};
}

void PastHistory::add(const StoredChannel& stored) {
  places_.erase(stored.id);
  try {
    if (const auto place = place_of(stored)) places_.emplace(stored.id, *place);
  } catch (const InvalidArgument&) {
    return;  // no history takes it
  }
}

std::size_t PastHistory::add(const ValueBatch& batch) {
  if (batch.number != next_batch_) note_gap();
  next_batch_ = batch.number + 1;
  std::size_t added = 0;
  for (const ChannelValues& values : batch.channels) {
    const auto place = places_.find(values.channel);
    if (place == places_.end()) {
      has_skipped_ = true;
      continue;
    }
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
    const TimePoint newest = channel.newest().value_or(options_.begin);
    if (value.has_gap || value.first < newest) channel.note_gap();
    // A gauge that was confirmed was read about every period in between.
    const TimePoint from = std::max({value.first, newest, options_.begin});
    const TimePoint until = std::min(value.last, options_.end);
    for (TimePoint at = from; at < until; at += values.period) add_at(at, value.raw);
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
