#include "fault_plan.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

#include "base/files/fd.hpp"

namespace wattle::faults {

std::string to_string(const Fault& fault) {
  std::string text(kCallNames.at(static_cast<std::size_t>(fault.call)));
  text += " " + std::to_string(fault.number) + ": " + ::strerrorname_np(fault.error);
  return fault.sticky ? text + ", sticky" : text;
}

FaultPlan::FaultPlan(std::filesystem::path path) : path_(std::move(path)) {
  const Fd fd(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  void* mapped = MAP_FAILED;
  if (fd && ::ftruncate(fd.get(), sizeof(Plan)) == 0) {
    mapped = ::mmap(nullptr, sizeof(Plan), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  }
  if (mapped == MAP_FAILED) throw std::system_error(errno, std::generic_category(), path_);
  plan_ = new (mapped) Plan;
}

FaultPlan::~FaultPlan() { ::munmap(plan_, sizeof(Plan)); }

void FaultPlan::set(const Fault& fault) noexcept {
  plan_->call = static_cast<std::uint32_t>(fault.call);
  plan_->error = fault.error;
  plan_->number = fault.number;
  plan_->sticky = fault.sticky ? 1 : 0;
  for (auto& count : plan_->counts) count = 0;
  plan_->failed = 0;
}

std::uint64_t FaultPlan::count(Call call) const noexcept {
  return plan_->counts.at(static_cast<std::size_t>(call));
}

bool FaultPlan::has_failed() const noexcept { return plan_->failed != 0; }

integration::Start FaultPlan::applied_to(integration::Start start) const {
  start.environment[kPlanVariable] = path_.string();
  start.environment["LD_PRELOAD"] = WATTLE_TEST_FAULTS;
  return start;
}

}  // namespace wattle::faults
