"""An OpenTelemetry collector for tests: takes OTLP over HTTP in JSON, checks each request against the published schema
(opentelemetry-proto 1.x: the messages below, field by field), and answers as its test wants."""

import http.server
import json
import re
import socket
import threading
import time

# Numbers of a trace for tests.
TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"

# Field tables of the messages: name in JSON -> (kind, is required). Kinds: a message's name, [a message's name] for a
# repeated one, or a scalar. proto3 requires no field; here those are required without which a request says nothing.
MESSAGES = {
    "ExportMetricsServiceRequest": {"resourceMetrics": (["ResourceMetrics"], True)},
    "ResourceMetrics": {
        "resource": ("Resource", True), "scopeMetrics": (["ScopeMetrics"], True), "schemaUrl": ("string", False),
    },
    "Resource": {"attributes": (["KeyValue"], True), "droppedAttributesCount": ("uint32", False)},
    "ScopeMetrics": {
        "scope": ("InstrumentationScope", True), "metrics": (["Metric"], True), "schemaUrl": ("string", False),
    },
    "InstrumentationScope": {
        "name": ("string", True), "version": ("string", False), "attributes": (["KeyValue"], False),
        "droppedAttributesCount": ("uint32", False),
    },
    "Metric": {
        "name": ("metric_name", True), "description": ("string", False), "unit": ("unit", True),
        "gauge": ("Gauge", False), "sum": ("Sum", False), "metadata": (["KeyValue"], False),
    },
    "Gauge": {"dataPoints": (["NumberDataPoint"], True)},
    "Sum": {
        "dataPoints": (["NumberDataPoint"], True), "aggregationTemporality": ("enum:1:2", True),
        "isMonotonic": ("bool", False),
    },
    "NumberDataPoint": {
        "attributes": (["KeyValue"], False), "startTimeUnixNano": ("fixed64", False),
        "timeUnixNano": ("fixed64", True), "asDouble": ("double", False), "asInt": ("sfixed64", False),
        "flags": ("uint32", False),
    },
    "KeyValue": {"key": ("key", True), "value": ("AnyValue", True)},
    "AnyValue": {
        "stringValue": ("string", False), "boolValue": ("bool", False), "intValue": ("sfixed64", False),
        "doubleValue": ("double", False),
    },
    "ExportTraceServiceRequest": {"resourceSpans": (["ResourceSpans"], True)},
    "ResourceSpans": {
        "resource": ("Resource", True), "scopeSpans": (["ScopeSpans"], True), "schemaUrl": ("string", False),
    },
    "ScopeSpans": {
        "scope": ("InstrumentationScope", True), "spans": (["Span"], True), "schemaUrl": ("string", False),
    },
    "Span": {
        "traceId": ("hex32", True), "spanId": ("hex16", True), "traceState": ("string", False),
        "parentSpanId": ("hex16", False), "flags": ("uint32", False), "name": ("name", True),
        "kind": ("enum:0:5", True), "startTimeUnixNano": ("fixed64", True), "endTimeUnixNano": ("fixed64", True),
        "attributes": (["KeyValue"], False), "droppedAttributesCount": ("uint32", False),
        "status": ("Status", False),
    },
    "Status": {"message": ("string", False), "code": ("enum:0:2", False)},
}
# Exactly one of these fields is there.
ONE_OF = {
    "Metric": {"gauge", "sum"},
    "NumberDataPoint": {"asDouble", "asInt"},
    "AnyValue": {"stringValue", "boolValue", "intValue", "doubleValue"},
}
# Symbols of UCUM that Wattle has, and annotations.
UNIT = re.compile(r"(J|W|s|1|By|Hz|Cel|%|\{[a-z]+\})$")
SCALARS = {
    "string": lambda value: isinstance(value, str),
    "name": lambda value: isinstance(value, str) and value != "",
    "key": lambda value: isinstance(value, str) and value != "",
    "metric_name": lambda value: isinstance(value, str) and re.fullmatch("[A-Za-z][-A-Za-z0-9_./]{0,254}", value),
    "unit": lambda value: isinstance(value, str) and UNIT.match(value),
    "bool": lambda value: isinstance(value, bool),
    "double": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "uint32": lambda value: isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**32,
    # 64 bits are decimal texts.
    "fixed64": lambda value: isinstance(value, str) and re.fullmatch("[0-9]{1,20}", value) and int(value) < 2**64,
    "sfixed64": lambda value: isinstance(value, str) and re.fullmatch("-?[0-9]{1,19}", value) and abs(int(value)) < 2**63,
    "hex32": lambda value: isinstance(value, str) and re.fullmatch("[0-9a-fA-F]{32}", value) and int(value, 16) != 0,
    "hex16": lambda value: isinstance(value, str) and re.fullmatch("[0-9a-fA-F]{16}", value) and int(value, 16) != 0,
}


class Invalid(Exception):
    pass


def check(value, kind, path="request"):
    """Raises `Invalid` where `value` is none of `kind`."""
    if isinstance(kind, list):
        if not isinstance(value, list):
            raise Invalid(f"{path} is no list")
        for place, each in enumerate(value):
            check(each, kind[0], f"{path}[{place}]")
        return
    if kind.startswith("enum:"):
        _, least, most = kind.split(":")
        if not SCALARS["uint32"](value) or not int(least) <= value <= int(most):
            raise Invalid(f"{path} is no number of an enumerator: {value!r}")
        return
    if kind in SCALARS:
        if not SCALARS[kind](value):
            raise Invalid(f"{path} is no {kind}: {value!r}")
        return
    fields = MESSAGES[kind]
    if not isinstance(value, dict):
        raise Invalid(f"{path} is no {kind}")
    for name in value:
        if name not in fields:
            raise Invalid(f"{path}.{name} is no field of {kind}")
    for name, (field, is_required) in fields.items():
        if name in value:
            check(value[name], field, f"{path}.{name}")
        elif is_required:
            raise Invalid(f"{path} lacks {name}")
    chosen = ONE_OF.get(kind, set()) & value.keys()
    if kind in ONE_OF and len(chosen) != 1:
        raise Invalid(f"{path} has {len(chosen)} of {ONE_OF[kind]}")
    check_meaning(value, kind, path)


def check_meaning(value, kind, path):
    """What the data model says beyond the types."""
    keys = [each["key"] for each in value.get("attributes", [])]
    if len(keys) != len(set(keys)):
        raise Invalid(f"{path} has an attribute twice: {keys}")
    if kind == "Span" and int(value["startTimeUnixNano"]) > int(value["endTimeUnixNano"]):
        raise Invalid(f"{path} ends before it starts")
    if kind == "Sum" and value["aggregationTemporality"] == 2:
        for point in value["dataPoints"]:
            if "startTimeUnixNano" not in point:
                raise Invalid(f"{path}: a cumulative point without a start")
    if kind == "NumberDataPoint" and int(value.get("startTimeUnixNano", "0")) > int(value["timeUnixNano"]):
        raise Invalid(f"{path} is before its start")
    if kind == "Resource" and "service.name" not in keys:
        raise Invalid(f"{path} lacks service.name")


def plain(attributes):
    """{key: value} of a list of attributes."""
    found = {}
    for each in attributes:
        (kind, value), = each["value"].items()
        found[each["key"]] = int(value) if kind == "intValue" else value
    return found


class Collector:
    """`script`: the answers to the next requests: a status, (status, headers), "garbage", "never", "html", or
    "partial". Later requests are accepted."""

    def __init__(self, port=0):
        self.script = []
        self.points = []  # (metric, unit, attributes, start, time, value, resource)
        self.spans = []  # (span, resource)
        self.seen = []  # (time of arrival, path, what was answered)
        self.invalid = []
        self.headers = []
        self.requests = 0
        self._lock = threading.Lock()
        self._port = port
        self._server = None
        self.start()

    def start(self):
        """Again after `stop`, at the same port."""
        collector = self
        self._connections = connections = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                connections.append(self.connection)

            def do_POST(self):
                collector.take(self)

            def log_message(self, *words):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            allow_reuse_address = True

            def handle_error(self, *words):
                pass

        self._server = Server(("127.0.0.1", self._port), Handler)
        self._port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def stop(self):
        """Also hangs up on who is connected."""
        self._server.shutdown()
        self._server.server_close()
        for connection in self._connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it is closed

    @property
    def url(self):
        return f"http://127.0.0.1:{self._port}"

    def take(self, request):
        body = request.rfile.read(int(request.headers["Content-Length"]))
        with self._lock:
            self.requests += 1
            self.headers.append(dict(request.headers))
            answer = self.script.pop(0) if self.script else 200
            self.seen.append((time.monotonic(), request.path, answer))
        if answer == "never":
            time.sleep(60)
            return
        if answer == "garbage":
            request.wfile.write(b"\x00\xff not HTTP\r\n\r\n")
            request.close_connection = True
            return
        status, headers = answer if isinstance(answer, tuple) else (answer, {})
        text = "{}"
        if answer == "html":
            status, text = 200, "<html>welcome</html>"
        elif answer == "partial":
            name = "rejectedDataPoints" if request.path == "/v1/metrics" else "rejectedSpans"
            status, text = 200, json.dumps({"partialSuccess": {name: "1", "errorMessage": "one is too old"}})
        elif status != 200:
            text = json.dumps({"code": 3, "message": f"asked to say {status}"})
        if status == 200:
            self.keep(request, body)
        sent = text.encode()
        request.send_response(status)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(sent)))
        for name, value in headers.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(sent)

    def keep(self, request, body):
        try:
            if request.headers["Content-Type"] != "application/json":
                raise Invalid(f"the type is {request.headers['Content-Type']}")
            content = json.loads(body, parse_constant=lambda name: invalid_constant(name))
            if request.path == "/v1/metrics":
                check(content, "ExportMetricsServiceRequest")
                self.keep_metrics(content)
            elif request.path == "/v1/traces":
                check(content, "ExportTraceServiceRequest")
                self.keep_spans(content)
            else:
                raise Invalid(f"no such path: {request.path}")
        except (Invalid, ValueError) as error:
            with self._lock:
                self.invalid.append(str(error))

    def keep_metrics(self, content):
        with self._lock:
            for of_resource in content["resourceMetrics"]:
                resource = plain(of_resource["resource"]["attributes"])
                for scope in of_resource["scopeMetrics"]:
                    for metric in scope["metrics"]:
                        for point in (metric.get("sum") or metric["gauge"])["dataPoints"]:
                            value = point["asDouble"] if "asDouble" in point else int(point["asInt"])
                            self.points.append((
                                metric["name"], metric["unit"], plain(point.get("attributes", [])),
                                int(point.get("startTimeUnixNano", "0")), int(point["timeUnixNano"]), value, resource,
                            ))

    def keep_spans(self, content):
        with self._lock:
            for of_resource in content["resourceSpans"]:
                resource = plain(of_resource["resource"]["attributes"])
                for scope in of_resource["scopeSpans"]:
                    self.spans += [(span, resource) for span in scope["spans"]]

    def of(self, name):
        with self._lock:
            return [point for point in self.points if point[0] == name]

    def repeated(self):
        """Points that arrived more than once."""
        with self._lock:
            keys = [(name, json.dumps(attributes, sort_keys=True), at, json.dumps(resource, sort_keys=True))
                    for name, _, attributes, _, at, _, resource in self.points]
        return {key for key in keys if keys.count(key) > 1} if len(keys) != len(set(keys)) else set()


def invalid_constant(name):
    raise Invalid(f"{name} is no number in JSON")
