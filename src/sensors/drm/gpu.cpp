#include "sensors/drm/gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/files/file.hpp"
#include "base/text/parse.hpp"
#include "base/text/text.hpp"
#include "sensors/drm/diagnosis.hpp"
#include "sensors/examination.hpp"
#include "sensors/known_sensors.hpp"

namespace wattle::drm {
namespace {

namespace fs = std::filesystem;
using std::chrono::nanoseconds;

constexpr double kMicro = 1e-6;
constexpr double kMilli = 1e-3;
constexpr double kMega = 1e6;

/// The start of a file's path.
enum class FilePlace : std::uint8_t { hwmon, device, card };

/// A file that a GPU may have. Of several for one metric the first that is there counts.
struct FileDefinition {
  Metric metric;
  FilePlace place;
  std::string_view file;
  double scale;
  std::uint64_t most = UINT64_MAX;
  bool wakes = true;
};

// Larger values are firmware's "unknown", all ones in 16 or 32 bits: a part of 5 kW, or of 250
// degrees, does not exist.
constexpr std::uint64_t kMostMicrowatts = 5'000'000'000;
constexpr std::uint64_t kMostMillidegrees = 250'000;

constexpr std::array kDefinitions = {
    // xe has one for the board and one for the GPU's package alone, i915 the first.
    FileDefinition{Metric::energy, FilePlace::hwmon, "energy1_input", kMicro},
    FileDefinition{Metric::energy, FilePlace::hwmon, "energy2_input", kMicro},
    FileDefinition{Metric::power_instant, FilePlace::hwmon, "power1_input", kMicro,
                   kMostMicrowatts},
    FileDefinition{Metric::power_average, FilePlace::hwmon, "power1_average", kMicro,
                   kMostMicrowatts},
    FileDefinition{Metric::power_limit, FilePlace::hwmon, "power1_cap", kMicro, kMostMicrowatts},
    FileDefinition{Metric::utilization, FilePlace::device, "gpu_busy_percent", 1.0, 100},
    FileDefinition{Metric::memory_utilization, FilePlace::device, "mem_busy_percent", 1.0, 100},
    // These two are the driver's own books.
    FileDefinition{Metric::memory_used, FilePlace::device, "mem_info_vram_used", 1.0, UINT64_MAX,
                   false},
    FileDefinition{Metric::memory_total, FilePlace::device, "mem_info_vram_total", 1.0, UINT64_MAX,
                   false},
    // The first is amdgpu's edge, the second its junction and xe's package.
    FileDefinition{Metric::temperature, FilePlace::hwmon, "temp1_input", kMilli, kMostMillidegrees},
    FileDefinition{Metric::temperature, FilePlace::hwmon, "temp2_input", kMilli, kMostMillidegrees},
    FileDefinition{Metric::clock_sm, FilePlace::hwmon, "freq1_input", 1.0},
    FileDefinition{Metric::clock_sm, FilePlace::card, "gt_act_freq_mhz", kMega},             // i915
    FileDefinition{Metric::clock_sm, FilePlace::device, "tile0/gt0/freq0/act_freq", kMega},  // xe
    FileDefinition{Metric::clock_memory, FilePlace::hwmon, "freq2_input", 1.0},
};

/// Errors that may pass: the GPU sleeps, is being reset, or its firmware is busy.
bool may_pass(int error) noexcept {
  return error == EAGAIN || error == EBUSY || error == EINTR || error == EPERM || error == ETIME ||
         error == ETIMEDOUT;
}

/// True for a GPU that shares its processor's power sensor: of amdgpu's only these show the voltage
/// of a northbridge, but for MI300A.
bool is_apu(const GpuCard& card, const fs::path& hwmon) {
  constexpr std::string_view kMi300a = "1002:74a0";
  if (!card.is_amd()) return false;
  std::error_code ignored;
  return card.ids == kMi300a || (!hwmon.empty() && fs::exists(hwmon / "in1_input", ignored));
}

std::string model_of(const GpuCard& card) {
  const auto name = read_line((card.device() / "product_name").string());  // of server boards
  const char* const vendor = card.is_amd() ? "AMD" : "Intel";
  return name ? fmt::format("{} ({})", printable(*name), card.ids)
              : fmt::format("{} GPU {}", vendor, card.ids);
}

/// Examines one GPU, one call long.
class CardExamination {
 public:
  explicit CardExamination(const GpuCard& card)
      : card_(card), hwmon_(find_hwmon(card)), is_apu_(is_apu(card, hwmon_)) {}

  DrmGpu run() {
    gpu_.info = {.id = printable(read_line((card_.device() / "unique_id").string()).value_or("")),
                 .pci_address = card_.pci_address,
                 .model = model_of(card_),
                 .driver = card_.driver};
    gpu_.nodes = find_nodes(card_);
    gpu_.runtime_status = open_for_reading((card_.device() / "power/runtime_status").string());
    asleep_ = is_asleep(gpu_.runtime_status);
    for (const FileDefinition& definition : kDefinitions) examine_file(definition);
    refuse_missing();
    return std::move(gpu_);
  }

 private:
  struct MissingFile {
    Metric metric;
    std::string path;
    int error;
  };

  [[nodiscard]] fs::path path_of(const FileDefinition& definition) const {
    switch (definition.place) {
      case FilePlace::hwmon:
        return hwmon_.empty() ? fs::path() : hwmon_ / definition.file;
      case FilePlace::device:
        return card_.device() / definition.file;
      case FilePlace::card:
        break;
    }
    return card_.folder / definition.file;
  }

  void examine_file(const FileDefinition& definition) {
    const fs::path path = path_of(definition);
    if (path.empty() || has(definition.metric)) return;
    OpenAttribute source{.file = open_for_reading(path.string()),
                         .wakes = definition.wakes,
                         .most = definition.most};
    if (!source.file) {
      // The driver shows no file for what the hardware lacks.
      if (errno != ENOENT) missing_.push_back({definition.metric, path.string(), errno});
      return;
    }
    bool costly = false;
    if (!asleep_ || !definition.wakes) {
      AttributeValue value;  // the first success, else the last failure
      costly = cost_of([&] {
                 const AttributeValue one = read_value(source);
                 if (!value.raw) value = one;
                 return one.raw.has_value();
               }) > kCostlyRead;
      if (!value.raw && !may_pass(value.error)) {
        missing_.push_back({definition.metric, path.string(), value.error});
        return;
      }
    }
    add(definition, path, costly);
    gpu_.sources.push_back(std::move(source));
  }

  void add(const FileDefinition& definition, const fs::path& path, bool costly) {
    Channel channel{.domain = card_.domain,
                    .source = "drm",
                    .place = path.string(),
                    .metric = definition.metric,
                    .gauge = {.scale = definition.scale},
                    .costly = costly};
    if (definition.metric == Metric::energy) {
      channel.counter = {.tick = Joules(definition.scale),
                         .modulus = 0,
                         .followed_ticks = kIntelGpuFollowedMicrojoules,
                         .max_power = max_power(),
                         .least_power = traits_of(card_.domain).least_power};
    }
    // It is that of the whole processor: CPU, GPU and what else is in the package.
    if (is_apu_ && is_power(definition.metric)) channel.scope = Scope::module;
    gpu_.channels.push_back(std::move(channel));
  }

  [[nodiscard]] bool has(Metric metric) const {
    return std::ranges::count(gpu_.channels, metric, &Channel::metric) > 0;
  }

  /// Twice the largest limit that the board states, else the default.
  [[nodiscard]] Watts max_power() const {
    std::uint64_t largest_uw = 0;
    if (!asleep_) {
      for (const char* file :
           {"power1_rated_max", "power1_max", "power1_crit", "power2_rated_max", "power2_max"}) {
        const auto text = read_line((hwmon_ / file).string());
        const auto limit = text ? parse_counter(*text) : std::nullopt;
        if (limit && *limit <= kMostMicrowatts) largest_uw = std::max(largest_uw, *limit);
      }
    }
    if (largest_uw == 0) return traits_of(card_.domain).max_power;
    return Watts(2.0 * kMicro * static_cast<double>(largest_uw));
  }

  void refuse_missing() {
    const bool gives_energy =
        std::ranges::any_of(gpu_.channels, [](const Channel& c) { return c.gives_energy(); });
    if (is_apu_) {
      gpu_.refused.push_back(inside_processor(card_));
    } else if (!gives_energy) {
      refuse_everything_that_counts();
    }
    for (const MissingFile& missing : missing_) {
      if (has(missing.metric)) continue;
      gpu_.refused.push_back(
          unreadable(card_, to_string(missing.metric), missing.path, missing.error));
    }
  }

  /// The GPU draws power that cannot be measured: that is a refusal of its domain.
  void refuse_everything_that_counts() {
    const auto counts = [](const MissingFile& missing) {
      return missing.metric == Metric::energy || is_power(missing.metric);
    };
    const auto cause = std::ranges::find_if(missing_, counts);
    gpu_.refused.push_back(cause != missing_.end()
                               ? unreadable(card_, {}, cause->path, cause->error)
                               : no_power_sensor(card_, hwmon_));
    std::erase_if(missing_, counts);
  }

  const GpuCard& card_;
  fs::path hwmon_;
  bool is_apu_;
  bool asleep_ = false;
  DrmGpu gpu_;
  std::vector<MissingFile> missing_;
};

}  // namespace

AttributeValue read_value(const OpenAttribute& source) noexcept {
  return read_attribute(source.file, [&](std::string_view text) {
    const auto raw = parse_counter(text);
    return raw && *raw <= source.most ? raw : std::nullopt;
  });
}

bool is_asleep(const Fd& runtime_status) noexcept {
  AttributeText text;
  // "suspended", "suspending"; else "active", "resuming", "error", "unsupported".
  return text_at_start(runtime_status, text).starts_with("suspend");
}

DrmGpu examine(const GpuCard& card) { return CardExamination(card).run(); }

void DrmGpuSensor::read_some(ChannelSet wanted, std::span<Reading> readings) noexcept {
  const bool asleep = is_asleep(gpu_.runtime_status);
  read_in_turn(clock_, wanted, gpu_.sources.size(), readings, [&](std::size_t i) {
    const OpenAttribute& source = gpu_.sources[i];
    return asleep && source.wakes ? AttributeValue{} : read_value(source);
  });
}

std::optional<std::vector<DeviceProcess>> DrmGpuSensor::processes() {
  if (gpu_.nodes.empty()) return std::nullopt;  // its nodes could not be listed
  const auto open = open_->list(clock_.now());
  if (!open) return std::nullopt;
  return users_of(*open, gpu_.nodes, gpu_.info.pci_address, open_->procfs());
}

}  // namespace wattle::drm
