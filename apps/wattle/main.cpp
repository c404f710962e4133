// The command `wattle`.
#include <fmt/format.h>
#include <malloc.h>

#include <exception>
#include <string>
#include <variant>

#include "base/failure.hpp"
#include "cli/answer.hpp"
#include "cli/command_line.hpp"
#include "cli/ending.hpp"
#include "cli/privileges.hpp"
#include "output/output.hpp"
#include "wattle/error.hpp"

int main(int argc, char** argv) {
  using namespace wattle::app;  // NOLINT(google-build-using-namespace): the program's own
  lower_privileges();
  end_in_good_order();
  open_closed_standard_descriptors();
  wattle::set_log({});  // the commands print what matters
  // Each arena reserves 64 MiB of address space, which may be limited; threads allocate little.
  ::mallopt(M_ARENA_MAX, 1);  // NOLINT(concurrency-mt-unsafe): no other thread runs yet
  std::string name;
  try {
    const ParsedLine parsed = parse_command_line(argc, argv);
    const auto* const chosen = std::get_if<Chosen>(&parsed);
    if (chosen != nullptr) name = chosen->subcommand->name;
    if (chosen == nullptr || !chosen->subcommand->opens_counters(chosen->options)) {
      drop_privileges();
    }
    if (chosen == nullptr) return print_answer(std::get<Answer>(parsed));
    return chosen->subcommand->run(chosen->options);
  } catch (const wattle::InvalidArgument& wrong) {
    return print_answer(usage_error(name, wrong.what()));
  } catch (const std::exception& failed) {
    write_to_stderr(fmt::format("wattle{}{}: {}\n", name.empty() ? "" : " ", name,
                                wattle::failure_text(failed)));
    return kRunFailed;
  }
}
