#include "control_flood.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

namespace wattle::integration {
namespace {

constexpr std::uint32_t kLeastLimitMw = 100'000;
constexpr std::size_t kOnTheWay = 16;
constexpr std::size_t kThreads = 8;

/// Every third waits for the driver.
std::string request_for(const AskedSetting& setting, std::size_t number) {
  return "POST /gpu/set_power_limit?gpu_ids=" + std::to_string(setting.gpu) +
         "&block=" + (number % 3 == 0 ? "true" : "false") +
         "&power_limit_mw=" + std::to_string(setting.limit_mw) +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";
}

void set_all(const std::function<HttpClient()>& connect, std::size_t connections,
             std::vector<AskedSetting>& settings) {
  struct Setter {
    HttpClient client;
    std::vector<AskedSetting*> own{};
    std::size_t done = 0;
  };
  std::vector<Setter> setters;
  for (std::size_t i = 0; i < connections; ++i) setters.push_back({.client = connect()});
  for (std::size_t i = 0; i < settings.size(); ++i) {
    setters[i % connections].own.push_back(&settings[i]);
  }
  for (bool is_over = false; !is_over;) {
    is_over = true;
    for (Setter& setter : setters) {
      const std::size_t end = std::min(setter.done + kOnTheWay, setter.own.size());
      std::string batch;
      for (std::size_t i = setter.done; i < end; ++i) {
        setter.own[i]->sent = Clock::now();
        batch += request_for(*setter.own[i], i);
      }
      setter.client.send(batch);
    }
    for (Setter& setter : setters) {
      const std::size_t end = std::min(setter.done + kOnTheWay, setter.own.size());
      for (; setter.done < end; ++setter.done) {
        AskedSetting& setting = *setter.own[setter.done];
        const HttpAnswer answer = setter.client.read_answer();
        setting.answered = Clock::now();
        setting.status = answer.status;
        if (answer.status != 200) setting.refusal = answer.head + answer.body;
      }
      is_over = is_over && setter.done == setter.own.size();
    }
  }
}

void read_all(const std::function<HttpClient()>& connect, std::size_t connections,
              std::uint32_t gpus, const std::atomic<bool>& is_over, FloodResult& result) {
  std::vector<HttpClient> clients;
  for (std::size_t i = 0; i < connections; ++i) clients.push_back(connect());
  while (!is_over) {
    std::vector<Clock::time_point> sent(clients.size());
    for (std::size_t i = 0; i < clients.size(); ++i) {
      sent[i] = Clock::now();
      clients[i].send("GET /gpu/get_power?gpu_ids=" + std::to_string(i % gpus) +
                      " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    }
    for (std::size_t i = 0; i < clients.size(); ++i) {
      const HttpAnswer answer = clients[i].read_answer();
      result.longest_read =
          std::max<std::chrono::nanoseconds>(result.longest_read, Clock::now() - sent[i]);
      ++result.reads;
      if (answer.status != 200) ++result.failed_reads;
    }
  }
}

}  // namespace

FloodResult flood(const FloodOptions& options, const std::function<HttpClient()>& connect) {
  // Each thread has settings of its own: for each GPU other limits, in order.
  std::vector<std::vector<AskedSetting>> parts(kThreads);
  for (std::size_t i = 0; i < options.settings; ++i) {
    const auto gpu = static_cast<std::uint32_t>(i % options.gpus);
    parts[i / options.gpus % kThreads].push_back(
        {.gpu = gpu, .limit_mw = kLeastLimitMw + static_cast<std::uint32_t>(i / options.gpus)});
  }
  std::atomic<bool> is_over{false};
  std::vector<FloodResult> read(kThreads);
  std::vector<std::thread> readers;
  for (FloodResult& part : read) {
    readers.emplace_back(
        [&] { read_all(connect, options.readers / kThreads, options.gpus, is_over, part); });
  }
  std::vector<std::thread> setters;
  for (std::vector<AskedSetting>& part : parts) {
    setters.emplace_back([&] { set_all(connect, options.setters / kThreads, part); });
  }
  for (std::thread& setter : setters) setter.join();
  is_over = true;
  for (std::thread& reader : readers) reader.join();
  FloodResult all;
  for (const auto& part : parts) {
    all.settings.insert(all.settings.end(), part.begin(), part.end());
  }
  for (const FloodResult& part : read) {
    all.reads += part.reads;
    all.failed_reads += part.failed_reads;
    all.longest_read = std::max(all.longest_read, part.longest_read);
  }
  return all;
}

std::vector<std::string> lost_settings(const std::vector<AskedSetting>& asked,
                                       const std::string& made) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, const AskedSetting*> by_value;
  for (const AskedSetting& each : asked) by_value[{each.gpu, each.limit_mw}] = &each;
  // Of the settings of a GPU that were made, the one that was answered last.
  std::map<std::uint32_t, const AskedSetting*> newest;
  std::map<const AskedSetting*, bool> is_made;
  std::istringstream lines(made);
  std::uint32_t gpu = 0;
  std::uint32_t limit_mw = 0;
  std::string what;
  while (lines >> gpu >> what >> limit_mw) {
    const auto found = by_value.find({gpu, limit_mw});
    if (found == by_value.end()) continue;
    is_made[found->second] = true;
    const AskedSetting*& last = newest[gpu];
    if (last == nullptr || found->second->answered > last->answered) last = found->second;
  }
  std::vector<std::string> lost;
  for (const AskedSetting& each : asked) {
    if (each.status != 200 || is_made.contains(&each)) continue;
    const AskedSetting* const later = newest[each.gpu];
    // One that was answered before this one was sent is surely not later.
    const bool is_superseded =
        later != nullptr && later->status == 200 && later->answered > each.sent;
    if (!is_superseded)
      lost.push_back(std::to_string(each.gpu) + " " + std::to_string(each.limit_mw));
  }
  return lost;
}

std::string gpus_to_flood(std::uint32_t count) {
  std::string script;
  for (std::uint32_t gpu = 0; gpu < count; ++gpu) {
    script += "gpu NVIDIA H100 PCIe\nuuid GPU-" + std::to_string(gpu) +
              "\npower step 0 75\nlimit 300 300\nleast_limit 100\n";
  }
  return script;
}

}  // namespace wattle::integration
