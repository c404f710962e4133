// Joules per request of a server that handles many at the same time. docs/units.md
#include <chrono>
#include <cstddef>
#include <exception>
#include <iostream>
#include <string>
#include <thread>
#include <vector>
#include <wattle/work_units.hpp>

namespace {

struct Request {
  std::string text;
};

std::string prefill(const Request& request) {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return request.text;
}

/// The number of tokens.
double decode(const std::string& state) {
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  return static_cast<double>(state.size());
}

void handle(wattle::WorkUnits& units, const Request& request) {
  auto unit = units.begin("request");
  unit.phase("prefill");
  auto state = prefill(request);
  unit.phase("decode");
  unit.add(decode(state));
}  // ends with the block, also where an exception leaves it

void measure(double tokens) {
  wattle::WorkUnits units;  // reads CPUs and GPUs ten times a second

  auto unit = units.begin("request");  // from any thread
  unit.add(tokens);                    // optional: joules per token
  unit.end();

  units.update();
  std::cout << units.report();
}

void serve() {
  wattle::WorkUnits units;
  constexpr std::size_t kClients = 4;
  std::vector<std::thread> clients;
  clients.reserve(kClients);
  for (std::size_t i = 0; i < kClients; ++i) {
    clients.emplace_back([&units] { handle(units, {.text = "hello"}); });
  }
  for (std::thread& client : clients) client.join();
  units.update();
  std::cout << units.report();
}

}  // namespace

int main() try {
  measure(100.0);
  serve();
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
