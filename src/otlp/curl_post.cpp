#include <curl/curl.h>
#include <sys/auxv.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "base/dynlib.hpp"
#include "base/text/text.hpp"
#include "otlp/otlp_post.hpp"
#include "wattle/error.hpp"

namespace wattle::otlp {
namespace {

/// The functions of the library that are used.
struct CurlFunctions {
  DynamicLibrary library = DynamicLibrary::open("libcurl.so.4");
  decltype(&::curl_global_init) global_init = library.find("curl_global_init");
  decltype(&::curl_easy_init) easy_init = library.find("curl_easy_init");
  decltype(&::curl_easy_cleanup) easy_cleanup = library.find("curl_easy_cleanup");
  decltype(&::curl_easy_setopt) easy_setopt = library.find("curl_easy_setopt");
  decltype(&::curl_easy_perform) easy_perform = library.find("curl_easy_perform");
  decltype(&::curl_easy_getinfo) easy_getinfo = library.find("curl_easy_getinfo");
  decltype(&::curl_easy_strerror) easy_strerror = library.find("curl_easy_strerror");
  decltype(&::curl_slist_append) slist_append = library.find("curl_slist_append");
  decltype(&::curl_slist_free_all) slist_free_all = library.find("curl_slist_free_all");
};

/// Throws `Error` if the library is not there. Never unloaded: it registers what runs at the end.
const CurlFunctions& curl() {
  static const CurlFunctions& all = *[] {
    auto found = std::make_unique<CurlFunctions>();
    if (!found->library.has_all()) {
      throw Error("cannot use libcurl: libcurl.so.4 cannot be loaded; install libcurl4: " +
                  found->library.error());
    }
    // It appends to the file that this variable names, even with privileges that the user lacks.
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes the environment now
    if (::getauxval(AT_SECURE) != 0) ::unsetenv("SSLKEYLOGFILE");
    if (const CURLcode code = found->global_init(CURL_GLOBAL_DEFAULT); code != CURLE_OK) {
      throw Error(std::string("cannot use libcurl: ") + found->easy_strerror(code));
    }
    return found.release();
  }();
  return all;
}

struct HandleCleanup {
  void operator()(CURL* handle) const noexcept { curl().easy_cleanup(handle); }
};
struct HeaderCleanup {
  void operator()(curl_slist* list) const noexcept { curl().slist_free_all(list); }
};

template <class Value>
void set(CURL* handle, CURLoption option, Value value) {
  const CURLcode code = curl().easy_setopt(handle, option, value);  // NOLINT(*-vararg): C
  if (code != CURLE_OK) {
    throw Error(std::string("libcurl refuses an option: ") + curl().easy_strerror(code));
  }
}

std::size_t take_body(char* bytes, std::size_t one, std::size_t count, void* into) {
  auto& body = *static_cast<std::string*>(into);
  const std::size_t size = one * count;
  // More of it than can mean anything is read and forgotten.
  body.append(bytes, std::min(size, kMostAnswerBytes - body.size()));
  return size;
}

int show_progress(void* over, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return (*static_cast<std::function<bool()>*>(over))() ? 1 : 0;
}

/// Keeps its connection between two requests.
class CurlPost final : public OtlpPost {
 public:
  explicit CurlPost(OtlpTarget target) : target_(std::move(target)), handle_(curl().easy_init()) {
    if (!handle_) throw Error("cannot use libcurl: out of memory");
    add_header("Content-Type: application/json");
    // Without "100 Continue", for which a collector would be asked first.
    add_header("Expect:");
    for (const std::string& line : target_.header_lines) add_header(line);
    CURL* const handle = handle_.get();
    const bool is_tls = target_.url.starts_with("https:");
    set(handle, CURLOPT_PROTOCOLS_STR, is_tls ? "https" : "http");
    set(handle, CURLOPT_HTTPHEADER, static_cast<const curl_slist*>(headers_.get()));
    set(handle, CURLOPT_USERAGENT, "wattle");
    set(handle, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(handle, CURLOPT_PROXY, "");
    set(handle, CURLOPT_FOLLOWLOCATION, 0L);
    set(handle, CURLOPT_NOSIGNAL, 1L);
    set(handle, CURLOPT_QUICK_EXIT, 1L);
    if (!target_.ca_file.empty()) set(handle, CURLOPT_CAINFO, target_.ca_file.c_str());
    set(handle, CURLOPT_WRITEFUNCTION, &take_body);
    set(handle, CURLOPT_ERRORBUFFER, error_.data());
    set(handle, CURLOPT_XFERINFOFUNCTION, &show_progress);
    set(handle, CURLOPT_NOPROGRESS, 0L);
  }

  OtlpAnswer post(const OtlpBatch& batch, std::chrono::milliseconds timeout,
                  const std::function<bool()>& is_over) override {
    OtlpAnswer answer;
    CURL* const handle = handle_.get();
    set(handle, CURLOPT_URL, url_of(target_, batch.signal).c_str());
    set(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(batch.body.size()));
    set(handle, CURLOPT_POSTFIELDS, batch.body.data());
    set(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout.count()));
    set(handle, CURLOPT_WRITEDATA, static_cast<void*>(&answer.body));
    std::function<bool()> over = is_over;
    set(handle, CURLOPT_XFERINFODATA, static_cast<void*>(&over));
    error_[0] = '\0';
    const CURLcode code = curl().easy_perform(handle);
    if (code != CURLE_OK) {
      answer.failure = printable(error_[0] != '\0' ? error_.data() : curl().easy_strerror(code));
      return answer;
    }
    long status = 0;
    curl_off_t wait_s = 0;
    (void)curl().easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);  // NOLINT(*-vararg): C
    (void)curl().easy_getinfo(handle, CURLINFO_RETRY_AFTER, &wait_s);    // NOLINT(*-vararg): C
    answer.status = static_cast<int>(status);
    if (wait_s > 0) answer.retry_after = std::chrono::seconds(wait_s);
    if (status == 0) answer.failure = "the answer is not HTTP";
    return answer;
  }

 private:
  void add_header(const std::string& line) {
    curl_slist* const longer = curl().slist_append(headers_.get(), line.c_str());
    if (longer == nullptr) throw Error("cannot use libcurl: out of memory");
    (void)headers_.release();
    headers_.reset(longer);
  }

  OtlpTarget target_;
  std::array<char, CURL_ERROR_SIZE> error_{};
  std::unique_ptr<curl_slist, HeaderCleanup> headers_;
  std::unique_ptr<CURL, HandleCleanup> handle_;  ///< is destroyed first
};

}  // namespace

std::unique_ptr<OtlpPost> make_curl_post(OtlpTarget target) {
  return std::make_unique<CurlPost>(std::move(target));
}

}  // namespace wattle::otlp
