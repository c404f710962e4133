#include "shares/kubelet_files.hpp"

#include <cstddef>

#include "base/files/file.hpp"
#include "base/json/json_read.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"

namespace wattle::daemon {
namespace {

/// More than any node has.
constexpr std::size_t kMostPods = 4096;
constexpr std::size_t kMostDevices = 16384;
constexpr std::size_t kMostNameBytes = 256;

void add_device(std::string_view id, const std::string& pod, DeviceOwners& owners) {
  const std::string_view device = id.substr(0, id.find("::"));
  if (device.empty() || device.size() > kMostNameBytes) return;
  if (owners.size() >= kMostDevices && !owners.contains(device)) return;
  std::set<std::string>& pods = owners[std::string(device)];
  if (pods.size() < kMostPods) pods.insert(pod);
}

void add_devices(const nlohmann::ordered_json& list, const std::string& pod, DeviceOwners& owners) {
  if (!list.is_array()) return;
  for (const nlohmann::ordered_json& id : list) {
    if (id.is_string()) add_device(id.get_ref<const std::string&>(), pod, owners);
  }
}

}  // namespace

DeviceOwners parse_device_owners(std::string_view checkpoint) {
  DeviceOwners owners;
  const nlohmann::ordered_json json = parse_json(checkpoint);
  for_each_object(at(at(json, "Data"), "PodDeviceEntries"), [&](const auto& entry) {
    std::string pod;
    take_member(entry, "PodUID", pod);
    if (pod.empty() || pod.size() > kMostNameBytes) return;
    const nlohmann::ordered_json& ids = at(entry, "DeviceIDs");
    add_devices(ids, pod, owners);
    // Since Kubernetes 1.20: lists by NUMA node.
    if (!ids.is_object()) return;
    for (const nlohmann::ordered_json& list : ids) add_devices(list, pod, owners);
  });
  return owners;
}

bool add_pod_name(std::string_view folder, PodNames& names) {
  std::string_view rest = folder;
  const std::string_view space = take_until(rest, '_');
  const std::string_view name = take_until(rest, '_');
  if (space.empty() || name.empty() || rest.empty()) return false;
  if (folder.size() > 3 * kMostNameBytes || rest.find('_') != std::string_view::npos) return false;
  names[printable(rest)] = {.space = printable(space), .name = printable(name)};
  return true;
}

KubeletFiles read_kubelet_files(const KubeletPlaces& places) {
  KubeletFiles files;
  const auto checkpoint = places.folder / "device-plugins/kubelet_internal_checkpoint";
  if (const auto text = read_file(checkpoint.string())) files.owners = parse_device_owners(*text);
  for (const std::string& folder : list_folder(places.pod_logs.string()).names) {
    if (files.names.size() >= kMostPods) break;
    static_cast<void>(add_pod_name(folder, files.names));
  }
  return files;
}

}  // namespace wattle::daemon
