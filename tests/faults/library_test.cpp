// The n-th allocation fails in the library: whoever asked is told by an exception, and nothing is
// broken or left behind (AddressSanitizer sees that).
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>

#include "fakes/powercap_tree.hpp"
#include "wattle/energy_meter.hpp"
#include "wattle/error.hpp"
#include "wattle/hardware_monitor.hpp"
#include "wattle/power_monitor.hpp"

namespace {

/// Allocations of this thread up to the one that fails; 0: none fails.
thread_local std::uint64_t left = 0;

void* allocate(std::size_t size) {
  const bool fails = left == 1;
  if (left > 0) --left;
  return fails ? nullptr : std::malloc(size);
}
void* allocate_or_throw(std::size_t size) {
  void* const memory = allocate(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// The program's own, in place of the language's.
void* operator new(std::size_t size) { return allocate_or_throw(size); }
void* operator new[](std::size_t size) { return allocate_or_throw(size); }
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return allocate(size);
}
void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return allocate(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t& /*tag*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

namespace wattle {
namespace {

class EveryAllocation : public testing::Test {
 protected:
  EveryAllocation() {
    tree_.add_zone("intel-rapl:0", "package-0");
    tree_.add_zone("intel-rapl:0:0", "dram");
  }

  /// Lets the first allocation of `use` fail, the second, and so on until none is left.
  static void fail_each(const std::function<void()>& use) {
    use();  // what is made once in a program
    bool failed = true;
    for (std::uint64_t n = 1; failed; ++n) {
      left = n;
      try {
        use();
      } catch (const std::bad_alloc&) {
      } catch (const Error&) {
      }
      failed = left == 0;
      left = 0;
    }
    use();
  }

  fakes::PowercapTree tree_;
};

TEST_F(EveryAllocation, OfAMeterMayFail) {
  fail_each([&] {
    EnergyMeter meter(EnergyMeterOptions{.system = tree_.system()});
    meter.start("a");
    meter.record("b");
    meter.stop();
    (void)meter.trace();
  });
}

TEST_F(EveryAllocation, OfTheListOfDomainsMayFail) {
  fail_each([&] { (void)available_domains(DomainKind::package, tree_.system()); });
}

TEST_F(EveryAllocation, OfAPowerMonitorMayFail) {
  fail_each([&] {
    PowerMonitorOptions options;
    options.system = tree_.system();
    options.update_period = std::chrono::seconds(1);
    PowerMonitor monitor(options);
    monitor.stop();
  });
}

TEST_F(EveryAllocation, OfASummaryMayFail) {
  ResourceSummary summary;
  GpuSummary gpu;
  gpu.name = "a name that is too long to lie within its string";
  gpu.energy = Joules(1.0);
  gpu.energy_method = Method::counter;
  summary.gpus = {gpu};
  summary.domains.emplace_back().name = gpu.name;
  summary.files.push_back({.path = gpu.name, .problem = gpu.name});
  fail_each([&] {
    (void)summary.to_json();
    (void)summary.to_text();
  });
}

}  // namespace
}  // namespace wattle
