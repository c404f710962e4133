// Servers, and single questions to their daemons.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "bindings.hpp"
#include "gate.hpp"
#include "stream_bindings.hpp"
#include "wattle/daemon_client.hpp"

namespace wattle::python {
namespace {

using Ids = std::vector<std::uint32_t>;
using OptionalIds = std::optional<Ids>;

/// A client that threads may share; a request that Ctrl-C abandoned keeps it until its answer.
struct Client {
  struct Shared {
    explicit Shared(DaemonClient made) : client(std::move(made)) {}
    std::mutex mutex;
    DaemonClient client;
  };
  std::shared_ptr<Shared> shared;

  template <class Request>
  auto ask(Request request) {
    return interruptible([kept = shared, request = std::move(request)] {
      const std::lock_guard lock(kept->mutex);
      return request(kept->client);
    });
  }
  template <class Request>
  void set(Request request) {
    ask([request = std::move(request)](DaemonClient& client) {
      request(client);
      return true;
    });
  }
};

Ids ids_of(const OptionalIds& ids) { return ids.value_or(Ids{}); }

std::map<std::uint32_t, double> numbers_of(const std::map<std::uint32_t, Joules>& energies) {
  std::map<std::uint32_t, double> numbers;
  for (const auto& [id, energy] : energies) numbers.emplace(id, energy.si());
  return numbers;
}
std::map<std::uint32_t, double> numbers_of(const std::map<std::uint32_t, Watts>& powers) {
  std::map<std::uint32_t, double> numbers;
  for (const auto& [id, power] : powers) numbers.emplace(id, power.si());
  return numbers;
}

ServerOptions options_of(const py::object& token, const OptionalIds& gpus, const OptionalIds& cpus,
                         bool proxy) {
  ServerOptions options{.gpus = gpus, .cpus = cpus, .proxy = proxy};
  if (!token.is_none()) options.token = bytes_of(token);
  return options;
}

const char* word_of(Server::Transport transport) {
  switch (transport) {
    case Server::Transport::http:
      return "http";
    case Server::Transport::https:
      return "https";
    case Server::Transport::unix_socket:
      return "unix";
    case Server::Transport::none:
      break;
  }
  return "none";
}

void bind_server(py::module_& module) {
  py::class_<Server>(module, "Server")
      .def_static(
          "tcp",
          [](const py::str& host, std::uint16_t port, const py::object& token,
             const OptionalIds& gpus, const OptionalIds& cpus, bool proxy) {
            return Server::tcp(bytes_of(host), port, options_of(token, gpus, cpus, proxy));
          },
          py::arg("host"), py::arg("port") = kDaemonPort, py::kw_only(),
          py::arg("token") = py::none(), py::arg("gpu_indices") = py::none(),
          py::arg("cpu_indices") = py::none(), py::arg("proxy") = false)
      .def_static(
          "tls",
          [](const py::str& host, std::uint16_t port, const py::object& token,
             const OptionalIds& gpus, const OptionalIds& cpus, const py::str& ca_file, bool proxy) {
            Server server =
                Server::tls(bytes_of(host), port, options_of(token, gpus, cpus, proxy));
            server.ca_file = bytes_of(ca_file);
            return server;
          },
          py::arg("host"), py::arg("port") = kDaemonPort, py::kw_only(),
          py::arg("token") = py::none(), py::arg("gpu_indices") = py::none(),
          py::arg("cpu_indices") = py::none(), py::arg("ca_file") = "", py::arg("proxy") = false)
      .def_static(
          "unix_socket",
          [](const py::object& path, const py::object& token, const OptionalIds& gpus,
             const OptionalIds& cpus) {
            return Server::unix_socket(path_of(path), options_of(token, gpus, cpus, false));
          },
          py::arg("path"), py::kw_only(), py::arg("token") = py::none(),
          py::arg("gpu_indices") = py::none(), py::arg("cpu_indices") = py::none())
      .def_static("parse", [](const py::str& text) { return Server::parse(bytes_of(text)); },
                  py::arg("text"))
      .def_static("from_env", [] { return Server::from_env(); })
      .def_property_readonly("endpoint", [](const Server& s) { return text(s.endpoint); })
      .def_property_readonly("transport", [](const Server& s) { return word_of(s.transport); })
      .def_readonly("gpu_indices", &Server::gpu_indices)
      .def_readonly("cpu_indices", &Server::cpu_indices)
      // Never the token.
      .def("__repr__", [](const Server& s) { return text("<Server " + s.endpoint + ">"); });
}

void bind_values(py::module_& module) {
  py::class_<ServedGpu>(module, "ServedGpu")
      .def_readonly("id", &ServedGpu::id)
      .def_property_readonly("name", [](const ServedGpu& g) { return text(g.name); })
      .def_property_readonly("pci_address", [](const ServedGpu& g) { return text(g.pci_address); })
      .def_readonly("has_energy_counter", &ServedGpu::has_energy_counter)
      .def_property_readonly("domain", [](const ServedGpu& g) { return text(g.domain); });
  py::class_<ServedCpu>(module, "ServedCpu")
      .def_readonly("id", &ServedCpu::id)
      .def_readonly("has_dram", &ServedCpu::has_dram)
      .def_property_readonly("domain", [](const ServedCpu& c) { return text(c.domain); });
  py::class_<ServedCpuEnergy>(module, "ServedCpuEnergy")
      .def_property_readonly("cpu_j", [](const ServedCpuEnergy& e) { return si(e.cpu); })
      .def_property_readonly("dram_j", [](const ServedCpuEnergy& e) { return si(e.dram); })
      .def_readonly("since", &ServedCpuEnergy::since_unix_s);
  py::class_<ServedCpuPower>(module, "ServedCpuPower")
      .def_property_readonly("cpu_w", [](const ServedCpuPower& p) { return p.cpu.si(); })
      .def_property_readonly("dram_w", [](const ServedCpuPower& p) { return si(p.dram); });
  py::class_<GpuPowers>(module, "GpuPowers")
      .def_readonly("timestamp", &GpuPowers::unix_s)
      .def_property_readonly("power_w", [](const GpuPowers& p) { return numbers_of(p.power); });
  py::class_<CpuPowers>(module, "CpuPowers")
      .def_readonly("timestamp", &CpuPowers::unix_s)
      .def_readonly("powers", &CpuPowers::powers);
}

void bind_getters(py::class_<Client>& client) {
  client
      .def("gpu_energy",
           [](Client& c, const OptionalIds& ids) {
             return numbers_of(c.ask([ids = ids_of(ids)](DaemonClient& d) { return d.gpu_energy(ids); }));
           },
           py::arg("ids") = py::none())
      .def("gpu_power",
           [](Client& c, const OptionalIds& ids) {
             return c.ask([ids = ids_of(ids)](DaemonClient& d) { return d.gpu_power(ids); });
           },
           py::arg("ids") = py::none())
      .def("power_limit",
           [](Client& c, const OptionalIds& ids) {
             return numbers_of(c.ask([ids = ids_of(ids)](DaemonClient& d) { return d.power_limit(ids); }));
           },
           py::arg("ids") = py::none())
      .def("persistence_mode",
           [](Client& c, const OptionalIds& ids) {
             return c.ask([ids = ids_of(ids)](DaemonClient& d) { return d.persistence_mode(ids); });
           },
           py::arg("ids") = py::none())
      .def("cpu_energy",
           [](Client& c, const OptionalIds& ids, bool cpu, bool dram) {
             return c.ask([ids = ids_of(ids), cpu, dram](DaemonClient& d) {
               return d.cpu_energy(ids, cpu, dram);
             });
           },
           py::arg("ids") = py::none(), py::arg("cpu") = true, py::arg("dram") = true)
      .def("cpu_power",
           [](Client& c, const OptionalIds& ids) {
             return c.ask([ids = ids_of(ids)](DaemonClient& d) { return d.cpu_power(ids); });
           },
           py::arg("ids") = py::none())
      .def("time", [](Client& c) { return c.ask([](DaemonClient& d) { return d.time(); }); });
}

void bind_setters(py::class_<Client>& client) {
  client
      .def("set_power_limit",
           [](Client& c, const Ids& ids, double limit_w, bool block) {
             c.set([=](DaemonClient& d) { d.set_power_limit(ids, Watts(limit_w), block); });
           },
           py::arg("ids"), py::arg("limit_w"), py::arg("block") = true)
      .def("set_persistence_mode",
           [](Client& c, const Ids& ids, bool enabled, bool block) {
             c.set([=](DaemonClient& d) { d.set_persistence_mode(ids, enabled, block); });
           },
           py::arg("ids"), py::arg("enabled"), py::arg("block") = true)
      .def("set_gpu_locked_clocks",
           [](Client& c, const Ids& ids, std::uint32_t least, std::uint32_t most, bool block) {
             c.set([=](DaemonClient& d) { d.set_gpu_locked_clocks(ids, least, most, block); });
           },
           py::arg("ids"), py::arg("min_mhz"), py::arg("max_mhz"), py::arg("block") = true)
      .def("reset_gpu_locked_clocks",
           [](Client& c, const Ids& ids, bool block) {
             c.set([=](DaemonClient& d) { d.reset_gpu_locked_clocks(ids, block); });
           },
           py::arg("ids"), py::arg("block") = true)
      .def("set_memory_locked_clocks",
           [](Client& c, const Ids& ids, std::uint32_t least, std::uint32_t most, bool block) {
             c.set([=](DaemonClient& d) { d.set_memory_locked_clocks(ids, least, most, block); });
           },
           py::arg("ids"), py::arg("min_mhz"), py::arg("max_mhz"), py::arg("block") = true)
      .def("reset_memory_locked_clocks",
           [](Client& c, const Ids& ids, bool block) {
             c.set([=](DaemonClient& d) { d.reset_memory_locked_clocks(ids, block); });
           },
           py::arg("ids"), py::arg("block") = true);
}

}  // namespace

void bind_daemon_client(py::module_& module) {
  bind_server(module);
  bind_values(module);
  py::class_<Client> client(module, "DaemonClient");
  client
      .def(py::init([](const std::optional<Server>& server, double timeout_s) {
             const auto timeout = std::chrono::duration_cast<std::chrono::milliseconds>(
                 nanoseconds_of(timeout_s, "a timeout"));
             Server asked = server ? *server : Server::from_env();
             return Client{interruptible([asked = std::move(asked), timeout] {
               return std::make_shared<Client::Shared>(DaemonClient(asked, timeout));
             })};
           }),
           py::arg("server") = py::none(), py::arg("timeout_s") = 5.0)
      .def_property_readonly("server", [](const Client& c) { return c.shared->client.server(); })
      .def_property_readonly("gpus", [](const Client& c) { return c.shared->client.gpus(); })
      .def_property_readonly("cpus", [](const Client& c) { return c.shared->client.cpus(); })
      .def_property_readonly("auth_required",
                             [](const Client& c) { return c.shared->client.auth_required(); })
      .def_property_readonly("auth_error",
                             [](const Client& c) { return text(c.shared->client.auth_error()); })
      .def_property_readonly("granted_scopes",
                             [](const Client& c) { return c.shared->client.granted_scopes(); })
      .def_property_readonly("cpu_limit",
                             [](const Client& c) { return text(c.shared->client.cpu_limit()); })
      .def_property_readonly("can_read_gpu",
                             [](const Client& c) { return c.shared->client.can_read_gpu(); })
      .def_property_readonly("can_read_cpu",
                             [](const Client& c) { return c.shared->client.can_read_cpu(); })
      .def_property_readonly("can_control_gpu",
                             [](const Client& c) { return c.shared->client.can_control_gpu(); });
  bind_getters(client);
  bind_setters(client);
}

}  // namespace wattle::python
