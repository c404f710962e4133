// Facts from a kubelet's files, without any right in the cluster: which pod has which device, and
// the names of pods.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace wattle::daemon {

/// UIDs of pods by the device that they were given: a UUID or a PCI address. Several pods share a
/// device that is listed for each.
using DeviceOwners = std::map<std::string, std::set<std::string>, std::less<>>;

/// From the text of the kubelet's checkpoint of device plugins (`kubelet_internal_checkpoint`), of
/// Kubernetes before 1.20 too. Nothing of a text that is none. An entry can be of a pod that has
/// ended: who uses this leaves such pods out. Devices that a plugin lists as replicas
/// ("GPU-...::2") count as one device.
[[nodiscard]] DeviceOwners parse_device_owners(std::string_view checkpoint);

struct PodName {
  std::string space{};  ///< its namespace
  std::string name{};
  [[nodiscard]] bool operator==(const PodName&) const = default;
};
/// Printable, by UID.
using PodNames = std::map<std::string, PodName, std::less<>>;

/// From the name of a folder of a pod's logs, NAMESPACE_NAME_UID; false: it is none.
bool add_pod_name(std::string_view folder, PodNames& names);

/// Where a kubelet keeps these.
struct KubeletPlaces {
  std::filesystem::path folder{"/var/lib/kubelet"};
  std::filesystem::path pod_logs{"/var/log/pods"};
};
struct KubeletFiles {
  DeviceOwners owners{};
  PodNames names{};
};
/// Empty where there is no kubelet, or its files cannot be read.
[[nodiscard]] KubeletFiles read_kubelet_files(const KubeletPlaces& places);

}  // namespace wattle::daemon
