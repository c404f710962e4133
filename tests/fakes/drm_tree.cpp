#include "fakes/drm_tree.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <stdexcept>

#include "base/files/fd.hpp"

namespace wattle::fakes {

namespace fs = std::filesystem;

DrmTree::DrmTree() {
  fs::create_directories(folder_.path() / "sys/class/drm");
  fs::create_directories(folder_.path() / "proc");
  folder_.write("sys/class/drm/version", "drm 1.1.0 20060810\n");
}

void DrmTree::add_card(int card, const std::string& address, std::string_view driver,
                       std::string_view ids) {
  const fs::path device = folder_.path() / "sys/devices/pci0000:00" / address;
  const std::string name = fmt::format("card{}", card);
  const std::string render = fmt::format("renderD{}", 128 + card);
  const fs::path by_class = folder_.path() / "sys/class/drm";
  for (const std::string& node : {name, render}) {
    fs::create_directories(device / "drm" / node);
    fs::create_directory_symlink(device, device / "drm" / node / "device");
    fs::create_directory_symlink(device / "drm" / node, by_class / node);
  }
  fs::create_directories(device / "drm" / name / (name + "-DP-1"));
  fs::create_directory_symlink(device / "drm" / name / (name + "-DP-1"),
                               by_class / (name + "-DP-1"));
  write(card, "uevent",
        fmt::format("{}PCI_CLASS=30000\nPCI_ID={}\nPCI_SUBSYS_ID=1DA2:E447\nPCI_SLOT_NAME={}\n",
                    driver.empty() ? "" : fmt::format("DRIVER={}\n", driver), ids, address));
  write(card, "power/runtime_status", "active\n");
}

void DrmTree::add_rx6800(int card, const std::string& address) {
  add_card(card, address, "amdgpu", "1002:73BF");
  write_hwmon(card, "name", "amdgpu\n");
  write_hwmon(card, "power1_average", "100000000\n");
  write_hwmon(card, "power1_label", "PPT\n");
  write_hwmon(card, "power1_cap", "203000000\n");
  write_hwmon(card, "temp1_input", "51000\n");
  write_hwmon(card, "temp1_label", "edge\n");
  write_hwmon(card, "temp2_input", "58000\n");
  write_hwmon(card, "temp2_label", "junction\n");
  write_hwmon(card, "freq1_input", "2100000000\n");
  write_hwmon(card, "freq1_label", "sclk\n");
  write_hwmon(card, "freq2_input", "1000000000\n");
  write_hwmon(card, "freq2_label", "mclk\n");
  write(card, "gpu_busy_percent", "57\n");
  write(card, "mem_busy_percent", "12\n");
  write(card, "mem_info_vram_used", "4294967296\n");
  write(card, "mem_info_vram_total", "17163091968\n");
}

void DrmTree::add_mi210(int card, const std::string& address) {
  add_card(card, address, "amdgpu", "1002:740F");
  write_hwmon(card, "name", "amdgpu\n");
  write_hwmon(card, "power1_input", "300000000\n");
  write_hwmon(card, "power1_label", "PPT\n");
  write_hwmon(card, "temp2_input", "44000\n");
  write_hwmon(card, "temp2_label", "junction\n");
  write_hwmon(card, "freq1_input", "1700000000\n");
  write(card, "gpu_busy_percent", "99\n");
  write(card, "mem_info_vram_used", "10485760\n");
  write(card, "mem_info_vram_total", "68702699520\n");
  write(card, "unique_id", "18f68e602b8a790f\n");
  write(card, "product_name", "AMD Instinct MI210\n");
}

void DrmTree::add_apu(int card, const std::string& address) {
  add_card(card, address, "amdgpu", "1002:1681");
  write_hwmon(card, "name", "amdgpu\n");
  write_hwmon(card, "in0_input", "740\n");
  write_hwmon(card, "in0_label", "vddgfx\n");
  write_hwmon(card, "in1_input", "700\n");
  write_hwmon(card, "in1_label", "vddnb\n");
  write_hwmon(card, "power1_average", "15000000\n");
  write_hwmon(card, "temp1_input", "45000\n");
  write_hwmon(card, "freq1_input", "400000000\n");
  write(card, "gpu_busy_percent", "3\n");
  write(card, "mem_info_vram_used", "100000000\n");
  write(card, "mem_info_vram_total", "536870912\n");
}

void DrmTree::add_arc(int card, const std::string& address) {
  add_card(card, address, "i915", "8086:56A0");
  write_hwmon(card, "name", "i915\n");
  write_hwmon(card, "energy1_input", "123000000\n");
  write_hwmon(card, "in0_input", "713\n");
  write_hwmon(card, "power1_max", "190000000\n");
  write_hwmon(card, "power1_crit", "228000000\n");
  write(card, fmt::format("drm/card{}/gt_act_freq_mhz", card), "2400\n");
  // Part of the GPU has sensors of its own, in a folder that comes first.
  write(card, "hwmon/hwmon1/name", "i915_gt0\n");
  write(card, "hwmon/hwmon1/energy1_input", "1\n");
}

void DrmTree::add_battlemage(int card, const std::string& address) {
  add_card(card, address, "xe", "8086:E20B");
  write_hwmon(card, "name", "xe\n");
  write_hwmon(card, "energy2_input", "9000000\n");
  write_hwmon(card, "energy2_label", "pkg\n");
  write_hwmon(card, "temp2_input", "40000\n");
  write_hwmon(card, "temp2_label", "pkg\n");
  write(card, "tile0/gt0/freq0/act_freq", "2850\n");
}

void DrmTree::write(int card, const std::string& file, std::string_view content) {
  folder_.write(fs::relative(device(card), folder_.path()) / file, content);
}

void DrmTree::write_hwmon(int card, const std::string& file, std::string_view content) {
  write(card, hwmon(card) + "/" + file, content);
}

void DrmTree::remove(int card, const std::string& file) { fs::remove_all(device(card) / file); }

void DrmTree::set_number(int card, const std::string& file, std::uint64_t value) {
  const std::string path = (device(card) / file).string();
  const std::string text = fmt::format("{:020}\n", value);
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd || ::pwrite(fd.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    throw std::runtime_error("cannot write " + path);
  }
}

void DrmTree::set_hwmon_number(int card, const std::string& file, std::uint64_t value) {
  set_number(card, hwmon(card) + "/" + file, value);
}

void DrmTree::open_file(pid_t pid, int fd, const std::string& target, std::string_view fdinfo) {
  const std::string process = fmt::format("proc/{}", pid);
  folder_.write(fmt::format("{}/fdinfo/{}", process, fd), fdinfo);
  fs::create_directories(folder_.path() / process / "fd");
  fs::create_symlink(target, folder_.path() / process / "fd" / std::to_string(fd));
}

void DrmTree::open_gpu(pid_t pid, int fd, int card, std::string_view fdinfo) {
  open_file(pid, fd, fmt::format("/dev/dri/renderD{}", 128 + card), fdinfo);
}

fs::path DrmTree::device(int card) const {
  return fs::canonical(folder_.path() / "sys/class/drm" / fmt::format("card{}", card) / "device");
}

std::string DrmTree::hwmon(int card) { return fmt::format("hwmon/hwmon{}", card + 4); }

System DrmTree::system() const { return folder_.system(); }

std::string amdgpu_fdinfo(std::string_view address, int client, std::uint64_t vram_kib,
                          std::uint64_t engine_ns) {
  return fmt::format(
      "pos:\t0\nflags:\t02100002\nmnt_id:\t26\nino:\t1234\ndrm-driver:\tamdgpu\n"
      "drm-client-id:\t{}\ndrm-pdev:\t{}\npasid:\t32779\ndrm-total-vram:\t{} KiB\n"
      "drm-shared-vram:\t0\ndrm-resident-vram:\t{} KiB\ndrm-total-gtt:\t2 MiB\n"
      "drm-memory-vram:\t{} KiB\ndrm-memory-gtt: \t2048 KiB\ndrm-memory-cpu: \t0 KiB\n"
      "amd-memory-visible-vram:\t{} KiB\ndrm-engine-gfx:\t{} ns\ndrm-engine-dec:\t1000 ns\n",
      client, address, vram_kib, vram_kib, vram_kib, vram_kib, engine_ns);
}

}  // namespace wattle::fakes
