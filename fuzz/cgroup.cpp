// The files of control groups: paths, limits and CPU times.
#include "check.hpp"
#include "estimate/cpu_load.hpp"

FUZZ_TARGET(cgroup)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  const std::string_view text = fuzz::text_of(data, size);
  const CgroupPaths paths = parse_cgroup_paths(text);
  for (const std::string& path : {paths.v2, paths.v1_cpu, paths.v1_cpuacct}) {
    fuzz::require(path.empty() || path.starts_with('/'), "a path starts at the root");
    fuzz::require(path.find("/..") == std::string::npos, "a path does not leave its tree");
  }
  const auto max = parse_cpu_max(text);
  fuzz::require(!max || *max > 0.0, "a limit is above 0");
  const auto quota = parse_cfs_quota(text, "100000");
  fuzz::require(!quota || *quota > 0.0, "a quota is above 0");
  const auto usage = parse_usage(text);
  fuzz::require(!usage || usage->count() >= 0.0, "a time is not negative");
  return 0;
}
