#include "fakes/hwmon_tree.hpp"

#include <fmt/format.h>

namespace wattle::fakes {

namespace fs = std::filesystem;

namespace {

std::string name_of(int number) { return fmt::format("hwmon{}", number); }

}  // namespace

HwmonTree::HwmonTree() {
  fs::permissions(folder_.path(), fs::perms(0755));  // for tests as another user
  fs::create_directories(folder_.path() / "sys/class/hwmon");
  fs::create_directories(folder_.path() / "sys/class/power_supply");
  fs::create_directories(folder_.path() / "proc");
}

void HwmonTree::add_chip(int number, const std::string& device, std::string_view name,
                         const Files& files) {
  const fs::path parent = folder_.path() / "sys/devices" / device;
  const fs::path folder = parent / "hwmon" / name_of(number);
  fs::create_directories(folder);
  fs::create_directory_symlink(parent, folder / "device");
  fs::create_directory_symlink(folder, folder_.path() / "sys/class/hwmon" / name_of(number));
  write(number, "name", fmt::format("{}\n", name));
  for (const auto& [file, content] : files) write(number, file, content);
}

void HwmonTree::add_old_chip(int number, const std::string& device, std::string_view name,
                             const Files& files) {
  add_chip(number, device, name, {});
  remove(number, "name");
  write(number, "device/name", fmt::format("{}\n", name));
  for (const auto& [file, content] : files) write(number, "device/" + file, content);
}

void HwmonTree::add_power_meter(int number, int instance, std::string_view label) {
  Files files = {{"power1_average", "250000000\n"},      {"power1_average_interval", "1000\n"},
                 {"power1_average_interval_min", "1\n"}, {"power1_cap", "800000000\n"},
                 {"power1_accuracy", "90.0%\n"},         {"power1_is_battery", "0\n"}};
  if (!label.empty()) files["power1_oem_info"] = fmt::format("{}\n", label);
  add_old_chip(number, fmt::format("LNXSYSTM:00/ACPI000D:{:02d}", instance), "power_meter", files);
}

void HwmonTree::add_ina226(int number, const std::string& device) {
  add_chip(number, device, "ina226",
           {{"power1_input", "12500000\n"},
            {"in0_input", "1\n"},
            {"in1_input", "12000\n"},
            {"curr1_input", "1042\n"},
            {"shunt_resistor", "2000\n"}});
}

void HwmonTree::add_ina3221(int number, const std::string& device) {
  add_chip(number, device, "ina3221",
           {{"in1_input", "19000\n"},
            {"in1_label", "VDD_IN\n"},
            {"curr1_input", "500\n"},
            {"in2_input", "5000\n"},
            {"in2_label", "VDD_CPU_GPU_CV\n"},
            {"curr2_input", "1000\n"},
            {"in3_input", "0\n"},
            {"in3_label", "VDD_SOC\n"},
            {"curr3_input", "0\n"},
            {"curr4_input", "1500\n"},
            {"in4_input", "2\n"},
            {"in5_input", "5\n"},
            {"in6_input", "0\n"},
            {"in7_input", "7\n"},
            {"in7_label", "sum of shunt voltages\n"}});
}

void HwmonTree::add_supply(const std::string& name, const Files& files) {
  fs::create_directories(supply(name));
  for (const auto& [file, content] : files) write(name, file, content);
}

void HwmonTree::add_battery(const std::string& name) {
  add_supply(name, {{"type", "Battery\n"},
                    {"status", "Discharging\n"},
                    {"power_now", "8250000\n"},
                    {"voltage_now", "11400000\n"},
                    {"energy_now", "41000000\n"},
                    {"energy_full", "50000000\n"},
                    {"model_name", "DELL 4GVMP\n"}});
}

void HwmonTree::write(int chip, const std::string& file, std::string_view content) const {
  folder_.write(fs::relative(this->chip(chip), folder_.path()) / file, content);
}

void HwmonTree::write(const std::string& supply, const std::string& file,
                      std::string_view content) const {
  folder_.write(fs::relative(this->supply(supply), folder_.path()) / file, content);
}

void HwmonTree::remove(int chip, const std::string& file) const {
  fs::remove(this->chip(chip) / file);
}

fs::path HwmonTree::chip(int number) const {
  return folder_.path() / "sys/class/hwmon" / name_of(number);
}

fs::path HwmonTree::supply(const std::string& name) const {
  return folder_.path() / "sys/class/power_supply" / name;
}

System HwmonTree::system() const { return folder_.system(); }

}  // namespace wattle::fakes
