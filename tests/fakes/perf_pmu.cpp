#include "fakes/perf_pmu.hpp"

#include <fcntl.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace wattle::fakes {
namespace {

namespace fs = std::filesystem;

FakeEvents* current = nullptr;

void write(const fs::path& path, std::string_view content) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << content;
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace

PerfPmu::PerfPmu(fs::path root) : root_(std::move(root)) {
  write_file("type", std::to_string(kType) + "\n");
  write_file("cpumask", "0\n");
  place_cpu(0, 0);
}

fs::path PerfPmu::path() const { return root_ / "sys/bus/event_source/devices/power"; }

void PerfPmu::add_event(const std::string& name, std::uint64_t code, std::string_view scale) const {
  char text[32];
  std::snprintf(text, sizeof text, "event=0x%02llx\n", static_cast<unsigned long long>(code));
  write_file("events/" + name, text);
  write_file("events/" + name + ".unit", "Joules\n");
  write_file("events/" + name + ".scale", std::string(scale) + "\n");
}

void PerfPmu::place_cpu(unsigned cpu, unsigned package, unsigned die) const {
  const fs::path topology =
      root_ / ("sys/devices/system/cpu/cpu" + std::to_string(cpu)) / "topology";
  write(topology / "physical_package_id", std::to_string(package) + "\n");
  write(topology / "die_id", std::to_string(die) + "\n");
}

void PerfPmu::write_file(const std::string& file, std::string_view content) const {
  write(path() / file, content);
}

void PerfPmu::remove_file(const std::string& file) const { fs::remove(path() / file); }

FakeEvents::FakeEvents() {
  if (current != nullptr) throw std::logic_error("there is one FakeEvents already");
  current = this;
}

FakeEvents::~FakeEvents() { current = nullptr; }

const perf::SystemCalls& FakeEvents::calls() const noexcept {
  static constexpr perf::SystemCalls kCalls{.open_event = open_event, .read = read_event};
  return kCalls;
}

void FakeEvents::set_count(int cpu, std::uint64_t config, std::uint64_t count) {
  counts_[{cpu, config}] = count;
}

int FakeEvents::error_of(std::uint64_t config, int cpu, int group) const {
  if (open_error_ != 0) return open_error_;
  if (const auto found = event_errors_.find(config); found != event_errors_.end()) {
    return found->second;
  }
  if (const auto found = cpu_errors_.find(cpu); found != cpu_errors_.end()) return found->second;
  return group != -1 && !groups_ ? EINVAL : 0;
}

int FakeEvents::open_event(const perf_event_attr& attributes, int cpu, int group) noexcept {
  FakeEvents& self = *current;
  self.opened_.push_back({.type = attributes.type,
                          .config = attributes.config,
                          .read_format = attributes.read_format,
                          .cpu = cpu,
                          .group = group});
  if (const int error = self.error_of(attributes.config, cpu, group); error != 0) {
    errno = error;
    return -1;
  }
  // A descriptor of its own, so that it can be closed as the kernel's are.
  const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int leader = group == -1 ? fd : group;
  std::erase_if(self.events_, [fd](const auto& event) { return event.first == fd; });
  self.events_.emplace_back(fd, Event{attributes.config, cpu, leader});
  return fd;
}

ssize_t FakeEvents::read_event(int fd, void* buffer, std::size_t bytes) noexcept {
  FakeEvents& self = *current;
  ++self.reads_;
  if (self.read_error_ != 0) {
    errno = self.read_error_;
    return -1;
  }
  std::vector<std::uint64_t> values = {0, 0};
  for (const auto& [member, event] : self.events_) {
    if (event.leader != fd || (self.torn_ && member != fd)) continue;
    ++values[0];
    values.push_back(self.counts_[{event.cpu, event.config}]);
    if (member == fd && !self.frozen_[event.cpu]) self.running_ns_[event.cpu] += 1000;
    values[1] = self.running_ns_[event.cpu];
  }
  const std::size_t size = values.size() * sizeof values[0];
  if (bytes < size) {
    errno = ENOSPC;
    return -1;
  }
  const std::size_t given = std::min(size, self.longest_read_);
  std::memcpy(buffer, values.data(), given);
  return static_cast<ssize_t>(given);
}

}  // namespace wattle::fakes
