#include "client/transport/curl_transport.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "wattle/error.hpp"

namespace wattle::client {
namespace {

/// Spare handles that are kept for later requests. Streams keep theirs to their end.
constexpr std::size_t kSpareHandles = 4;
/// Most sockets that are handled in one go.
constexpr std::size_t kMostReady = 256;
/// Most bytes outside the body of one answer: earlier heads ("100 Continue"), its own head,
/// trailers.
constexpr std::size_t kLongestHead = std::size_t{64} << 10U;

/// How often sockets are polled that the kernel does not watch.
constexpr std::chrono::milliseconds kUnwatchedPeriod{10};

/// Rounded up, so that the wait does not end too early repeatedly; at most one second.
int milliseconds_until(TimePoint time) noexcept {
  const TimePoint now = TimePoint::clock::now();
  if (time <= now) return 0;
  using std::chrono::ceil, std::chrono::milliseconds, std::chrono::seconds;
  if (time > now + seconds(1)) return 1000;
  return static_cast<int>(ceil<milliseconds>(time - now).count());
}

void set_multi(CURLM* multi, CURLMoption option, auto value) {
  const CURLMcode code = ::curl_multi_setopt(multi, option, value);  // NOLINT(*-vararg): C
  if (code != CURLM_OK) {
    throw ConnectionError(std::string("libcurl refuses an option: ") + ::curl_multi_strerror(code));
  }
}

}  // namespace

CurlTransport::CurlTransport(const std::vector<Server>& servers,
                             std::chrono::milliseconds connect_timeout)
    : servers_(servers), connect_timeout_(connect_timeout), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!epoll_) {
    throw ConnectionError("cannot ask a daemon: epoll_create1: " +
                          std::generic_category().message(errno));
  }
  ready_.reserve(kMostReady);
  spare_.reserve(kSpareHandles);
  for (const Server& server : servers_) lines_.push_back(lines_for(server));
  spare_.push_back(make_easy());  // initializes libcurl
  multi_.reset(::curl_multi_init());
  if (!multi_) throw ConnectionError("libcurl has no room for requests");
  set_multi(multi_.get(), CURLMOPT_SOCKETFUNCTION, &CurlTransport::watch);
  set_multi(multi_.get(), CURLMOPT_SOCKETDATA, this);
  set_multi(multi_.get(), CURLMOPT_TIMERFUNCTION, &CurlTransport::set_timer);
  set_multi(multi_.get(), CURLMOPT_TIMERDATA, this);
  // Each server has one more connection than streams, which its requests share.
  set_multi(multi_.get(), CURLMOPT_MAXCONNECTS, static_cast<long>(3 * servers_.size() + 8));
}

CurlTransport::~CurlTransport() {
  for (auto& [id, request] : requests_) {
    ::curl_multi_remove_handle(multi_.get(), request.easy.get());
  }
}

Easy CurlTransport::spare_handle() {
  if (spare_.empty()) return make_easy();
  Easy easy = std::move(spare_.back());
  spare_.pop_back();
  return easy;
}

void CurlTransport::put_back(Easy easy) noexcept {
  if (spare_.size() >= kSpareHandles) return;
  ::curl_easy_reset(easy.get());
  spare_.push_back(std::move(easy));
}

RequestId CurlTransport::start(std::size_t server, std::string_view target,
                               const SendingOptions& options, ResponseHandler& to) {
  const RequestId id = ++last_id_;
  CurlRequest& request = requests_[id];
  request.id = id;
  request.server = server;
  request.to = &to;
  request.most_bytes = options.most_bytes;
  try {
    request.easy = spare_handle();
    CURL* const easy = request.easy.get();
    set_up(easy, servers_[server], target, lines_[server].get(), options.timeout, connect_timeout_);
    set_option(easy, CURLOPT_HEADERFUNCTION, &CurlTransport::take_head);
    set_option(easy, CURLOPT_HEADERDATA, &request);
    set_option(easy, CURLOPT_WRITEFUNCTION, &CurlTransport::take_body);
    set_option(easy, CURLOPT_WRITEDATA, &request);
    // Does not wait for the thread of a name lookup.
    set_option(easy, CURLOPT_QUICK_EXIT, 1L);
    if (options.timeout.count() == 0) {
      // Detects a peer that is gone without closing, while the daemon sends nothing.
      set_option(easy, CURLOPT_TCP_KEEPALIVE, 1L);
      set_option(easy, CURLOPT_TCP_KEEPIDLE, 15L);
      set_option(easy, CURLOPT_TCP_KEEPINTVL, 5L);
    } else {
      request.failure = std::make_unique<FailureText>();
      set_option(easy, CURLOPT_ERRORBUFFER, request.failure->data());
    }
    if (options.most_bytes > 0) {
      set_option(easy, CURLOPT_MAXFILESIZE, static_cast<long>(options.most_bytes));
    }
    if (options.is_post) {
      set_option(easy, CURLOPT_POST, 1L);
      set_option(easy, CURLOPT_POSTFIELDSIZE, 0L);
      set_option(easy, CURLOPT_POSTFIELDS, "");
    }
    if (options.is_last) set_option(easy, CURLOPT_FORBID_REUSE, 1L);
    set_option(easy, CURLOPT_PRIVATE, static_cast<void*>(&request));
    if (const CURLMcode code = ::curl_multi_add_handle(multi_.get(), easy); code != CURLM_OK) {
      throw ConnectionError(::curl_multi_strerror(code));
    }
  } catch (const Error& error) {
    unstarted_[id] = error.what();
    due_ = TimePoint::min();
  }
  return id;
}

void CurlTransport::cancel(RequestId id) noexcept {
  unstarted_.erase(id);
  const auto found = requests_.find(id);
  if (found == requests_.end()) return;
  if (found->second.easy) {
    ::curl_multi_remove_handle(multi_.get(), found->second.easy.get());
    put_back(std::move(found->second.easy));
  }
  requests_.erase(found);
}

int CurlTransport::watch(CURL* /*easy*/, curl_socket_t fd, int what, void* self,
                         void* watched) noexcept {
  auto& transport = *static_cast<CurlTransport*>(self);
  std::erase_if(transport.unwatched_, [fd](const Ready& socket) { return socket.fd == fd; });
  if (what == CURL_POLL_REMOVE) {
    ::epoll_ctl(transport.epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
    return 0;
  }
  // Not -1: after that libcurl 7.88 uses memory that it has freed.
  const Ready wanted{.fd = fd, .what = what};
  if (!transport.start_watch(wanted, watched != nullptr)) transport.unwatched_.push_back(wanted);
  return 0;
}

bool CurlTransport::start_watch(const Ready& wanted, bool is_known) noexcept {
  epoll_event event{.data = {.fd = wanted.fd}};
  if ((wanted.what & CURL_POLL_IN) != 0) event.events |= EPOLLIN;
  if ((wanted.what & CURL_POLL_OUT) != 0) event.events |= EPOLLOUT;
  const int how = is_known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (::epoll_ctl(epoll_.get(), how, wanted.fd, &event) != 0) return false;
  if (!is_known) ::curl_multi_assign(multi_.get(), wanted.fd, this);
  return true;
}

/// Sockets that cannot be watched (ENOSPC: fs.epoll.max_user_watches) are polled.
void CurlTransport::poll_unwatched() noexcept {
  std::erase_if(unwatched_, [this](const Ready& socket) { return start_watch(socket, false); });
  for (const Ready& socket : unwatched_) {
    const bool reads = (socket.what & CURL_POLL_IN) != 0;
    const bool writes = (socket.what & CURL_POLL_OUT) != 0;
    ready_.push_back(
        {.fd = socket.fd, .what = (reads ? CURL_CSELECT_IN : 0) | (writes ? CURL_CSELECT_OUT : 0)});
  }
}

int CurlTransport::set_timer(CURLM* /*multi*/, long timeout_ms, void* self) noexcept {
  auto& transport = *static_cast<CurlTransport*>(self);
  transport.due_ = timeout_ms < 0 ? TimePoint::max()
                                  : TimePoint::clock::now() + std::chrono::milliseconds(timeout_ms);
  return 0;
}

std::size_t CurlTransport::take_head(char* bytes, std::size_t one, std::size_t count,
                                     void* request) {
  auto& of = *static_cast<CurlRequest*>(request);
  const std::string_view line(bytes, one * count);
  // Trailers arrive here too; libcurl keeps them all.
  of.head_bytes += line.size();
  if (of.head_bytes > kLongestHead) return 0;
  if (line != "\r\n" && line != "\n") return line.size();
  long status = 0;
  ::curl_easy_getinfo(of.easy.get(), CURLINFO_RESPONSE_CODE, &status);  // NOLINT(*-vararg): C
  // Interim answers ("100 Continue") come before the answer.
  if (status >= 200 && of.status == 0) {
    of.status = static_cast<int>(status);
    of.to->began(of.status);
  }
  return line.size();
}

std::size_t CurlTransport::take_body(char* bytes, std::size_t one, std::size_t count,
                                     void* request) noexcept {
  auto& of = *static_cast<CurlRequest*>(request);
  const std::string_view part(bytes, one * count);
  of.body_bytes += part.size();
  if (of.most_bytes > 0 && of.body_bytes > of.most_bytes) return 0;
  try {
    return of.to->received(part) ? part.size() : 0;
  } catch (const std::exception&) {
    return 0;  // out of memory; libcurl is C: no exception may pass
  }
}

void CurlTransport::add_wake(int fd) {
  wake_ = fd;
  epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

void CurlTransport::wait(TimePoint until) noexcept {
  ready_.clear();
  std::array<epoll_event, kMostReady> events{};
  if (!unwatched_.empty()) until = std::min(until, TimePoint::clock::now() + kUnwatchedPeriod);
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                 milliseconds_until(std::min(until, due_)));
  poll_unwatched();
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events.at(static_cast<std::size_t>(i));
    if (event.data.fd == wake_) continue;
    int what = 0;
    if ((event.events & EPOLLIN) != 0) what |= CURL_CSELECT_IN;
    if ((event.events & EPOLLOUT) != 0) what |= CURL_CSELECT_OUT;
    if ((event.events & (EPOLLERR | EPOLLHUP)) != 0) what |= CURL_CSELECT_IN | CURL_CSELECT_ERR;
    ready_.push_back({.fd = event.data.fd, .what = what});
  }
}

void CurlTransport::report_ended() {
  int left = 0;
  while (CURLMsg* const message = ::curl_multi_info_read(multi_.get(), &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    CurlRequest* request = nullptr;
    ::curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &request);  // NOLINT(*-vararg): C
    report_ended(request->id, code);
  }
}

void CurlTransport::report_ended(RequestId id, CURLcode code) {
  const auto found = requests_.find(id);
  CurlRequest request = std::move(found->second);
  requests_.erase(found);
  ::curl_multi_remove_handle(multi_.get(), request.easy.get());
  RequestEnding ending{.status = request.status};
  if (code != CURLE_OK) ending.failure = why_failed(request, code);
  put_back(std::move(request.easy));
  request.to->ended(ending);
}

std::string CurlTransport::why_failed(const CurlRequest& request, CURLcode code) const {
  if (request.head_bytes > kLongestHead) return "the head of its answer is longer than 64 KiB";
  const bool is_too_long = request.most_bytes > 0 && request.body_bytes > request.most_bytes;
  if (is_too_long || code == CURLE_FILESIZE_EXCEEDED) {
    return "its answer is longer than " + std::to_string(request.most_bytes) + " bytes";
  }
  return failure_text(request.easy.get(), code, request.failure ? *request.failure : FailureText{},
                      servers_[request.server]);
}

void CurlTransport::fail_unstarted() {
  while (!unstarted_.empty()) {
    const auto first = unstarted_.begin();
    const RequestId id = first->first;
    const RequestEnding ending{.failure = first->second};
    unstarted_.erase(first);
    ResponseHandler& to = *requests_.at(id).to;
    requests_.erase(id);
    to.ended(ending);
  }
}

}  // namespace wattle::client
