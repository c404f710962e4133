#include "bench/bench_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "base/text/parse.hpp"
#include "base/text/shell_words.hpp"
#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

constexpr std::size_t kMostCommands = 10'000;

using Values = std::vector<std::pair<std::string, std::string>>;

/// `text` with "{name}" replaced by its value, in one pass: a value is never searched.
std::string filled(std::string_view text, const Values& values) {
  std::string result;
  while (!text.empty()) {
    const auto fits = [&](const auto& value) { return text.starts_with("{" + value.first + "}"); };
    const auto found = text.front() == '{' ? std::ranges::find_if(values, fits) : values.end();
    if (found == values.end()) {
      result += text.front();
      text.remove_prefix(1);
    } else {
      result += found->second;
      text.remove_prefix(found->first.size() + 2);
    }
  }
  return result;
}

/// Every combination of the values; the last parameter changes fastest.
std::vector<Values> combinations_of(const std::vector<BenchParameter>& parameters) {
  std::vector<Values> combinations = {{}};
  for (const BenchParameter& parameter : parameters) {
    std::vector<Values> longer;
    if (combinations.size() * parameter.values.size() > kMostCommands) {
      throw InvalidArgument(
          fmt::format("the parameters give more than {} commands: use fewer "
                      "values",
                      kMostCommands));
    }
    for (const Values& values : combinations) {
      for (const std::string& value : parameter.values) {
        longer.push_back(values);
        longer.back().emplace_back(parameter.name, value);
      }
    }
    combinations = std::move(longer);
  }
  return combinations;
}

void check_number(std::string_view option, std::size_t count, std::size_t commands,
                  bool one_is_enough) {
  if (count == 0 || count == commands || (one_is_enough && count == 1)) return;
  throw InvalidArgument(fmt::format("{} is given {} for {}: give it {}once for each command",
                                    option, count == 1 ? "once" : counted(count, "time"),
                                    counted(commands, "command"),
                                    one_is_enough ? "once, or " : ""));
}

std::map<std::string, std::size_t> uses_of_names(const std::vector<PlannedCommand>& commands) {
  std::map<std::string, std::size_t> uses;
  for (const PlannedCommand& command : commands) ++uses[command.name];
  return uses;
}

/// Makes the names of commands unique: with their parameters, or else with numbers.
void make_names_unique(std::vector<PlannedCommand>& commands) {
  std::map<std::string, std::size_t> uses = uses_of_names(commands);
  for (PlannedCommand& command : commands) {
    if (uses.at(command.name) == 1 || command.parameters.empty()) continue;
    const std::string values = joined(command.parameters, ", ", [](const auto& parameter) {
      return parameter.first + " = " + parameter.second;
    });
    command.name += " (" + values + ")";
  }
  uses = uses_of_names(commands);
  std::map<std::string, std::size_t> numbers;
  for (PlannedCommand& command : commands) {
    if (uses.at(command.name) == 1) continue;
    const std::size_t number = ++numbers[command.name];
    command.name += fmt::format(" ({})", number);
  }
}

std::string one_of(const std::vector<std::string>& texts, std::size_t i) {
  if (texts.empty()) return {};
  return texts.size() == 1 ? texts.front() : texts.at(i);
}

std::size_t decimals_of(std::string_view number) {
  const std::size_t point = number.find('.');
  return point == std::string_view::npos ? 0 : number.size() - point - 1;
}

double number_of(const std::string& text) {
  const auto number = parse_double(text);
  if (number && text.find_first_of("eE") == std::string::npos) return *number;
  throw InvalidArgument(
      fmt::format("--parameter-scan and --parameter-step-size take decimal numbers, not '{}'",
                  printable(text)));
}

}  // namespace

BenchPlan plan_of(const BenchOptions& options) {
  std::vector<std::string> commands = options.commands;
  std::vector<std::string> names = options.names;
  check_number("--command-name", names.size(), commands.size(), false);
  check_number("--prepare", options.prepare.size(), commands.size(), true);
  check_number("--conclude", options.conclude.size(), commands.size(), true);
  std::vector<std::string> prepare = options.prepare;
  std::vector<std::string> conclude = options.conclude;
  std::size_t reference = 0;
  if (!options.reference.empty()) {
    const auto same = std::ranges::find(commands, options.reference);
    reference = static_cast<std::size_t>(same - commands.begin());
    if (same == commands.end()) {
      reference = 0;
      commands.insert(commands.begin(), options.reference);
      if (!names.empty()) names.insert(names.begin(), options.reference);
      if (prepare.size() > 1) prepare.insert(prepare.begin(), "");
      if (conclude.size() > 1) conclude.insert(conclude.begin(), "");
    }
  }
  BenchPlan plan;
  const std::vector<Values> combinations = combinations_of(options.parameters);
  if (commands.size() * combinations.size() > kMostCommands) {
    throw InvalidArgument(fmt::format("these are more than {} commands", kMostCommands));
  }
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (i == reference) plan.reference = plan.commands.size();
    for (const Values& values : combinations) {
      const std::string command = filled(commands[i], values);
      plan.commands.push_back({.name = names.empty() ? command : filled(names[i], values),
                               .command = command,
                               .parameters = values,
                               .setup = filled(options.setup, values),
                               .prepare = filled(one_of(prepare, i), values),
                               .conclude = filled(one_of(conclude, i), values),
                               .cleanup = filled(options.cleanup, values)});
      // Without a parameter in it, it is one command.
      if (command == commands[i] && !options.reference.empty() && i == reference) break;
    }
  }
  make_names_unique(plan.commands);
  return plan;
}

std::vector<std::string> parameter_values(std::string_view list) {
  std::vector<std::string> values(1);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const bool escapes =
        list[i] == '\\' && i + 1 < list.size() && (list[i + 1] == ',' || list[i + 1] == '\\');
    if (escapes) {
      values.back() += list[++i];
    } else if (list[i] == ',') {
      values.emplace_back();
    } else {
      values.back() += list[i];
    }
  }
  return values;
}

std::vector<std::string> scanned_values(const std::string& least, const std::string& most,
                                        const std::string& step) {
  const double low = number_of(least);
  const double high = number_of(most);
  const double width = number_of(step);
  const double steps = (high - low) / width;
  if (width == 0.0) throw InvalidArgument("--parameter-step-size takes a number other than 0");
  if (!(steps >= 0.0)) {
    throw InvalidArgument(
        fmt::format("--parameter-scan from {} to {} is empty in steps of {}: change the sign of "
                    "--parameter-step-size",
                    printable(least), printable(most), printable(step)));
  }
  // A multiple of the step in decimal need not be one in binary.
  constexpr double kRounding = 1e-9;
  const double last = std::floor(steps + kRounding);
  if (last >= static_cast<double>(kMostCommands)) {
    throw InvalidArgument(fmt::format(
        "--parameter-scan gives more than {} values: use a larger --parameter-step-size",
        kMostCommands));
  }
  const std::size_t decimals = std::max(decimals_of(least), decimals_of(step));
  std::vector<std::string> values;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(last); ++i) {
    values.push_back(fmt::format("{:.{}f}", low + width * static_cast<double>(i), decimals));
  }
  return values;
}

std::vector<std::size_t> order_of_round(std::size_t count, std::uint64_t seed, std::size_t round) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(seed + 0x9e3779b97f4a7c15U * (round + 1));
  for (std::size_t left = count; left > 1; --left) {
    std::swap(order[left - 1], order[random() % left]);
  }
  return order;
}

std::size_t rounds_of(const BenchOptions& options, std::chrono::nanoseconds shortest) {
  constexpr std::chrono::duration<double> kWorth{3.0};
  constexpr double kMost = 1e6;
  const double enough = std::ceil(
      kWorth / std::max(shortest, std::chrono::nanoseconds(std::chrono::microseconds(1))));
  const auto rounds = static_cast<std::size_t>(std::min(enough, kMost));
  const std::size_t most = options.max_runs.value_or(static_cast<std::size_t>(kMost));
  return std::clamp(rounds, std::min(options.min_runs, most), most);
}

std::vector<std::string> words_of(const std::string& command, const std::string& shell) {
  if (shell == "none") {
    std::vector<std::string> words = split_words(command);
    if (words.empty()) throw InvalidArgument("a command is empty");
    return words;
  }
  std::vector<std::string> words = split_words(shell);
  if (words.empty()) throw InvalidArgument("--shell takes a program, or none");
  words.emplace_back("-c");
  words.push_back(command);
  return words;
}

}  // namespace wattle::app
