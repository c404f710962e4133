// Where Wattle was built without libcurl's headers.
#include "otlp/otlp_post.hpp"
#include "wattle/error.hpp"

namespace wattle::otlp {

std::unique_ptr<OtlpPost> make_curl_post(OtlpTarget /*target*/) {
  throw Error("cannot send telemetry by https: this Wattle was built without libcurl");
}

}  // namespace wattle::otlp
