#include "fakes/nvml/fake_library.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace fakenvml {
namespace {

void hang() {
  Shared& all = shared();
  std::unique_lock lock(all.mutex);
  const std::uint64_t before = all.releases;
  all.released.wait(lock, [&] { return all.releases != before; });
}

}  // namespace

Shared& shared() {
  static Shared* const instance = new Shared;
  return *instance;
}

std::shared_ptr<State> load() {
  auto state = std::make_shared<State>();
  // NOLINTNEXTLINE(concurrency-mt-unsafe): tests set it before they start threads
  const char* const path = std::getenv("WATTLE_FAKE_NVML");
  if (path == nullptr) return state;
  try {
    std::ifstream file(path);
    if (!file) throw std::invalid_argument("cannot be opened");
    parse_script(file, state->script);
    std::ifstream set(std::string(path) + ".set");
    parse_settings(set, state->script);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fake NVML: script %s: %s\n", path, error.what());
    return nullptr;
  }
  return state;
}

std::int64_t now_ns(const State& state) {
  const std::int64_t virtual_ns = shared().virtual_ns.load();
  if (virtual_ns >= 0) return virtual_ns;
  if (const std::int64_t zero = shared().real_zero_ns; zero != 0) return steady_ns() - zero;
  return std::chrono::nanoseconds(std::chrono::steady_clock::now() - state.start).count();
}

std::int64_t steady_ns() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

Return apply(std::list<Rule>& rules, std::string_view name, double now_s) {
  for (Rule& rule : rules) {
    const bool meant = rule.call == name || (rule.call == "*" && !name.starts_with("field:"));
    if (!meant || !rule.when.holds(now_s)) continue;
    if (++rule.seen % rule.every != 0) continue;
    if (rule.kind == Rule::Kind::error) return rule.value;
    if (rule.kind == Rule::Kind::hang) hang();
    if (rule.kind == Rule::Kind::latency) {
      std::this_thread::sleep_for(std::chrono::milliseconds(rule.value));
    }
  }
  return kSuccess;
}

bool is_lost(const Gpu& gpu, double now_s) { return gpu.lost && gpu.lost->holds(now_s); }

bool is_stale(const Handle& handle, double now_s) {
  const Gpu& gpu = *handle.gpu;
  return gpu.lost && gpu.stale_after_loss && now_s >= gpu.lost->from_s &&
         handle.obtained_s < gpu.lost->until_s;
}

Return copy_text(const std::string& text, char* buffer, unsigned int size) {
  if (buffer == nullptr) return kInvalidArgument;
  if (text.size() + 1 > size) return kInsufficientSize;
  std::memcpy(buffer, text.c_str(), text.size() + 1);
  return kSuccess;
}

std::uint64_t shown_mw(const PowerCurve& power, const SensorView& view, std::int64_t now) {
  const std::int64_t update_ns = view.update_ms * 1'000'000;
  const double updated_s = seconds(now - now % update_ns);
  const double watts = power.mean_w(updated_s, view.window_ms * 1e-3);
  return static_cast<std::uint64_t>(std::llround(watts * 1e3));
}

}  // namespace fakenvml
