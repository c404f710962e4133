// Requests of HTTP without TLS, by the system's sockets: libcurl and its libraries take 6 MiB.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/files/fd.hpp"
#include "otlp/http_answer.hpp"
#include "otlp/otlp_post.hpp"

namespace wattle::otlp {

/// The parts of a URL without TLS.
struct PlainUrl {
  std::string host{};       ///< "collector", "::1"
  std::string port{};       ///< "4318"; 80 if the URL has none
  std::string authority{};  ///< as in the URL: "[::1]:4318"
  std::string path{};       ///< "/otlp"; may be empty
};
/// Absent if it is none.
[[nodiscard]] std::optional<PlainUrl> plain_url_of(std::string_view url);

/// Keeps its connection between two requests, and makes it again if the collector closed it.
class PlainPost final : public OtlpPost {
 public:
  /// Throws `InvalidArgument`.
  explicit PlainPost(OtlpTarget target);

  OtlpAnswer post(const OtlpBatch& batch, std::chrono::milliseconds timeout,
                  const std::function<bool()>& is_over) override;

 private:
  struct Until;

  [[nodiscard]] std::string connect(const Until& until);
  void send_some(std::string_view& request) const noexcept;
  [[nodiscard]] std::string receive_some(HttpAnswer& answer, AnswerExtent& extent) const;
  [[nodiscard]] std::string exchange(std::string_view request, HttpAnswer& answer,
                                     const Until& until);

  OtlpTarget target_;
  PlainUrl url_;
  Fd socket_;
};

}  // namespace wattle::otlp
