#include "fakes/nvml/script.hpp"

#include <array>
#include <istream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace fakenvml {
namespace {

/// The words of one line, taken one after the other.
class Words {
 public:
  explicit Words(const std::string& line) : stream_(line) {}

  std::optional<std::string> next_word() {
    std::string word;
    if (!(stream_ >> word)) return std::nullopt;
    return word;
  }
  template <class Number>
  Number number() {
    Number value{};
    if (!(stream_ >> value)) throw std::invalid_argument("a number is missing");
    return value;
  }
  std::string word() {
    auto word = next_word();
    if (!word) throw std::invalid_argument("a word is missing");
    return *word;
  }
  std::string rest() {
    std::string rest;
    std::getline(stream_ >> std::ws, rest);
    return rest;
  }
  bool is_none() { return is_next("none"); }
  /// True, and taken, where that is the next word.
  bool is_next(std::string_view word) {
    const auto before = stream_.tellg();
    if (next_word() == word) return true;
    stream_.clear();
    stream_.seekg(before);
    return false;
  }

 private:
  std::istringstream stream_;
};

PowerCurve parse_curve(Words& words) {
  const std::string shape = words.word();
  if (shape != "step" && shape != "linear") throw std::invalid_argument("step or linear?");
  std::vector<PowerCurve::Point> points;
  while (const auto at_s = words.next_word()) {
    points.push_back({std::stod(*at_s), words.number<double>()});
  }
  return {shape == "step" ? PowerCurve::Shape::step : PowerCurve::Shape::linear, std::move(points)};
}

std::optional<SensorView> parse_view(Words& words) {
  if (words.is_none()) return std::nullopt;
  SensorView view{};
  if (words.word() != "window_ms") throw std::invalid_argument("window_ms is missing");
  view.window_ms = words.number<double>();
  if (words.word() != "update_ms") throw std::invalid_argument("update_ms is missing");
  view.update_ms = words.number<std::int64_t>();
  return view;
}

std::optional<Counter> parse_counter(Words& words) {
  if (words.is_none()) return std::nullopt;
  Counter counter;
  counter.start_mj = words.number<std::uint64_t>();
  if (const auto step = words.next_word()) {
    if (*step != "step_ms") throw std::invalid_argument("step_ms?");
    counter.step_ms = words.number<std::int64_t>();
  }
  return counter;
}

Gpu::Pair parse_pair(Words& words) {
  if (words.is_none()) return std::nullopt;
  const auto first = words.number<std::uint64_t>();
  return std::pair(first, words.number<std::uint64_t>());
}

std::map<double, Gpu::Pair> parse_utilization(Words& words) {
  std::map<double, Gpu::Pair> steps;
  if (!words.is_next("step")) return {{0.0, parse_pair(words)}};
  while (const auto at_s = words.next_word()) steps[std::stod(*at_s)] = parse_pair(words);
  if (steps.empty()) throw std::invalid_argument("a step is missing");
  return steps;
}

unsigned int parse_field_type(Words& words) {
  constexpr std::array<std::string_view, 7> kTypes = {"double", "uint", "ulong", "ullong",
                                                      "sllong", "int",  "ushort"};
  const std::string word = words.word();
  for (unsigned int i = 0; i < kTypes.size(); ++i) {
    if (kTypes.at(i) == word) return i;
  }
  return static_cast<unsigned int>(std::stoul(word));
}

/// [every N] [from T] [until T]
void parse_conditions(Words& words, TimeRange& when, std::uint64_t* every,
                      std::optional<unsigned int>* sm_percent = nullptr) {
  while (const auto word = words.next_word()) {
    if (*word == "sm" && sm_percent != nullptr) {
      *sm_percent = words.number<unsigned int>();
    } else if (*word == "from") {
      when.from_s = words.number<double>();
    } else if (*word == "until") {
      when.until_s = words.number<double>();
    } else if (*word == "every" && every != nullptr) {
      *every = words.number<std::uint64_t>();
    } else {
      throw std::invalid_argument("unknown condition " + *word);
    }
  }
}

Process parse_process(Words& words) {
  Process process;
  process.compute = words.word() == "compute";
  process.pid = words.number<unsigned int>();
  if (!words.is_none()) process.memory_bytes = words.number<std::uint64_t>();
  parse_conditions(words, process.when, nullptr, &process.sm_percent);
  return process;
}

bool parse_rule(const std::string& key, Words& words, std::list<Rule>& rules) {
  if (key != "error" && key != "latency" && key != "hang") return false;
  Rule& rule = rules.emplace_back();
  rule.kind = key == "error"     ? Rule::Kind::error
              : key == "latency" ? Rule::Kind::latency
                                 : Rule::Kind::hang;
  rule.call = words.word();
  if (rule.kind != Rule::Kind::hang) rule.value = words.number<int>();
  parse_conditions(words, rule.when, &rule.every);
  return true;
}

void parse_pci(Words& words, Gpu& gpu) {
  char colon = ':';
  std::istringstream address(words.word());
  address >> std::hex >> gpu.pci_domain >> colon >> gpu.pci_bus >> colon >> gpu.pci_device;
  if (!address) throw std::invalid_argument("not a PCI address");
}

bool parse_power(const std::string& key, Words& words, Gpu& gpu) {
  if (key == "power") {
    gpu.power = parse_curve(words);
  } else if (key == "module_power") {
    gpu.module_power = parse_curve(words);
  } else if (key == "memory_power") {
    gpu.memory_power = parse_curve(words);
  } else if (key == "counter") {
    gpu.counter = parse_counter(words);
  } else if (key == "counter_restart") {
    gpu.counter_restart_s = words.number<double>();
  } else if (key == "instant") {
    gpu.instant = parse_view(words);
  } else if (key == "average") {
    gpu.average = parse_view(words);
  } else if (key == "usage") {
    gpu.usage = parse_view(words);
  } else if (key == "field_type") {
    gpu.field_type = parse_field_type(words);
  } else if (key == "ignores_scope") {
    gpu.ignores_scope = true;
  } else if (key == "limit") {
    gpu.limit_w = parse_pair(words);
  } else if (key == "least_limit") {
    gpu.least_limit_w = words.number<std::uint64_t>();
  } else if (key == "clock_range") {
    gpu.clock_range_mhz.emplace();
    for (std::uint32_t& mhz : *gpu.clock_range_mhz) mhz = words.number<std::uint32_t>();
  } else {
    return false;
  }
  return true;
}

bool parse_state(const std::string& key, Words& words, Gpu& gpu) {
  if (key == "uuid") {
    gpu.uuid = words.word();
  } else if (key == "pci") {
    parse_pci(words, gpu);
  } else if (key == "utilization") {
    gpu.utilization = parse_utilization(words);
  } else if (key == "memory") {
    gpu.memory = parse_pair(words);
  } else if (key == "temperature") {
    gpu.temperature.reset();
    if (!words.is_none()) gpu.temperature = words.number<std::uint64_t>();
  } else if (key == "clocks") {
    gpu.clocks_mhz = parse_pair(words);
  } else if (key == "persistence") {
    gpu.persistence = words.word() == "on";
  } else if (key == "mig") {
    gpu.mig = words.word() == "on";
  } else if (key == "process") {
    gpu.processes.push_back(parse_process(words));
  } else if (key == "process_record") {
    gpu.process_record = words.number<unsigned int>();
  } else if (key == "lost") {
    gpu.lost.emplace();
    gpu.lost->from_s = words.number<double>();
    gpu.lost->until_s = words.number<double>();
    gpu.stale_after_loss = words.next_word() == "stale";
  } else {
    return false;
  }
  return true;
}

void parse_line(const std::string& line, Script& script) {
  Words words(line);
  const auto key = words.next_word();
  if (!key) return;
  if (*key == "gpu") {
    const auto number = static_cast<unsigned int>(script.gpus.size());
    Gpu& gpu = script.gpus.emplace_back();
    gpu.name = words.rest();
    gpu.uuid = "GPU-00000000-0000-0000-0000-" + std::to_string(100'000'000'000 + number);
    gpu.pci_bus = number + 1;
    return;
  }
  if (*key == "driver") {
    script.driver = words.word();
    return;
  }
  std::list<Rule>& rules = script.gpus.empty() ? script.rules : script.gpus.back().rules;
  if (parse_rule(*key, words, rules)) return;
  if (script.gpus.empty()) throw std::invalid_argument("this needs a gpu before it");
  if (parse_power(*key, words, script.gpus.back())) return;
  if (!parse_state(*key, words, script.gpus.back())) throw std::invalid_argument("unknown word");
}

}  // namespace

const Gpu::Pair& Gpu::utilization_at(double at_s) const noexcept {
  const auto next = utilization.upper_bound(at_s);
  return next == utilization.begin() ? next->second : std::prev(next)->second;
}

void parse_script(std::istream& text, Script& script) {
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    line.erase(std::min(line.find('#'), line.size()));
    try {
      parse_line(line, script);
    } catch (const std::exception& error) {
      throw std::invalid_argument("line " + std::to_string(number) + ": " + line + ": " +
                                  error.what());
    }
  }
}

void parse_settings(std::istream& text, Script& script) {
  std::size_t number = 0;
  std::string what;
  std::string values;
  while (text >> number >> what && std::getline(text, values)) {
    if (number >= script.gpus.size()) continue;
    Gpu& gpu = *std::next(script.gpus.begin(), static_cast<std::ptrdiff_t>(number));
    if (what == "power_limit") gpu.set_limit_mw = std::stoull(values);
    if (what == "persistence") gpu.persistence = std::stoi(values) == 1;
  }
}

}  // namespace fakenvml
