#include "run/run_status.hpp"

#include <fmt/format.h>

#include "base/text/quantity.hpp"

namespace wattle::app {

RunStatus::RunStatus(std::chrono::nanoseconds period, TimePoint begin)
    : period_(period), begin_(begin), next_(begin + period), last_(begin) {}

std::optional<std::string> RunStatus::add(TimePoint now, std::optional<Watts> power,
                                          const TreeState* tree) {
  sum_.add(power);
  ++intervals_;
  if (now < next_) return std::nullopt;
  std::string text = line(now, tree);
  while (next_ <= now) next_ += period_;
  last_ = now;
  if (tree != nullptr) last_cpu_ = tree->main.cpu + tree->descendants.cpu;
  sum_ = {};
  intervals_ = 0;
  return text;
}

std::string RunStatus::line(TimePoint now, const TreeState* tree) const {
  std::string text = fmt::format("{}: ", to_text(Seconds(now - begin_)));
  const auto sum = sum_.value();
  text += sum ? to_text(Watts(sum->si() / intervals_)) : "power unknown";
  if (tree == nullptr) return text;
  const std::chrono::nanoseconds cpu = tree->main.cpu + tree->descendants.cpu - last_cpu_;
  text += fmt::format(", {:.2f} CPU cores in use", Seconds(cpu) / Seconds(now - last_));
  return text + fmt::format(", {}{} memory", tree->combined.is_estimated ? "at most " : "",
                            bytes_to_text(tree->combined.pss_bytes));
}

}  // namespace wattle::app
