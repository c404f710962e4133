#include "gpu_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "base/parse.hpp"
#include "base/text.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    std::string_view part = text.substr(0, comma);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    parts.emplace_back(part);
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

bool is_number(std::string_view text) { return parse_unsigned<std::uint32_t>(text).has_value(); }

/// CUDA reads the list up to the first entry that is no device, and hides everything else.
GpuChoice visible_to_cuda(const Environment& environment) {
  const char* const list = environment("CUDA_VISIBLE_DEVICES");
  if (list == nullptr) return {};
  GpuChoice choice{.all = false};
  for (const std::string& name : split(list)) {
    if (name.starts_with("MIG-")) {
      throw InvalidArgument(
          "--gpus visible: CUDA_VISIBLE_DEVICES names a part of a GPU (MIG), which has no power "
          "sensor of its own; name the GPU");
    }
    if (!is_number(name) && !name.starts_with("GPU-")) break;
    choice.names.push_back(name);
  }
  // Unless told otherwise CUDA counts the fastest first, which is nobody else's order.
  const char* const order = environment("CUDA_DEVICE_ORDER");
  const bool by_bus = order != nullptr && std::string_view(order) == "PCI_BUS_ID";
  if (!by_bus && std::ranges::any_of(choice.names, is_number)) {
    throw InvalidArgument(
        "--gpus visible: the numbers in CUDA_VISIBLE_DEVICES mean nothing outside CUDA unless "
        "CUDA_DEVICE_ORDER is PCI_BUS_ID; set that, or use UUIDs");
  }
  for (std::string& name : choice.names) {
    if (is_number(name)) name.insert(0, "nvidia_gpu_");
  }
  return choice;
}

/// A GPU that was found, readable or not.
struct Candidate {
  Domain domain;
  DeviceInfo info{};
};

std::vector<Candidate> candidates_of(const Survey& found) {
  std::vector<Candidate> gpus;
  for (const auto& sensor : found.sensors) {
    const DeviceInfo* const info = sensor->device();
    if (info == nullptr || !is_gpu(*sensor)) continue;
    gpus.push_back({.domain = sensor->channels().front().domain, .info = *info});
  }
  for (const SensorRefusal& refusal : found.refused) {
    if (!refusal.domain || refusal.domain->category() != DomainCategory::gpu) continue;
    if (std::ranges::count(gpus, *refusal.domain, &Candidate::domain) > 0) continue;
    gpus.push_back({.domain = *refusal.domain});
  }
  std::ranges::sort(gpus, {}, &Candidate::domain);
  return gpus;
}

std::string lower(std::string text) {
  for (char& letter : text) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return text;
}

/// "0000:41:00.0" as the kernel writes it, from that or with more zeros or without the domain, as
/// other tools do.
std::string plain_address(std::string address) {
  address = lower(std::move(address));
  const auto colons = std::ranges::count(address, ':');
  if (colons == 1) return "0000:" + address;
  const std::size_t domain = address.find(':');
  constexpr std::size_t kDigits = 4;
  if (colons == 2 && domain > kDigits) {
    const std::size_t extra = domain - kDigits;
    if (address.find_first_not_of('0') >= extra) address.erase(0, extra);
  }
  return address;
}

bool is_named(const Candidate& gpu, const std::string& name) {
  if (const auto number = parse_unsigned<std::uint32_t>(name)) return gpu.domain.index() == *number;
  return gpu.domain.name() == name || gpu.info.pci_address == plain_address(name) ||
         (!name.empty() && lower(gpu.info.id).starts_with(lower(name)));
}

Domain find(const std::vector<Candidate>& gpus, const std::string& name) {
  const auto matches = [&](const Candidate& gpu) { return is_named(gpu, name); };
  const auto count = std::ranges::count_if(gpus, matches);
  if (count == 1) return std::ranges::find_if(gpus, matches)->domain;
  std::vector<std::string> names;
  names.reserve(gpus.size());
  const bool are_of_one_vendor = std::ranges::all_of(
      gpus, [&](const Candidate& gpu) { return gpu.domain.kind() == gpus.front().domain.kind(); });
  for (const Candidate& gpu : gpus) {
    const std::string called = are_of_one_vendor && !gpu.info.id.empty()
                                   ? std::to_string(gpu.domain.index())
                                   : gpu.domain.name();
    names.push_back(gpu.info.id.empty() ? called : fmt::format("{} ({})", called, gpu.info.id));
  }
  const char* const problem = count == 0        ? "no GPU is called"
                              : is_number(name) ? "GPUs of several vendors have the number"
                                                : "several GPUs start with";
  throw InvalidArgument(fmt::format(
      "--gpus: {} '{}'; there {}", problem, printable(name),
      names.empty() ? "is none to choose from" : fmt::format("are {}", fmt::join(names, ", "))));
}

}  // namespace

GpuChoice parse_gpu_choice(const std::string& text, const Environment& environment) {
  if (text == "all") return {};
  if (text == "none") return {.all = false};
  if (text == "visible") return visible_to_cuda(environment);
  GpuChoice choice{.all = false, .names = split(text)};
  if (std::ranges::count(choice.names, std::string()) > 0) {
    throw InvalidArgument(
        fmt::format("--gpus takes all, none, visible or a list such as 0,2 or GPU-1a2b, not '{}'",
                    printable(text)));
  }
  return choice;
}

void keep_chosen(const GpuChoice& choice, Survey& found) {
  if (choice.all) return;
  const std::vector<Candidate> gpus = candidates_of(found);
  std::set<Domain> chosen;
  for (const std::string& name : choice.names) chosen.insert(find(gpus, name));
  const auto is_left_out = [&](const Domain& domain) {
    return domain.category() == DomainCategory::gpu && !chosen.contains(domain);
  };
  std::erase_if(found.sensors,
                [&](const auto& sensor) { return is_left_out(sensor->channels().front().domain); });
  std::erase_if(found.refused, [&](const SensorRefusal& refusal) {
    return refusal.domain && is_left_out(*refusal.domain);
  });
  for (const Candidate& gpu : gpus) {
    if (!is_left_out(gpu.domain)) continue;
    found.refused.push_back({.source = kGpuChoice,
                             .subject = gpu.domain.name(),
                             .reason = "left out by --gpus",
                             .domain = gpu.domain,
                             .shows = {gpu.domain.kind()}});
  }
  if (choice.none()) {
    found.refused.push_back({.source = kGpuChoice,
                             .subject = "GPUs",
                             .reason = "left out by --gpus",
                             .scope = RefusalScope::interface,
                             .shows = DomainKinds::of({DomainCategory::gpu})});
  }
}

}  // namespace wattle::app
