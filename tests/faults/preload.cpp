// Preloaded into a program under test: lets the n-th call of a kind fail, and counts them all. Only
// calls of the program and its static libraries are seen, in its first process.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "fault.hpp"

// glibc's own names, which stay when the public ones are replaced.
extern "C" {
void* __libc_malloc(std::size_t size);                     // NOLINT(bugprone-reserved-identifier)
void* __libc_calloc(std::size_t count, std::size_t size);  // NOLINT(bugprone-reserved-identifier)
void* __libc_realloc(void* memory, std::size_t size);      // NOLINT(bugprone-reserved-identifier)
}

namespace {

using wattle::faults::Call;
using wattle::faults::Plan;

Plan* plan = nullptr;
pid_t process = 0;

/// True, with `errno` set, if this call is to fail.
bool fails(Call call) noexcept {
  if (plan == nullptr || ::getpid() != process) return false;
  const auto kind = static_cast<std::size_t>(call);
  const std::uint64_t number = plan->counts[kind].fetch_add(1) + 1;
  if (plan->error == 0 || plan->call != kind) return false;
  if (plan->sticky != 0 ? number < plan->number : number != plan->number) return false;
  plan->failed.fetch_add(1);
  errno = plan->error;
  return true;
}

/// As `fails`, for what can fail in such a way: files and standard streams, not the pipes and
/// counters that a program uses within itself.
bool fails(Call call, int fd) noexcept {
  struct stat status {};
  if (plan == nullptr || ::fstat(fd, &status) != 0) return false;
  const bool is_file = S_ISREG(status.st_mode) || S_ISCHR(status.st_mode);
  return (is_file || fd == STDOUT_FILENO || fd == STDERR_FILENO) && fails(call);
}

/// Where the program itself lies in memory, its static libraries included.
std::uintptr_t program_begin = 0;
std::uintptr_t program_end = 0;

/// The first that is visited is the program.
int find_program(dl_phdr_info* info, std::size_t /*size*/, void* /*data*/) noexcept {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    const std::uintptr_t end = info->dlpi_addr + part.p_vaddr + part.p_memsz;
    if (program_begin == 0) program_begin = info->dlpi_addr + part.p_vaddr;
    program_end = std::max(program_end, end);
  }
  return 1;
}

/// Where SQLite's library lies in memory; 0 until it is loaded.
std::atomic<std::uintptr_t> database_begin{0};
std::atomic<std::uintptr_t> database_end{0};

int find_database(dl_phdr_info* info, std::size_t /*size*/, void* /*data*/) noexcept {
  if (std::strstr(info->dlpi_name, "libsqlite3") == nullptr) return 0;
  std::uintptr_t end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    end = std::max<std::uintptr_t>(end, info->dlpi_addr + part.p_vaddr + part.p_memsz);
  }
  database_end = end;
  database_begin = info->dlpi_addr;
  return 1;
}

/// As `fails`, for an allocation by the program or by SQLite for it: what others do without memory
/// is not its affair.
bool allocation_fails(const void* caller) noexcept {
  const auto place = reinterpret_cast<std::uintptr_t>(caller);
  const bool is_program = place >= program_begin && place < program_end;
  const std::uintptr_t database = database_begin;
  const bool is_database = database != 0 && place >= database && place < database_end;
  return (is_program || is_database) && fails(Call::allocate);
}

/// The function that `name` would be without this library.
template <class Function>
Function* next(const char* name) noexcept {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

void read_plan() noexcept {
  // A command that the program under test starts has the variables too.
  if (!std::string_view(program_invocation_short_name).starts_with("wattle")) return;
  const char* path = std::getenv(wattle::faults::kPlanVariable);
  if (path == nullptr) return;
  const auto fd = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC));
  if (fd < 0) return;
  auto* const mapped = reinterpret_cast<void*>(
      ::syscall(SYS_mmap, nullptr, sizeof(Plan), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  ::syscall(SYS_close, fd);
  if (mapped == MAP_FAILED) return;
  ::dl_iterate_phdr(find_program, nullptr);
  process = ::getpid();
  plan = static_cast<Plan*>(mapped);
}

using Main = int(int, char**, char**);
Main* real_main = nullptr;

/// What is made before it, the program cannot handle.
int counted_main(int argc, char** argv, char** environment) {
  read_plan();
  return real_main(argc, argv, environment);
}

mode_t mode_of(int flags, va_list arguments) noexcept {
  const bool creates = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return creates ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

#define WATTLE_FILE_FAULT(call, fd, name, ...)                 \
  if (fails(call, fd)) return -1;                              \
  static auto* const function = next<decltype(::name)>(#name); \
  return function(fd, __VA_ARGS__)
#define WATTLE_FAULT(call, failure, name, ...)                 \
  if (fails(call)) return failure;                             \
  static auto* const function = next<decltype(::name)>(#name); \
  return function(__VA_ARGS__)

extern "C" {

// NOLINTNEXTLINE(bugprone-reserved-identifier): the C library's own, which calls main
int __libc_start_main(Main* main, int argc, char** argv, void (*init)(), void (*end)(),
                      void (*loader_end)(), void* stack_end) {
  using Start = int(Main*, int, char**, void (*)(), void (*)(), void (*)(), void*);
  real_main = main;
  return next<Start>("__libc_start_main")(counted_main, argc, argv, init, end, loader_end,
                                          stack_end);
}

#define WATTLE_OPEN(name)                                        \
  int name(const char* path, int flags, ...) {                   \
    va_list arguments;                                           \
    va_start(arguments, flags);                                  \
    const mode_t mode = mode_of(flags, arguments);               \
    va_end(arguments);                                           \
    if (fails(Call::open)) return -1;                            \
    static auto* const function = next<decltype(::name)>(#name); \
    return function(path, flags, mode);                          \
  }
#define WATTLE_OPENAT(name)                                      \
  int name(int folder, const char* path, int flags, ...) {       \
    va_list arguments;                                           \
    va_start(arguments, flags);                                  \
    const mode_t mode = mode_of(flags, arguments);               \
    va_end(arguments);                                           \
    if (fails(Call::open)) return -1;                            \
    static auto* const function = next<decltype(::name)>(#name); \
    return function(folder, path, flags, mode);                  \
  }
WATTLE_OPEN(open)
WATTLE_OPEN(open64)
WATTLE_OPENAT(openat)
WATTLE_OPENAT(openat64)

DIR* opendir(const char* path) { WATTLE_FAULT(Call::open, nullptr, opendir, path); }
ssize_t read(int fd, void* to, size_t size) { WATTLE_FILE_FAULT(Call::read, fd, read, to, size); }
dirent* readdir(DIR* folder) { WATTLE_FAULT(Call::read, nullptr, readdir, folder); }
dirent64* readdir64(DIR* folder) { WATTLE_FAULT(Call::read, nullptr, readdir64, folder); }
ssize_t pread(int fd, void* to, size_t size, off_t at) {
  WATTLE_FILE_FAULT(Call::pread, fd, pread, to, size, at);
}
ssize_t pread64(int fd, void* to, size_t size, off64_t at) {
  WATTLE_FILE_FAULT(Call::pread, fd, pread64, to, size, at);
}
ssize_t write(int fd, const void* from, size_t size) {
  WATTLE_FILE_FAULT(Call::write, fd, write, from, size);
}
ssize_t writev(int fd, const iovec* parts, int count) {
  WATTLE_FILE_FAULT(Call::write, fd, writev, parts, count);
}
ssize_t pwrite(int fd, const void* from, size_t size, off_t at) {
  WATTLE_FILE_FAULT(Call::write, fd, pwrite, from, size, at);
}
ssize_t pwrite64(int fd, const void* from, size_t size, off64_t at) {
  WATTLE_FILE_FAULT(Call::write, fd, pwrite64, from, size, at);
}
int ftruncate(int fd, off_t size) noexcept { WATTLE_FILE_FAULT(Call::resize, fd, ftruncate, size); }
int ftruncate64(int fd, off64_t size) noexcept {
  WATTLE_FILE_FAULT(Call::resize, fd, ftruncate64, size);
}
int fallocate(int fd, int mode, off_t at, off_t size) {
  WATTLE_FILE_FAULT(Call::resize, fd, fallocate, mode, at, size);
}
int fallocate64(int fd, int mode, off64_t at, off64_t size) {
  WATTLE_FILE_FAULT(Call::resize, fd, fallocate64, mode, at, size);
}
int close(int fd) {
  const bool has_failed = fails(Call::close, fd);
  const int error = errno;
  static auto* const function = next<decltype(::close)>("close");
  const int result = function(fd);
  if (!has_failed) return result;
  errno = error;
  return -1;
}
int unlink(const char* path) noexcept { WATTLE_FAULT(Call::remove, -1, unlink, path); }
int remove(const char* path) noexcept { WATTLE_FAULT(Call::remove, -1, remove, path); }
int fsync(int fd) { WATTLE_FAULT(Call::fsync, -1, fsync, fd); }
int fdatasync(int fd) { WATTLE_FAULT(Call::fsync, -1, fdatasync, fd); }
int rename(const char* from, const char* to) noexcept {
  WATTLE_FAULT(Call::rename, -1, rename, from, to);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  WATTLE_FAULT(Call::rename, -1, renameat2, from_folder, from, to_folder, to, flags);
}
int link(const char* from, const char* to) noexcept {
  WATTLE_FAULT(Call::rename, -1, link, from, to);
}
void* mmap(void* place, size_t size, int access, int flags, int fd, off_t at) noexcept {
  WATTLE_FAULT(Call::mmap, MAP_FAILED, mmap, place, size, access, flags, fd, at);
}
void* mmap64(void* place, size_t size, int access, int flags, int fd, off64_t at) noexcept {
  WATTLE_FAULT(Call::mmap, MAP_FAILED, mmap64, place, size, access, flags, fd, at);
}
pid_t fork() noexcept { WATTLE_FAULT(Call::clone, -1, fork); }
int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*start)(void*),
                   void* argument) noexcept {
  WATTLE_FAULT(Call::clone, errno, pthread_create, thread, how, start, argument);
}
int poll(pollfd* fds, nfds_t count, int timeout) {
  WATTLE_FAULT(Call::poll, -1, poll, fds, count, timeout);
}
int ppoll(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* signals) {
  WATTLE_FAULT(Call::poll, -1, ppoll, fds, count, timeout, signals);
}
int epoll_ctl(int epoll, int what, int fd, epoll_event* event) noexcept {
  WATTLE_FAULT(Call::epoll_ctl, -1, epoll_ctl, epoll, what, fd, event);
}
int epoll_wait(int epoll, epoll_event* events, int count, int timeout) {
  WATTLE_FAULT(Call::epoll_wait, -1, epoll_wait, epoll, events, count, timeout);
}
int accept(int fd, sockaddr* peer, socklen_t* size) {
  WATTLE_FAULT(Call::accept, -1, accept, fd, peer, size);
}
int accept4(int fd, sockaddr* peer, socklen_t* size, int flags) {
  WATTLE_FAULT(Call::accept, -1, accept4, fd, peer, size, flags);
}
ssize_t send(int fd, const void* from, size_t size, int flags) {
  WATTLE_FAULT(Call::send, -1, send, fd, from, size, flags);
}
ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  WATTLE_FAULT(Call::send, -1, sendmsg, fd, message, flags);
}
ssize_t recv(int fd, void* to, size_t size, int flags) {
  WATTLE_FAULT(Call::recv, -1, recv, fd, to, size, flags);
}
ssize_t recvmsg(int fd, msghdr* message, int flags) {
  WATTLE_FAULT(Call::recv, -1, recvmsg, fd, message, flags);
}
pid_t wait4(pid_t pid, int* status, int options, rusage* used) noexcept {
  WATTLE_FAULT(Call::wait, -1, wait4, pid, status, options, used);
}

void* dlopen(const char* name, int how) noexcept {
  static auto* const function = next<decltype(::dlopen)>("dlopen");
  void* const library = function(name, how);
  if (plan != nullptr && library != nullptr) ::dl_iterate_phdr(find_database, nullptr);
  return library;
}

void* malloc(size_t size) noexcept {
  return allocation_fails(__builtin_return_address(0)) ? nullptr : __libc_malloc(size);
}
void* calloc(size_t count, size_t size) noexcept {
  return allocation_fails(__builtin_return_address(0)) ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* memory, size_t size) noexcept {
  return allocation_fails(__builtin_return_address(0)) ? nullptr : __libc_realloc(memory, size);
}
}
