#include "sensors/gpu_selection.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using Gpus = std::vector<FoundGpu>;

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  bool is_last = false;
  while (!is_last) {
    is_last = text.find(',') == std::string_view::npos;
    parts.emplace_back(trimmed(take_until(text, ','), " "));
  }
  return parts;
}

std::optional<std::uint32_t> number_in(std::string_view text) {
  return parse_unsigned<std::uint32_t>(text);
}

/// "0000:41:00.0" as the kernel writes it, from that or with more zeros or without the domain, as
/// other tools do.
std::string plain_address(std::string_view text) {
  std::string address = lower(text);
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

bool starts_id_of(const FoundGpu& gpu, const std::string& name) {
  return !name.empty() && lower(gpu.info.id).starts_with(lower(name));
}

bool is_named(const FoundGpu& gpu, const std::string& name) {
  if (const auto number = number_in(name)) return gpu.domain.index() == *number;
  return gpu.domain.name() == name || gpu.info.pci_address == plain_address(name) ||
         starts_id_of(gpu, name);
}

/// "there are 0 (GPU-1a2b), 1 (GPU-3c4d)".
std::string choices(const Gpus& gpus) {
  std::vector<std::string> names;
  names.reserve(gpus.size());
  const bool are_of_one_vendor = std::ranges::all_of(
      gpus, [&](const FoundGpu& gpu) { return gpu.domain.kind() == gpus.front().domain.kind(); });
  for (const FoundGpu& gpu : gpus) {
    const std::string called = are_of_one_vendor && !gpu.info.id.empty()
                                   ? std::to_string(gpu.domain.index())
                                   : gpu.domain.name();
    names.push_back(gpu.info.id.empty() ? called : fmt::format("{} ({})", called, gpu.info.id));
  }
  return names.empty() ? "no GPU was found" : fmt::format("there are {}", fmt::join(names, ", "));
}

Domain find_named(const Gpus& gpus, const std::string& name, std::string_view who) {
  const auto matches = [&](const FoundGpu& gpu) { return is_named(gpu, name); };
  const auto count = std::ranges::count_if(gpus, matches);
  if (count == 1) return std::ranges::find_if(gpus, matches)->domain;
  const auto sentence = [&](std::string_view problem) {
    return fmt::format("{}: {} '{}'; {}", who, problem, printable(name), choices(gpus));
  };
  if (count == 0) throw NoSuchDevice(sentence("no GPU is called"));
  throw InvalidArgument(sentence(number_in(name) ? "GPUs of several vendors have the number"
                                                 : "several GPUs start with"));
}

Domain find_numbered(const Gpus& gpus, std::uint32_t number, std::string_view who) {
  for (const auto& [domain, of_domain] : gpu_numbers(gpus)) {
    if (of_domain == number) return domain;
  }
  throw NoSuchDevice(fmt::format("{}: no GPU has the number {}; {}", who, number, choices(gpus)));
}

/// No runtime can count them in another order than that of the bus.
bool is_order_certain(const Gpus& gpus, const std::vector<std::string>& names) {
  const bool are_alike = std::ranges::all_of(gpus, [&](const FoundGpu& gpu) {
    return !gpu.info.model.empty() && gpu.info.model == gpus.front().info.model;
  });
  if (gpus.size() <= 1 || are_alike) return true;
  return names.size() == gpus.size() &&  // all of them, in whatever order
         std::ranges::all_of(names, [&](const std::string& name) {
           return number_in(name).value_or(gpus.size()) < gpus.size() &&
                  std::ranges::count(names, name) == 1;
         });
}

/// The GPUs of one vendor that a variable leaves: it is read up to the first entry that is none,
/// and hides everything else. Absent: it is not set.
std::optional<Gpus> left_by(const char* variable, const Gpus& gpus, bool by_bus,
                            std::string_view who, const Environment& environment) {
  const char* const list = environment(variable);
  if (list == nullptr) return std::nullopt;
  const std::vector<std::string> names = split(list);
  Gpus left;
  for (const std::string& name : names) {
    if (name.starts_with("MIG-")) {
      throw InvalidArgument(
          fmt::format("{}: {} names a part of a GPU (MIG), which has no power sensor of its own; "
                      "name the GPU",
                      who, variable));
    }
    const auto number = number_in(name);
    if (number && *number < gpus.size()) {
      if (!by_bus && !is_order_certain(gpus, names)) {
        throw InvalidArgument(fmt::format(
            "{}: the numbers in {} do not say which GPUs, since their models differ; use UUIDs{}",
            who, variable,
            gpus[*number].domain.kind() == DomainKind::nvidia_gpu
                ? ", or set CUDA_DEVICE_ORDER to PCI_BUS_ID"
                : ""));
      }
      left.push_back(gpus[*number]);
      continue;
    }
    // ROCm writes "GPU-" before the unique ID that the kernel shows.
    const auto has_id = [&](const FoundGpu& gpu) {
      return starts_id_of(gpu, name) || starts_id_of(gpu, name.substr(4));
    };
    if (number || !name.starts_with("GPU-") || std::ranges::count_if(gpus, has_id) != 1) break;
    left.push_back(*std::ranges::find_if(gpus, has_id));
  }
  return left;
}

Gpus of_kind(const Gpus& gpus, DomainKind kind) {
  Gpus some;
  std::ranges::copy_if(gpus, std::back_inserter(some),
                       [&](const FoundGpu& gpu) { return gpu.domain.kind() == kind; });
  return some;
}

/// See `GpuSelection::visible`. One of the variables is set.
Gpus visible_gpus(const Gpus& gpus, std::string_view who, const Environment& environment) {
  const char* const order = environment("CUDA_DEVICE_ORDER");
  const bool by_bus = order != nullptr && std::string_view(order) == "PCI_BUS_ID";
  const Gpus nvidia = of_kind(gpus, DomainKind::nvidia_gpu);
  const Gpus amd = of_kind(gpus, DomainKind::amd_gpu);
  const auto by_cuda = left_by("CUDA_VISIBLE_DEVICES", nvidia, by_bus, who, environment);
  // HIP's numbers count what ROCr has left, and HIP takes CUDA's variable where its own is not set.
  const auto by_rocr = left_by("ROCR_VISIBLE_DEVICES", amd, false, who, environment);
  const Gpus& left_by_rocr = by_rocr ? *by_rocr : amd;
  auto by_hip = left_by("HIP_VISIBLE_DEVICES", left_by_rocr, false, who, environment);
  if (!by_hip && nvidia.empty()) {
    by_hip = left_by("CUDA_VISIBLE_DEVICES", left_by_rocr, by_bus, who, environment);
  }
  Gpus visible = by_cuda.value_or(Gpus{});
  const Gpus of_amd = by_hip ? *by_hip : by_rocr.value_or(Gpus{});
  visible.insert(visible.end(), of_amd.begin(), of_amd.end());
  return visible;
}

}  // namespace

GpuSelection::GpuSelection(std::vector<std::uint32_t> numbers)
    : kind_(Kind::listed), numbers_(std::move(numbers)) {
  if (numbers_.empty()) {
    throw InvalidArgument(
        "cannot select GPUs: the list is empty; use GpuSelection::all() or none()");
  }
  for (const std::uint32_t number : numbers_) {
    if (std::ranges::count(numbers_, number) > 1) {
      throw InvalidArgument(fmt::format("cannot select GPUs: {} is in the list twice", number));
    }
  }
}

GpuSelection GpuSelection::named(std::vector<std::string> names) {
  if (names.empty() || std::ranges::count(names, std::string()) > 0) {
    throw InvalidArgument(
        "cannot select GPUs: a name is empty, or the list is; use GpuSelection::all() or none()");
  }
  GpuSelection selection(Kind::listed);
  selection.names_ = std::move(names);
  return selection;
}

GpuSelection GpuSelection::parse(std::string_view text) {
  if (text == "all") return all();
  if (text == "none") return none();
  if (text == "visible") return visible();
  std::vector<std::string> names = split(text);
  if (std::ranges::count(names, std::string()) > 0) {
    throw InvalidArgument(fmt::format(
        "cannot select GPUs by '{}': use all, none, visible or a list such as 0,2 or GPU-1a2b",
        printable(text)));
  }
  return named(std::move(names));
}

std::map<Domain, std::uint32_t> gpu_numbers(const Gpus& gpus) {
  std::map<Domain, std::uint32_t> numbers;
  std::uint32_t next = 0;
  // NVIDIA's come first: domains are in the order of their kinds.
  for (const FoundGpu& gpu : gpus) {
    const Domain& domain = gpu.domain;
    const std::uint32_t number = domain.kind() == DomainKind::nvidia_gpu ? domain.index() : next;
    numbers.emplace(domain, number);
    next = number + 1;
  }
  return numbers;
}

GpuSelection resolved(const GpuSelection& selection, const Environment& environment) {
  const std::array variables = {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
                                "HIP_VISIBLE_DEVICES"};
  const bool hides = std::ranges::any_of(
      variables, [&](const char* name) { return environment(name) != nullptr; });
  return selection.is_visible() && !hides ? GpuSelection::all() : selection;
}

std::vector<Domain> selected_gpus(const GpuSelection& selection, const Gpus& gpus,
                                  std::string_view who, std::vector<Refusal>* missing,
                                  const Environment& environment) {
  std::vector<Domain> selected;
  const auto select = [&](const Domain& domain) {
    if (std::ranges::count(selected, domain) == 0) selected.push_back(domain);
  };
  const auto select_found = [&](const std::string& name, const auto& find) {
    try {
      select(find());
    } catch (const NoSuchDevice& absent) {
      if (missing == nullptr) throw;
      missing->push_back({.subject = "GPU " + printable(name), .reason = absent.what()});
    }
  };
  if (resolved(selection, environment).is_all()) {
    for (const FoundGpu& gpu : gpus) select(gpu.domain);
  } else if (selection.is_visible()) {
    for (const FoundGpu& gpu : visible_gpus(gpus, who, environment)) select(gpu.domain);
  }
  for (const std::uint32_t number : selection.numbers()) {
    select_found(std::to_string(number), [&] { return find_numbered(gpus, number, who); });
  }
  for (const std::string& name : selection.names()) {
    select_found(name, [&] { return find_named(gpus, name, who); });
  }
  return selected;
}

void keep_selected(const GpuSelection& selection, Survey& found, std::string_view who,
                   AbsentGpu absent, const Environment& environment) {
  if (resolved(selection, environment).is_all()) return;
  const Gpus gpus = found_gpus(found);
  std::vector<Refusal>* const missing = absent == AbsentGpu::fails ? nullptr : &found.missing;
  const std::vector<Domain> selected = selected_gpus(selection, gpus, who, missing, environment);
  const auto is_left_out = [&](const Domain& domain) {
    return domain.category() == DomainCategory::gpu && std::ranges::count(selected, domain) == 0;
  };
  std::erase_if(found.sensors, [&](const auto& sensor) {
    return is_gpu(*sensor) && is_left_out(gpu_domain_of(*sensor));
  });
  std::erase_if(found.refused, [&](const SensorRefusal& refusal) {
    return refusal.domain && is_left_out(*refusal.domain);
  });
  for (const FoundGpu& gpu : gpus) {
    if (is_left_out(gpu.domain)) found.left_out.push_back(gpu.domain);
  }
}

}  // namespace wattle
