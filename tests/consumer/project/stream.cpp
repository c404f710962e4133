// Uses the component wattle::stream; exits with 0 if all is as documented.
#include <chrono>
#include <cstdio>
#include <wattle/daemon_client.hpp>

int main() {
  // Port 9 is "discard": nobody listens there. Caught as the type that another library throws.
  try {
    wattle::DaemonClient client(wattle::Server::tcp("127.0.0.1", 9), std::chrono::seconds(1));
  } catch (const wattle::ConnectionError& error) {
    std::printf("%s\n", error.what());
    return 0;
  }
  return 1;
}
