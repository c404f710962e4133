// Preloaded into the daemon: SIGHUP comes while libraries start, before `main`.
#include <csignal>

namespace {

[[gnu::constructor]] void hang_up() { ::raise(SIGHUP); }

}  // namespace
