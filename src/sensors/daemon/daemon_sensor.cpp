#include "sensors/daemon/daemon_sensor.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "base/forks.hpp"
#include "sensors/known_sensors.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon_source {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

RequestOutcome outcome_of(int error) noexcept {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return RequestOutcome::absent;
    case ECONNREFUSED:
      return RequestOutcome::deserted;
    case EACCES:
    case EPERM:
      return RequestOutcome::denied;
    case EAGAIN:  // more wait to be let in than there is room for
      return RequestOutcome::silent;
    default:
      return RequestOutcome::failed;
  }
}

/// Waits until there is something to receive; false when the time is over.
bool wait_for_bytes(int fd, steady_clock::time_point until) noexcept {
  while (true) {
    // Rounded up: a wait of 0 ms would not wait for the last of the time.
    const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
    const int count = ::poll(&waiting, 1, static_cast<int>(left.count()));
    if (count > 0) return true;
    if (count < 0 && errno != EINTR) return false;
  }
}

ReadStatus status_without_answer(RequestOutcome outcome) noexcept {
  switch (outcome) {
    case RequestOutcome::absent:
    case RequestOutcome::deserted:
    case RequestOutcome::denied:
      return ReadStatus::gone;
    default:
      return ReadStatus::retry;
  }
}

/// The domain of a CPU of the daemon; absent: none that this version knows.
std::optional<Domain> domain_of(const CpuCounters& cpu, const std::vector<CpuZone>& zones) {
  if (!cpu.domain.empty()) {
    try {
      const Domain domain = Domain::parse(cpu.domain);
      const bool is_cpu = domain.kind() == DomainKind::package || domain.kind() == DomainKind::psys;
      return is_cpu ? std::optional(domain) : std::nullopt;
    } catch (const InvalidArgument&) {
      return std::nullopt;
    }
  }
  // Older wattled numbers packages; zeusd numbers zones.
  if (!cpu.since_ms) {
    const auto zone = std::ranges::find(zones, cpu.id, &CpuZone::number);
    if (zone != zones.end()) return zone->domain;
  }
  return Domain::package(cpu.id);
}

}  // namespace

std::optional<std::string> question(std::string_view token) {
  if (!std::ranges::all_of(token, [](char c) { return c > ' ' && c < '\x7f'; })) {
    return std::nullopt;
  }
  std::string text =
      "GET /cpu/get_cumulative_energy?cpu=true&dram=true HTTP/1.1\r\nHost: localhost\r\n";
  if (!token.empty()) text.append("Authorization: Bearer ").append(token).append("\r\n");
  return text += "\r\n";
}

DaemonConnection::DaemonConnection(std::string_view path, std::string question,
                                   const TimeSource& clock)
    : address_(UnixAddress::of(path)),
      question_(std::move(question)),
      clock_(clock),
      forks_(forks()) {}

Reply DaemonConnection::ask(std::chrono::nanoseconds patience) noexcept {
  const SteadyTime until = steady_clock::now() + patience;
  if (const std::uint64_t now = forks(); now != forks_) {
    forks_ = now;
    socket_.reset();
  }
  const bool was_kept = static_cast<bool>(socket_);
  if (!was_kept) {
    const Reply connected = connect();
    if (connected.outcome != RequestOutcome::answered) return connected;
  }
  Reply reply = send_and_receive(until);
  if (was_kept && reply.outcome == RequestOutcome::hung_up && received_ == 0) {
    const Reply connected = connect();
    if (connected.outcome != RequestOutcome::answered) return connected;
    reply = send_and_receive(until);
  }
  return reply;
}

/// `answered` where there is a connection now.
Reply DaemonConnection::connect() noexcept {
  if (!address_) return {.outcome = RequestOutcome::absent, .error = ENOENT};
  socket_ = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket_ && ::connect(socket_.get(), address_->get(), address_->size()) == 0) {
    return {.outcome = RequestOutcome::answered};
  }
  const int error = errno;
  socket_.reset();
  return {.outcome = outcome_of(error), .error = error};
}

Reply DaemonConnection::send_and_receive(SteadyTime until) noexcept {
  Reply reply{.before = clock_.now()};
  received_ = 0;
  // The question is short: it fits into the socket's buffer, or nobody reads what is in there.
  const ssize_t sent =
      ::send(socket_.get(), question_.data(), question_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  Head head;
  reply.outcome = sent == static_cast<ssize_t>(question_.size()) ? receive(until, head)
                                                                 : RequestOutcome::hung_up;
  reply.after = clock_.now();
  if (reply.outcome == RequestOutcome::answered) {
    reply.status = head.status;
    reply.body = std::string_view(room_.data(), received_).substr(head.body_at, head.body_bytes);
  }
  // Whatever comes later would be taken for the answer to the next question.
  const bool has_more = received_ != head.body_at + head.body_bytes;
  if (reply.outcome != RequestOutcome::answered || head.closes || has_more) socket_.reset();
  return reply;
}

RequestOutcome DaemonConnection::receive(SteadyTime until, Head& head) noexcept {
  while (true) {
    if (received_ == room_.size()) return RequestOutcome::garbled;
    if (!wait_for_bytes(socket_.get(), until)) return RequestOutcome::silent;
    const ssize_t count =
        ::recv(socket_.get(), room_.data() + received_, room_.size() - received_, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count <= 0) return RequestOutcome::hung_up;
    received_ += static_cast<std::size_t>(count);
    head = parse_head({room_.data(), received_});
    if (head.extent == Extent::none) return RequestOutcome::garbled;
    if (head.extent == Extent::whole) return RequestOutcome::answered;
  }
}

std::optional<std::uint64_t> RestartAwareCounter::update(
    std::uint64_t shown_uj, std::optional<std::uint64_t> since_ms) noexcept {
  const bool goes_on = has_last_ && shown_uj >= last_ && since_ms == since_ms_;
  if (!goes_on) {
    if (begin_ == 0) return std::nullopt;
    --begin_;
    base_ = shown_uj;
  }
  has_last_ = true;
  last_ = shown_uj;
  since_ms_ = since_ms;
  const std::uint64_t passed = shown_uj - base_;
  if (passed > std::numeric_limits<std::uint64_t>::max() - begin_) return std::nullopt;
  return begin_ + passed;
}

DaemonSensor::DaemonSensor(std::unique_ptr<DaemonConnection> connection,
                           const AllCounters& counters, const std::vector<CpuZone>& zones,
                           std::set<Domain> taken, const std::string& place,
                           const TimeSource& clock)
    : taken_(std::move(taken)), connection_(std::move(connection)), clock_(clock) {
  for (const CpuCounters& cpu : std::span(counters.cpus).first(counters.count)) {
    const auto domain = domain_of(cpu, zones);
    if (!domain) continue;
    if (cpu.cpu_uj) add(cpu, &CpuCounters::cpu_uj, *domain, place);
    const bool has_dram = cpu.dram_uj && domain->kind() == DomainKind::package;
    if (has_dram) add(cpu, &CpuCounters::dram_uj, domain->as(DomainKind::dram), place);
  }
}

void DaemonSensor::add(const CpuCounters& cpu, std::optional<std::uint64_t> CpuCounters::*shown,
                       Domain domain, const std::string& place) {
  // AMD's kernels show a package once a die.
  if (!taken_.insert(domain).second) return;
  channels_.push_back({.domain = domain,
                       .counter = {.tick = Joules(1e-6),
                                   .max_power = traits_of(domain).max_power,
                                   .least_power = traits_of(domain).least_power},
                       .update = kRaplUpdate,  // the daemon reads the counter when it is asked
                       .source = "daemon",
                       .place = place});
  counters_.push_back({.cpu = cpu.id, .name = std::string(cpu.domain), .shown = shown});
}

void DaemonSensor::read_some(ChannelSet /*wanted*/, std::span<Reading> readings) noexcept {
  readings = readings.first(std::min(readings.size(), counters_.size()));
  const auto fail = [&](ReadStatus status) {
    for (Reading& reading : readings) reading = {.at = clock_.now(), .status = status};
  };
  if (clock_.now() < rests_until_) return fail(ReadStatus::retry);
  const Reply reply = connection_->ask(kPatience);
  if (reply.outcome == RequestOutcome::silent) rests_until_ = clock_.now() + kRest;
  if (reply.outcome != RequestOutcome::answered) return fail(status_without_answer(reply.outcome));
  const auto all = reply.status == kStatusOk ? parse_counters(reply.body) : std::nullopt;
  if (!all) return fail(ReadStatus::retry);

  for (std::size_t i = 0; i < readings.size(); ++i) {
    DaemonCounter& counter = counters_[i];
    // Another daemon may number them in another way.
    const CpuCounters* const cpu =
        counter.name.empty() ? all->find(counter.cpu) : all->find(counter.name);
    const auto shown = cpu != nullptr ? cpu->*counter.shown : std::nullopt;
    const auto raw = shown ? counter.marked.update(*shown, cpu->since_ms) : std::nullopt;
    const ReadStatus without = cpu != nullptr ? ReadStatus::retry : ReadStatus::gone;
    readings[i] =
        reading_between(reply.before, reply.after, raw.value_or(0), raw ? ReadStatus::ok : without);
  }
}

}  // namespace wattle::daemon_source
