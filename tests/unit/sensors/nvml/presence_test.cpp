// Signs of NVIDIA hardware, each of which is enough to load the driver's library.
#include "fakes/temp_folder.hpp"
#include "nvml_test.hpp"
#include "sensors/nvml/nvml.hpp"

namespace wattle::nvml {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class NvidiaPresence : public testing::Test {
 protected:
  std::string why() const {
    return why_no_gpu({.sysfs = folder_.path() / "sys",
                       .procfs = folder_.path() / "proc",
                       .dev = folder_.path() / "dev"});
  }
  fakes::TempFolder folder_;
};

TEST_F(NvidiaPresence, NeedsASign) {
  EXPECT_THAT(why(), HasSubstr("nvidiactl"));
  folder_.write("proc/bus/pci/devices", "0008\t1af41045\t0\t10de\n");
  EXPECT_THAT(why(), HasSubstr("no device of vendor 10de in "));
}

TEST_F(NvidiaPresence, IsADeviceOnThePciBus) {
  folder_.write("proc/bus/pci/devices", "0008\t1af41045\t0\n0100\t10de2330\t0\tnvidia\n");
  EXPECT_THAT(why(), IsEmpty());
}

TEST_F(NvidiaPresence, IsAListOfDevicesThatCannotBeRead) {
  folder_.write("proc/bus/pci/devices/.keep", "");
  EXPECT_THAT(why(), IsEmpty());
}

class NvidiaSign : public NvidiaPresence, public testing::WithParamInterface<const char*> {};

TEST_P(NvidiaSign, IsEnough) {
  folder_.write(GetParam(), "");
  EXPECT_THAT(why(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Places, NvidiaSign,
                         testing::Values("proc/driver/nvidia/version", "dev/nvidiactl", "dev/dxg",
                                         "dev/nvmap", "sys/module/nvidia/version",
                                         "sys/module/nouveau/version"));

TEST_F(NvidiaPresence, ShowsOutsideThePciBusOnWindowsAndTegra) {
  folder_.write("proc/bus/pci/devices", "0008\t1af41045\t0\n");
  folder_.write("dev/dxg", "");
  EXPECT_THAT(why(), IsEmpty());
}

}  // namespace
}  // namespace wattle::nvml
