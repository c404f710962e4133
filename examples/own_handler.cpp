// A handler of your own: energies as JSON lines.
#include <iostream>
#include <mutex>
#include <ostream>
#include <string_view>
#include <wattle/energy_meter.hpp>
#include <wattle/error.hpp>

namespace {

class JsonLines final : public wattle::EnergyHandler {
 public:
  explicit JsonLines(std::ostream& out) : out_(out) {}

  void process(const wattle::EnergyTrace& trace) override {
    const std::scoped_lock lock(mutex_);  // several threads may share a handler
    for (const wattle::EnergySample& sample : trace) print(sample);
  }

 private:
  void print(const wattle::EnergySample& sample) {
    out_ << "{\"tag\":";
    print_text(sample.tag());
    out_ << ",\"duration_s\":" << sample.duration().count();
    for (const std::string& domain : *sample.domains()) {
      const wattle::MeasuredEnergy& energy = sample.energy(domain);
      out_ << ",\"" << domain << "_j\":";
      if (energy.energy) {
        out_ << energy.energy->si();
      } else {
        out_ << "null";
      }
    }
    out_ << "}\n";
  }

  /// As a string of JSON.
  void print_text(std::string_view text) {
    out_ << '"';
    for (const char c : text) {
      if (c == '"' || c == '\\') out_ << '\\';
      out_ << (static_cast<unsigned char>(c) < 0x20 ? ' ' : c);  // control characters become spaces
    }
    out_ << '"';
  }

  std::ostream& out_;
  std::mutex mutex_;
};

}  // namespace

int main() {
  try {
    JsonLines lines(std::cout);
    wattle::EnergyScope scope(lines, {.domains = {{wattle::Domain::package(0)}}}, "load");
    scope.record("train");
    scope.record("save");
  } catch (const wattle::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
