// Whether a system is a virtual machine, from its files.
#include "sensors/machine_extent.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "fakes/temp_folder.hpp"

namespace wattle {
namespace {

/// A core of Graviton 3: the file names no hypervisor on Arm.
const char* arm_core() { return "processor : 0\nCPU implementer : 0x41\nCPU part : 0xd40\n"; }

const char* x86_core() { return "processor : 0\nvendor_id : GenuineIntel\nflags : fpu\n"; }

/// Whether a machine is a server or a guest on one, by its files.
class MachineExtentTest : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    folder_.write(path.c_str(), text);
  }
  void remove_tree(const std::string& path) const {
    std::filesystem::remove_all(folder_.path() / path);
  }
  [[nodiscard]] System system() const {
    return {.sysfs = folder_.path() / "sys", .procfs = folder_.path() / "proc"};
  }
  void write_dmi(const std::string& vendor, const std::string& product,
                 const std::string& chassis = "1") const {
    write("sys/class/dmi/id/sys_vendor", vendor + "\n");
    write("sys/class/dmi/id/product_name", product + "\n");
    write("sys/class/dmi/id/chassis_type", chassis + "\n");
  }
  [[nodiscard]] std::optional<MachineExtent> extent() const {
    const CpuInfo cpu = read_cpu_info(system());
    const auto found =
        recognize_extent(system(), {.is_set = cpu.hypervisor, .is_stated = cpu.states_flags},
                         read_product(system()));
    // A guest, and only a guest, has a proof.
    EXPECT_EQ(proof_of_guest(system(), cpu).has_value(),
              found && found->extent == MachineExtent::guest);
    return found ? std::optional(found->extent) : std::nullopt;
  }
  [[nodiscard]] std::string proof() const {
    return proof_of_guest(system(), read_cpu_info(system())).value_or("");
  }
  fakes::TempFolder folder_;
};

TEST_F(MachineExtentTest, OfX86IsThatOfTheFlag) {
  write("proc/cpuinfo", "processor : 0\nvendor_id : AuthenticAMD\nflags : fpu hypervisor\n");
  EXPECT_EQ(extent(), MachineExtent::guest);
  write("proc/cpuinfo", "processor : 0\nvendor_id : AuthenticAMD\nflags : fpu\n");
  EXPECT_EQ(extent(), MachineExtent::server);
}

TEST_F(MachineExtentTest, OfX86IsThatOfSysfsWhereCpuinfoCannotBeRead) {
  EXPECT_EQ(extent(), std::nullopt);
  const std::string alias = "cpu:type:x86,ven0002fam0019mod0001:feature:,0000,0001";
  write("sys/devices/system/cpu/modalias", alias + ",\n");
  EXPECT_EQ(extent(), MachineExtent::server);
  write("sys/devices/system/cpu/modalias", alias + ",009F,\n");
  EXPECT_EQ(extent(), MachineExtent::guest);
}

TEST_F(MachineExtentTest, OfArmIsAGuestWhereDmiNamesAHypervisor) {
  write("proc/cpuinfo", arm_core());
  for (const auto& [vendor, product] : {std::pair{"Amazon EC2", "m7g.large"},
                                        {"Amazon EC2", "t4g.nano"},
                                        {"QEMU", "KVM Virtual Machine"},
                                        {"QEMU", "QEMU Virtual Machine"},
                                        {"Red Hat", "KVM"},
                                        {"VMware, Inc.", "VMware20,1"},
                                        {"Google", "Google Compute Engine"},
                                        {"Microsoft Corporation", "Virtual Machine"},
                                        {"Xen", "HVM domU"},
                                        {"OpenStack Foundation", "OpenStack Nova"},
                                        {"Parallels International GmbH.", "Parallels ARM"},
                                        {"Apple Inc.", "Apple Virtualization Generic Platform"}}) {
    write_dmi(vendor, product);
    EXPECT_EQ(extent(), MachineExtent::guest) << vendor << ", " << product;
  }
}

TEST_F(MachineExtentTest, OfBareMetalOfEc2IsAServer) {
  write("proc/cpuinfo", arm_core());
  for (const char* const type : {"m7g.metal", "c6g.metal", "m8g.metal-24xl"}) {
    write_dmi("Amazon EC2", type);
    EXPECT_EQ(extent(), MachineExtent::server) << type;
  }
  write_dmi("Amazon EC2", "metal.large");
  EXPECT_EQ(extent(), MachineExtent::guest);
  write_dmi("Amazon EC2", "i3.metal");
  write("proc/cpuinfo", x86_core());
  EXPECT_EQ(extent(), MachineExtent::server);
}

TEST_F(MachineExtentTest, OfX86IsAGuestThatHidesTheFlag) {
  write("proc/cpuinfo", x86_core());
  write_dmi("QEMU", "Standard PC (Q35 + ICH9, 2009)");
  EXPECT_EQ(extent(), MachineExtent::guest);
  // The bare metal of this vendor has the name too.
  write_dmi("Google", "Google Compute Engine");
  EXPECT_EQ(extent(), MachineExtent::server);
}

TEST_F(MachineExtentTest, OfArmIsAServerWhereDmiNamesAChassis) {
  write("proc/cpuinfo", arm_core());
  write_dmi("HPE", "ProLiant RL300 Gen11", "23");
  EXPECT_EQ(extent(), MachineExtent::server);
  for (const char* const chassis : {"1", "2", ""}) {
    write_dmi("HPE", "ProLiant RL300 Gen11", chassis);
    EXPECT_EQ(extent(), std::nullopt) << chassis;
  }
  write_dmi("", "", "23");
  EXPECT_EQ(extent(), std::nullopt);
}

TEST_F(MachineExtentTest, IsThatOfTheDeviceTree) {
  write("proc/cpuinfo", arm_core());
  for (const std::string tree : {"proc/device-tree/", "sys/firmware/devicetree/base/"}) {
    write(tree + "chosen/bootargs", "quiet");
    EXPECT_EQ(extent(), std::nullopt) << "without a model, as the kernel makes it beside ACPI";
    write(tree + "model", "Raspberry Pi 4 Model B Rev 1.4");
    EXPECT_EQ(extent(), MachineExtent::server) << tree;
    for (const std::string sign :
         {"hypervisor/compatible", "ibm,partition-name", "fw-cfg@9020000/reg"}) {
      write(tree + sign, "xen,xen");
      EXPECT_EQ(extent(), MachineExtent::guest) << tree << sign;
      remove_tree(tree + sign.substr(0, sign.find('/')));
    }
    for (const char* const board : {"linux,dummy-virt", "qemu,pseries"}) {
      write(tree + "compatible", board);
      EXPECT_EQ(extent(), MachineExtent::guest) << board;
    }
    remove_tree(tree);
  }
}

TEST_F(MachineExtentTest, OfAMachineWithAHypervisorInSysfsIsAGuest) {
  write("proc/cpuinfo", arm_core());
  write_dmi("HPE", "ProLiant RL300 Gen11", "23");
  write("sys/hypervisor/type", "xen\n");
  EXPECT_EQ(extent(), MachineExtent::guest);
}

TEST_F(MachineExtentTest, OfArmIsUnknownWhereNothingShowsIt) {
  write("proc/cpuinfo", arm_core());
  EXPECT_EQ(extent(), std::nullopt);
}

TEST_F(MachineExtentTest, ProvesThatItIsAGuest) {
  write("proc/cpuinfo", arm_core());
  const std::string sys = system().sysfs.string();
  write("proc/device-tree/hypervisor/compatible", "xen,xen");
  EXPECT_EQ(proof(), "the device tree in " + (system().procfs / "device-tree").string() +
                         " is that of a virtual machine");
  write_dmi("QEMU", "KVM Virtual\x1b Machine");
  EXPECT_EQ(proof(), sys + "/class/dmi/id names 'KVM Virtual\\x1b Machine' of 'QEMU'");
  write("sys/hypervisor/type", "xen\n");
  EXPECT_EQ(proof(), sys + "/hypervisor/type is 'xen'");
  write("proc/cpuinfo", "processor : 0\nflags : hypervisor\n");
  EXPECT_EQ(proof(), "/proc/cpuinfo has the flag 'hypervisor'");
}

}  // namespace
}  // namespace wattle
