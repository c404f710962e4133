#include "fakes/nvml/control.hpp"

#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace wattle::fakes {

FakeNvml::FakeNvml(std::string_view script, NvmlBuild build)
    : path_(build == NvmlBuild::current ? WATTLE_FAKE_NVML_LIBRARY : WATTLE_FAKE_OLD_NVML_LIBRARY),
      library_(DynamicLibrary::open(path_)) {
  if (!library_) throw std::runtime_error(library_.error());
  set_script(script);
  ::setenv("WATTLE_FAKE_NVML", script_path().c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  set_time(Seconds(0));
  library_.find<void()>("fakenvml_forget_calls")();
}

FakeNvml::~FakeNvml() {
  wait_until_idle([this] { release_hung(); });
}

void FakeNvml::wait_until_idle(const std::function<void()>& at_each_look) const {
  constexpr int kTries = 1000;
  for (int i = 0; i < kTries && !library_.find<bool()>("fakenvml_is_idle")(); ++i) {
    at_each_look();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void FakeNvml::set_script(std::string_view script) {
  // The threads that call the driver shut it down by themselves, when those that asked are gone.
  wait_until_idle([] {});
  folder_.write("nvml.script", script);
}

std::string FakeNvml::script_path() const { return (folder_.path() / "nvml.script").string(); }

System FakeNvml::system() const {
  System system;
  system.sysfs = folder_.path() / "sys";
  system.procfs = folder_.path() / "proc";
  system.nvml_library = path_;
  return system;
}

void FakeNvml::set_time(Seconds time) {
  const auto elapsed = std::chrono::round<std::chrono::nanoseconds>(time);
  clock_.set(elapsed);
  library_.find<void(std::int64_t)>("fakenvml_set_time_ns")(elapsed.count());
}

void FakeNvml::let_time_pass() { library_.find<void()>("fakenvml_let_time_pass")(); }

void FakeNvml::release_hung() { library_.find<void()>("fakenvml_release_hung")(); }

std::uint64_t FakeNvml::calls(const char* function) const {
  return library_.find<std::uint64_t(const char*)>("fakenvml_calls")(function);
}

bool FakeNvml::shut_down_during_call() const {
  return library_.find<bool()>("fakenvml_shut_down_during_call")();
}

}  // namespace wattle::fakes
