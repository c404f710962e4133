// Prints the first ten updates of the power of some machines.
//
//   stream_callback HOST:PORT...
#include <atomic>
#include <iostream>
#include <wattle/error.hpp>
#include <wattle/power_stream.hpp>

int main(int argc, char** argv) {
  try {
    std::vector<wattle::Server> servers;
    for (int i = 1; i < argc; ++i) servers.push_back(wattle::Server::parse(argv[i]));

    std::atomic<int> lines = 0;
    wattle::PowerStreamOptions options;
    options.on_update = [&](const wattle::PowerUpdate& update) {
      if (lines >= 10 || !update.power) return;
      std::cout << servers[update.server].endpoint << (update.is_gpu ? " GPU " : " CPU ")
                << update.device << ": " << *update.power << "\n";
      ++lines;
      lines.notify_one();
    };
    wattle::PowerStream stream(servers, options);
    for (int seen = lines; seen < 10; seen = lines) lines.wait(seen);
  } catch (const wattle::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
