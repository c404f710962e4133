// Every spelling of every path, asked with every set of scopes: nobody gets around one. What is to
// be answered is worked out here, from what the protocol says.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "daemon.hpp"
#include "jwt.hpp"
#include "sanitized.hpp"

namespace wattle::integration {
namespace {

constexpr std::string_view kScopesKey = "daemon-scopes-test-signing-key-of-40-bytes";

enum class Group { everybody, any_token, all_scopes, whoami, gpu_read, cpu_read, gpu_control };

struct Known {
  std::string_view method;
  std::string_view path;
  std::string_view query;  ///< with it the answer is 200
  Group group;
};

constexpr std::array kKnown = {
    Known{"GET", "/", "", Group::everybody},
    Known{"GET", "/discover", "", Group::everybody},
    Known{"GET", "/time", "", Group::everybody},
    Known{"GET", "/health", "", Group::everybody},
    Known{"GET", "/auth/whoami", "", Group::whoami},
    Known{"GET", "/metrics", "", Group::all_scopes},
    Known{"GET", "/api/v1/sensors", "", Group::any_token},
    Known{"GET", "/api/v1/energy", "?from=1&to=2", Group::all_scopes},
    Known{"GET", "/gpu/get_power", "", Group::gpu_read},
    Known{"GET", "/gpu/stream_power", "", Group::gpu_read},
    Known{"GET", "/gpu/get_cumulative_energy", "?gpu_ids=0", Group::gpu_read},
    Known{"GET", "/gpu/get_power_limit", "", Group::gpu_read},
    Known{"GET", "/gpu/get_power_limit_constraints", "", Group::gpu_read},
    Known{"GET", "/gpu/get_persistence_mode", "", Group::gpu_read},
    Known{"GET", "/cpu/get_cumulative_energy", "?cpu=true&dram=true", Group::cpu_read},
    Known{"GET", "/cpu/get_power", "", Group::cpu_read},
    Known{"GET", "/cpu/stream_power", "", Group::cpu_read},
    Known{"POST", "/gpu/set_persistence_mode", "", Group::gpu_control},
    Known{"POST", "/gpu/set_power_limit", "", Group::gpu_control},
    Known{"POST", "/gpu/set_gpu_locked_clocks", "", Group::gpu_control},
    Known{"POST", "/gpu/reset_gpu_locked_clocks", "", Group::gpu_control},
    Known{"POST", "/gpu/set_mem_locked_clocks", "", Group::gpu_control},
    Known{"POST", "/gpu/reset_mem_locked_clocks", "", Group::gpu_control},
    Known{"POST", "/gpu/reset_locked_clocks", "", Group::gpu_control},
};
constexpr std::array<std::string_view, 7> kMethods = {"GET",    "POST",    "HEAD", "PUT",
                                                      "DELETE", "OPTIONS", "PATCH"};

/// Who asks: without a token, with one that is none, or with one of these scopes.
struct Caller {
  std::string token{};
  bool is_good = false;
  bool reads_gpus = false;
  bool reads_cpus = false;
};

/// How the daemon was started.
struct Served {
  bool has_key = true;
  bool serves_gpus = true;
};

/// The path that a target means; absent where it means none.
std::optional<std::string> decoded(std::string_view target) {
  std::string path;
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (target[i] != '%') {
      path += target[i];
      continue;
    }
    const std::string digits(target.substr(i + 1, 2));
    const bool is_pair = digits.size() == 2 &&
                         digits.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
    if (!is_pair) return std::nullopt;
    const int byte = std::stoi(digits, nullptr, 16);
    if (byte < 0x20 || byte == 0x7f) return std::nullopt;
    path += byte == '/' ? "%" + digits : std::string(1, static_cast<char>(byte));
    i += 2;
  }
  if (!path.starts_with('/')) return std::nullopt;
  return path;
}

Group group_of(std::string_view path) {
  for (const Known& known : kKnown) {
    if (known.path == path) return known.group;
  }
  const auto begins = [&](std::string_view with) { return path.substr(0, with.size()) == with; };
  if (begins("/gpu/set_") || begins("/gpu/reset_")) return Group::gpu_control;
  if (begins("/gpu/")) return Group::gpu_read;
  if (begins("/cpu/")) return Group::cpu_read;
  return begins("/auth/") ? Group::whoami : Group::any_token;
}

bool may_ask(const Caller& caller, Group group, const Served& served) {
  const bool reads_all = caller.reads_cpus && (caller.reads_gpus || !served.serves_gpus);
  switch (group) {
    case Group::gpu_read:
      return caller.reads_gpus;
    case Group::cpu_read:
      return caller.reads_cpus;
    case Group::all_scopes:
      return reads_all;
    default:
      return true;
  }
}

int expected(std::string_view method, std::string_view target, const Caller& caller,
             const Served& served) {
  const auto path = decoded(target);
  if (!path) return 400;
  const Group group = group_of(*path);
  const bool is_off =
      group == Group::gpu_control || (group == Group::gpu_read && !served.serves_gpus);
  if (is_off) return 404;
  if (!served.has_key && group == Group::whoami) return 404;
  if (served.has_key && group != Group::everybody) {
    if (!caller.is_good) return 401;
    if (!may_ask(caller, group, served)) return 403;
  }
  // A HEAD is answered as a GET.
  const bool is_there = std::ranges::any_of(kKnown, [&](const Known& known) {
    return known.path == *path && known.method == (method == "HEAD" ? "GET" : method);
  });
  return is_there ? 200 : 404;
}

/// "%2f" where `percent` is "%" and `digits` are those in lower case.
std::string encoded(char c, std::string_view percent, std::string_view digits) {
  const auto byte = static_cast<unsigned char>(c);
  return std::string(percent) + digits[byte >> 4U] + digits[byte & 15U];
}

/// All that somebody may write instead of a path, in the hope that it means the same.
std::set<std::string> spellings(const std::string& path) {
  std::set<std::string> all = {path};
  for (const char* const percent : {"%", "%25"}) {
    for (const char* const digits : {"0123456789ABCDEF", "0123456789abcdef"}) {
      std::string whole = "/";
      for (std::size_t i = 0; i < path.size(); ++i) {
        const std::string byte = encoded(path[i], percent, digits);
        all.insert(path.substr(0, i) + byte + path.substr(i + 1));
        if (i > 0) whole += byte;
      }
      all.insert(whole);
    }
  }
  std::string upper = path;
  for (std::size_t i = 0; i < path.size(); ++i) {
    upper[i] = static_cast<char>(std::toupper(path[i]));
    all.insert(path.substr(0, i) + upper[i] + path.substr(i + 1));
  }
  all.insert(upper);
  for (std::size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1)) {
    for (const char* const instead :
         {"//", "///", "/./", "/../", "/x/../", "/%2e/", "/%2E%2E/", "/;/", ";/", "/;x=1/", "\\",
          "/%5C", "/\\", "%2f%2f", "/%20", "/+", "/%00", "/%0a"}) {
      all.insert(path.substr(0, at) + instead + path.substr(at + 1));
    }
  }
  for (const char* const more :
       {"/",   "//",  "/.",  "/..", "/*",  ";",   ";x=1", ".",      "%",     "%2", "%zz",
        "%00", "%0A", "%20", "%2F", "%3F", "%23", "%26",  "%C3%A9", ".json", "~",  "+"}) {
    all.insert(path + more);
  }
  for (const char* const before :
       {"/discover/..", "/time/%2e%2e", "/discover/.", "/discover", "/discover;", "/time%2F..",
        "/gpu/..", "/cpu/..", "/auth/whoami/../..", "/x/.."}) {
    all.insert(before + path);
  }
  return all;
}

struct Question {
  std::string method;
  std::string target;
  const Caller* caller;
  int expected;
};

class DaemonScopes : public DaemonTest {
 protected:
  DaemonScopes() {
    callers_ = {{}, {.token = jwt(kHs256, R"({"sub":"m","scopes":["gpu-read"]})", "another key")}};
    for (unsigned set = 0; set < 8; ++set) {
      Json claims{{"sub", "m"}, {"scopes", Json::array()}};
      for (const auto& [bit, scope] :
           {std::pair(1U, "gpu-read"), {2U, "cpu-read"}, {4U, "gpu-control"}}) {
        if ((set & bit) != 0) claims["scopes"].push_back(scope);
      }
      callers_.push_back({.token = jwt(kHs256, claims.dump(), kScopesKey),
                          .is_good = true,
                          .reads_gpus = (set & 1U) != 0,
                          .reads_cpus = (set & 2U) != 0});
    }
  }

  /// Each spelling of each path from each caller in the path's own method, and in others in turn.
  void ask_everything(const Served& served) {
    std::map<std::pair<int, std::size_t>, std::vector<Question>> kinds;
    std::size_t asked = 0;
    std::size_t number = 0;
    for (const Known& known : kKnown) {
      for (const std::string& spelling : spellings(std::string(known.path))) {
        ++number;
        // One in ten where everything takes ten times as long.
        if (kSanitized && number % 10 != 0 && spelling != known.path) continue;
        for (const Caller& caller : callers_) {
          for (const std::string_view method : {known.method, kMethods.at(number % 7)}) {
            const Question question{std::string(method), spelling + std::string(known.query),
                                    &caller, expected(method, spelling, caller, served)};
            kinds[{question.expected, most_at_once(question)}].push_back(question);
            ++asked;
          }
        }
      }
    }
    std::size_t answered = 0;
    for (const auto& [kind, questions] : kinds) {
      for (std::span<const Question> rest = questions; !rest.empty();) {
        const std::size_t count = std::min(kind.second, rest.size());
        HttpClient client = served.has_key ? tcp_client() : this->client();
        ask(client, rest.first(count));
        rest = rest.subspan(count);
        if (kind.first == 200) answered += count;
      }
    }
    EXPECT_GT(asked, kSanitized ? 5'000U : 50'000U);
    EXPECT_GT(answered, 100U);
  }

 private:
  /// How many such questions one connection takes: neither a stream nor what is malformed is
  /// followed by anything.
  static std::size_t most_at_once(const Question& question) {
    const auto path = decoded(question.target);
    const bool streams = question.expected == 200 && path->find("/stream_") != std::string::npos;
    return streams || !path ? 1 : 100;
  }
  void ask(HttpClient& client, std::span<const Question> questions) const {
    std::string text;
    for (const Question& each : questions) {
      text += each.method + ' ' + each.target + " HTTP/1.1\r\nHost: localhost\r\n";
      if (!each.caller->token.empty()) {
        text += "Authorization: Bearer " + each.caller->token + "\r\n";
      }
      text += "\r\n";
    }
    client.send(text);
    for (const Question& each : questions) {
      const HttpAnswer answer = client.read_answer(each.method != "HEAD");
      if (answer.status == each.expected) continue;
      // Who was let in learns that the counters of this tree do not move.
      const auto path = decoded(each.target);
      const bool is_of_power = path && path->starts_with("/cpu/get_power");
      if (each.expected == 200 && answer.status == 500 && is_of_power) continue;
      const auto caller = each.caller - callers_.data();
      ADD_FAILURE() << each.method << ' ' << each.target << " by caller " << caller << ": "
                    << answer.status << " rather than " << each.expected;
    }
  }

  std::vector<Caller> callers_;
};

TEST_F(DaemonScopes, HoldForEverySpelling) {
  play(50.0);
  serve({"--signing-key-path", key_file(kScopesKey), "--max-failures-per-client", "1000000",
         "--history", "60", "--cpu-power-poll-hz", "1000"});
  ask_everything({});
}

TEST_F(DaemonScopes, HoldWhereAGroupIsOff) {
  play(50.0);
  serve({"--signing-key-path", key_file(kScopesKey), "--max-failures-per-client", "1000000",
         "--history", "60", "--cpu-power-poll-hz", "1000", "--enable", "cpu-read"});
  ask_everything({.serves_gpus = false});
}

TEST_F(DaemonScopes, AreNotAskedForWithoutAKey) {
  play(50.0);
  serve({"--history", "60", "--cpu-power-poll-hz", "1000"});
  ask_everything({.has_key = false});
}

}  // namespace
}  // namespace wattle::integration
