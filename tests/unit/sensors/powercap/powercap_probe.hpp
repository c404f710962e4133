// What `probe` finds in a powercap tree.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "fakes/powercap_tree.hpp"
#include "fakes/virtual_clock.hpp"
#include "sensors/known_sensors.hpp"
#include "sensors/powercap/powercap.hpp"

namespace wattle::powercap {

/// Each test builds a tree, then probes it.
class PowercapProbe : public testing::Test {
 protected:
  void probe_tree() { found_ = probe(tree_.system(), clock_); }

  /// The names of the domains of each sensor.
  [[nodiscard]] std::vector<std::vector<std::string>> devices() const {
    std::vector<std::vector<std::string>> names;
    for (const auto& sensor : found_.sensors) {
      names.emplace_back();
      for (const Channel& channel : sensor->channels()) {
        names.back().push_back(channel.domain.name());
      }
    }
    return names;
  }
  [[nodiscard]] std::vector<std::string> domains() const {
    std::vector<std::string> all;
    for (const auto& names : devices()) all.insert(all.end(), names.begin(), names.end());
    return all;
  }
  [[nodiscard]] const Channel& channel(const Domain& domain) const {
    for (const auto& sensor : found_.sensors) {
      for (const Channel& channel : sensor->channels()) {
        if (channel.domain == domain) return channel;
      }
    }
    throw std::out_of_range("not found: " + domain.name());
  }
  /// What every counter shows now, in ticks; nothing for those that fail.
  [[nodiscard]] std::map<std::string, std::uint64_t> read_all() const {
    std::map<std::string, std::uint64_t> values;
    for (const auto& sensor : found_.sensors) {
      std::vector<Reading> readings(sensor->channels().size());
      sensor->read(readings);
      for (std::size_t i = 0; i < readings.size(); ++i) {
        if (readings[i].status != ReadStatus::ok) continue;
        values[sensor->channels()[i].domain.name()] = readings[i].raw;
      }
    }
    return values;
  }
  [[nodiscard]] const SensorRefusal& only_refusal() const {
    if (found_.refused.size() != 1) throw std::out_of_range("not one refusal");
    return found_.refused.front();
  }

  fakes::PowercapTree tree_;
  fakes::VirtualClock clock_;
  Survey found_;
};

}  // namespace wattle::powercap
