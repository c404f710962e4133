// The energy of each GPU of some machines during one second.
//
//   stream_energy HOST:PORT...
#include <iostream>
#include <thread>
#include <wattle/error.hpp>
#include <wattle/power_stream.hpp>

void print(const wattle::MeasuredEnergy& measured) {
  if (measured.energy) {
    std::cout << measured.energy->si() << " J +-" << measured.uncertainty.si() << ", ";
  }
  std::cout << measured.unknown.count() << " s unknown\n";
}

int main(int argc, char** argv) {
  try {
    std::vector<wattle::Server> servers;
    for (int i = 1; i < argc; ++i) servers.push_back(wattle::Server::parse(argv[i]));

    wattle::PowerStreamOptions options;
    options.history = std::chrono::minutes(10);
    options.counter_period = std::chrono::milliseconds(200);
    wattle::PowerStream stream(servers, options);
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    const wattle::TimePoint end = std::chrono::steady_clock::now() - std::chrono::milliseconds(300);
    const auto energies = stream.energy(end - std::chrono::seconds(1), end);
    for (const auto& [endpoint, energy] : energies) {
      for (const auto& [gpu, measured] : energy.gpus) {
        std::cout << endpoint << " GPU " << gpu << ": ";
        print(measured);
      }
    }
  } catch (const wattle::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
