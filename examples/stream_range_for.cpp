// The total power of the GPUs of some machines, ten times.
//
//   stream_range_for HOST:PORT...
#include <iostream>
#include <wattle/error.hpp>
#include <wattle/power_stream.hpp>

int main(int argc, char** argv) {
  wattle::set_log([](std::string_view message) { std::cerr << message << '\n'; });
  try {
    std::vector<wattle::Server> servers;
    for (int i = 1; i < argc; ++i) servers.push_back(wattle::Server::parse(argv[i]));

    wattle::PowerStream stream(servers);
    int lines = 0;
    for (const wattle::PowerSnapshot& readings : stream) {
      double total_w = 0.0;
      for (const auto& [endpoint, server] : readings) {
        for (const auto& [gpu, power] : server.gpu_power) total_w += power.si();
      }
      std::cout << readings.size() << " server: " << total_w << " W\n";
      if (++lines == 10) break;
    }
  } catch (const wattle::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
