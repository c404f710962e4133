// Names of control groups, and the texts of cpu.stat and of the kubelet.
#include "check.hpp"
#include "shares/kubelet_files.hpp"
#include "usage/cgroup/cgroup_tree.hpp"

FUZZ_TARGET(shares)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  const std::string_view text = fuzz::text_of(data, size);
  if (const auto place = group_of_cgroup(text)) {
    fuzz::require(!place->group.name.empty(), "a group has a name");
    fuzz::require(fuzz::is_clean(place->group.name), "a name is printable");
  }
  static_cast<void>(parse_cpu_stat(text));
  for (const auto& [device, pods] : daemon::parse_device_owners(text)) {
    fuzz::require(!device.empty() && !pods.empty(), "a device has owners");
  }
  daemon::PodNames names;
  const bool is_pod = daemon::add_pod_name(text, names);
  fuzz::require(is_pod == (names.size() == 1), "a pod has a name");
  for (const auto& [uid, pod] : names) {
    fuzz::require(fuzz::is_clean(uid + pod.space + pod.name), "a name is printable");
  }
  return 0;
}
