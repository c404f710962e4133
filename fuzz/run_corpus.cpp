// Runs a fuzz target on every file of a folder: what was once found stays tested with any compiler.
//
//   run_corpus TARGET FOLDER
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

// The build lists the targets in corpora.inc: CORPUS(token).
#define CORPUS(name) extern "C" int fuzz_##name(const unsigned char* data, std::size_t size);
#include "corpora.inc"
#undef CORPUS

namespace {

struct Target {
  std::string_view name;
  int (*run)(const unsigned char* data, std::size_t size);
};

#define CORPUS(name) Target{#name, fuzz_##name},
constexpr Target kTargets[] = {
#include "corpora.inc"
};
#undef CORPUS

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

void run(const Target& target, const std::filesystem::path& path) {
  std::printf("%s\n", path.filename().c_str());
  std::fflush(stdout);  // if it crashes, its name was the last word
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> content{std::istreambuf_iterator<char>(file), {}};
  const std::vector<unsigned char> bytes(content.begin(), content.end());
  target.run(bytes.data(), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 64;
  const auto* const target = std::ranges::find(kTargets, argv[1], &Target::name);
  if (target == std::end(kTargets)) return 64;
  const auto files = files_in(argv[2]);
  for (const auto& path : files) run(*target, path);
  return files.empty() ? 1 : 0;
}
