// Linked into test programs that ThreadSanitizer does not check: whoever starts a thread there
// learns that the program belongs among those that it does.
#include <pthread.h>

#include <cstdio>
#include <cstdlib>

extern "C" int pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) noexcept {
  std::fputs(
      "this test program starts a thread: take it off programs_without_threads in "
      "tests/CMakeLists.txt\n",
      stderr);
  std::abort();
}
