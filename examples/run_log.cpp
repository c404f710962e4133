// A log of a run: tail -f follows it, and it survives a crash.
#include <iostream>
#include <string>
#include <wattle/wattle.hpp>

int main(int argc, char** argv) {
  wattle::set_log([](std::string_view message) { std::cerr << message << '\n'; });
  try {
    const std::string path = argc > 1 ? argv[1] : "run.jsonl";
    wattle::RunLog log(path);
    std::cout << "tail -f " << path << '\n';
    log.log_event("start", {{"model", "tiny"}, {"gpus", wattle::Value::Array{0, 1}}});
    for (int step = 0; step < 3; ++step) {
      auto phase = log.phase("step", {{"step", step}});
      double loss = 0.0;
      for (int i = 1; i < 1'000'000; ++i) loss += 1.0 / i / (step + 1);
      phase.add("loss", loss);
    }
    log.log_event("end");
  } catch (const wattle::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
