// The highest power of one GPU, found by a coroutine that blocks no thread.
//
//   stream_coroutine HOST:PORT
#include <algorithm>
#include <coroutine>
#include <exception>
#include <future>
#include <iostream>
#include <wattle/error.hpp>
#include <wattle/power_stream.hpp>

/// The minimal type of a coroutine; programs that have coroutines have a better one.
struct Task {
  // Names that the language prescribes; they are called on an object.
  // NOLINTBEGIN(readability-identifier-naming, readability-convert-member-functions-to-static)
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    [[noreturn]] void unhandled_exception() noexcept { std::terminate(); }
  };
  // NOLINTEND(readability-identifier-naming, readability-convert-member-functions-to-static)
};

Task find_peak(wattle::PowerStream& stream, std::promise<double>& found) {
  double peak_w = 0.0;
  for (int steps = 0; steps < 10; ++steps) {
    const wattle::PowerSnapshot* readings = co_await stream.next();
    if (readings == nullptr) break;  // the stream was stopped
    for (const auto& [endpoint, server] : *readings) {
      const auto gpu = server.gpu_power.find(0);
      if (gpu != server.gpu_power.end()) peak_w = std::max(peak_w, gpu->second.si());
    }
  }
  found.set_value(peak_w);
}

int main(int argc, char** argv) {
  try {
    if (argc < 2) return 64;
    std::promise<double> peak_w;  // the coroutine writes to it until the stream is destroyed
    wattle::PowerStream stream({wattle::Server::parse(argv[1])});
    find_peak(stream, peak_w);
    std::cout << "GPU 0: at most " << peak_w.get_future().get() << " W\n";
  } catch (const wattle::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
