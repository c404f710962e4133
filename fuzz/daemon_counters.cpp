// The answer of a daemon on this machine, as its sensor reads it. An input is what came over the
// socket: head and body; and a body alone.
#include <string>

#include "check.hpp"
#include "sensors/daemon/answer.hpp"
#include "sensors/daemon/daemon_sensor.hpp"

namespace {

using namespace wattle;
using daemon_source::Extent;

void check_head(std::string_view text) {
  const auto head = daemon_source::parse_head(text);
  if (head.extent == Extent::whole) {
    fuzz::require(head.body_at <= text.size() && head.body_bytes <= text.size() - head.body_at,
                  "a whole answer is there");
    fuzz::require(head.status >= 200 && head.status <= 999, "a status is a status");
    const auto shorter = daemon_source::parse_head(text.substr(0, head.body_at + head.body_bytes));
    fuzz::require(shorter.extent == Extent::whole, "nothing behind an answer matters");
  }
  if (head.extent != Extent::part || text.empty()) return;
  const auto before = daemon_source::parse_head(text.substr(0, text.size() - 1));
  fuzz::require(before.extent == Extent::part, "what begins an answer began one before");
}

void check_counters(std::string_view json) {
  const auto all = daemon_source::parse_counters(json);
  if (!all) return;
  fuzz::require(all->count <= daemon_source::kMostCpus, "they are as many as fit");
  for (std::size_t i = 0; i < all->count; ++i) {
    const auto& cpu = all->cpus.at(i);
    fuzz::require(all->find(cpu.id) == &cpu, "each is there once");
    for (const auto& number : {cpu.cpu_uj, cpu.dram_uj, cpu.since_ms}) {
      fuzz::require(!number || json.find(std::to_string(*number)) != std::string_view::npos,
                    "no number is made up");
    }
  }
}

/// The counter of CPU 0, if each line is an answer of its own: it falls where the daemon's does.
void check_breaks(std::string_view lines) {
  daemon_source::RestartAwareCounter counter;
  std::optional<std::uint64_t> raw_before;
  std::optional<std::uint64_t> shown_before;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const auto all = daemon_source::parse_counters(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
    const auto* const cpu = all ? all->find(0) : nullptr;
    if (cpu == nullptr || !cpu->cpu_uj) continue;
    const auto raw = counter.update(*cpu->cpu_uj, cpu->since_ms);
    if (raw && raw_before && shown_before && *cpu->cpu_uj < *shown_before) {
      fuzz::require(*raw < *raw_before, "a fall stays one");
    }
    raw_before = raw;
    shown_before = cpu->cpu_uj;
  }
}

}  // namespace

FUZZ_TARGET(daemon_counters)(const unsigned char* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  check_head(text);
  check_counters(text);
  check_breaks(text);
  return 0;
}
