// Tokens made elsewhere, with the standard library of Python:
//   part = lambda b: base64.urlsafe_b64encode(b).rstrip(b"=").decode()
//   text = part(header) + "." + part(claims)
//   token = text + "." + part(hmac.new(key, text.encode(), hashlib.sha256).digest())
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wattle::daemon::tokens {

/// The line end belongs to it, as it does to a key file's content.
inline constexpr std::string_view kKey = "0123456789abcdef0123456789abcdef\n";
inline constexpr std::int64_t kNow = 1'763'690'000;

/// {"sub":"alice","scopes":["gpu-read","cpu-read"],"exp":9999999999}
inline const std::string kAlice =
    "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9."
    "eyJzdWIiOiJhbGljZSIsInNjb3BlcyI6WyJncHUtcmVhZCIsImNwdS1yZWFkIl0sImV4cCI6OTk5OTk5OTk5OX0."
    "pp07SnjKC1y1s7CBO7T3oqdju642fzgmT1uiDZZTw9I";
/// {"sub":"bob","scopes":["gpu-control"]}
inline const std::string kBob =
    "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9."
    "eyJzdWIiOiJib2IiLCJzY29wZXMiOlsiZ3B1LWNvbnRyb2wiXX0."
    "4uCcD8f-VAIQ37vsEPXBYUfAUyUOhkQOUGTSjZdsQy0";
/// Alice's claims, signed with the key without its line end.
inline const std::string kOfAnotherKey =
    "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9."
    "eyJzdWIiOiJhbGljZSIsInNjb3BlcyI6WyJncHUtcmVhZCIsImNwdS1yZWFkIl0sImV4cCI6OTk5OTk5OTk5OX0."
    "CqWACf3dFAW09W1AtBYHJFvr_Ra3jC9DVJV1JnskxSA";

inline constexpr std::string_view kHeader = R"({"typ":"JWT","alg":"HS256"})";

}  // namespace wattle::daemon::tokens
