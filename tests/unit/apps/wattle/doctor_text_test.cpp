#include "machine/doctor_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "golden.hpp"

namespace wattle::app {
namespace {

using testing::HasSubstr;
using testing::Not;

SensorRefusal unreadable_package() {
  return {.source = "powercap",
          .subject = "package_0",
          .reason = "energy_uj is readable by root only",
          .proof = "mode 0400, owner 0; Linux 6.1.0",
          .remedy = "run the daemon, or many other things, which would not fit into a line",
          .risk = "energy counters show what other processes do",
          .denied_path = "/sys/class/powercap/intel-rapl:0/energy_uj",
          .domain = Domain::package(0)};
}

SensorRefusal no_library() {
  return {.source = "nvml",
          .subject = "NVIDIA GPUs",
          .reason = "no NVIDIA driver library",
          .proof = "libnvidia-ml.so.1: cannot open shared object file",
          .remedy = "if there is an NVIDIA GPU: install NVIDIA's driver",
          .absent = true,
          .scope = RefusalScope::interface,
          .shows = {DomainKind::nvidia_gpu}};
}

Diagnosis some_of_each() {
  SensorRefusal other = unreadable_package();
  other.subject = "package_1";
  other.domain = Domain::package(1);
  return {.readable = {Domain::psys(), Domain::nvidia_gpu(0)},
          .causes = by_cause({unreadable_package(), other, no_library()}),
          .cpu_can_be_fixed = true};
}

TEST(DoctorText, FitsTheTerminal) {
  testing_support::expect_looks("look_doctor.txt", [](const TextStyle& style) {
    return short_text(some_of_each(), style) + "\n" + verbose_text(some_of_each(), style);
  });
}

TEST(DoctorText, NamesACommandOnlyWhereItHelps) {
  Diagnosis found = some_of_each();
  EXPECT_THAT(short_text(found, {}), HasSubstr("fix: wattle doctor --fix cpu"));
  found.cpu_can_be_fixed = false;
  EXPECT_THAT(short_text(found, {}), HasSubstr("fix: wattle doctor --verbose"));
  EXPECT_THAT(short_text(found, {}), Not(HasSubstr("--fix")));
}

TEST(DoctorText, HasOneColumnWhateverANameIs) {
  Diagnosis found = some_of_each();
  SensorRefusal rail = unreadable_package();
  rail.subject = std::string(40, 'a');
  rail.reason = "no value";
  found.causes = by_cause({rail, no_library()});
  const std::string text = short_text(found, {.width = 120});
  for (const char* what : {"no value", "no NVIDIA driver library", "nvidia_gpu_0", "psys"}) {
    const std::size_t at = text.find(what);
    ASSERT_NE(at, std::string::npos) << text;
    EXPECT_EQ(at - (text.rfind('\n', at) + 1), std::string_view("✗ ").size() + 40 + 2) << text;
  }
}

TEST(DoctorText, OfAMachineThatLacksNothingIsShort) {
  EXPECT_EQ(short_text({.readable = {Domain::package(0)}}, {}),
            "✓ CPU energy  package_0\n"
            "✓ CPU time, memory, I/O of commands\n");
}

TEST(DoctorText, TakesAnEnergyThatIsCalculatedForMeasured) {
  SensorRefusal no_counter = no_library();
  no_counter.subject = "nvidia_gpu_0 energy";
  no_counter.absent = false;
  EXPECT_THAT(
      short_text({.readable = {Domain::nvidia_gpu(0)}, .causes = by_cause({no_counter})}, {}),
      HasSubstr("✓ nvidia_gpu_0 energy  no counter; calculated from the power\n"));
}

}  // namespace
}  // namespace wattle::app
