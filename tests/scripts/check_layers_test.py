"""scripts/check-layers: takes what the design allows, finds what it forbids."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def check(root):
    """Runs the script on the tree at `root`."""
    command = [sys.executable, str(PROJECT / "scripts/check-layers"), str(root)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def check_includes(includes, others=()):
    """Runs the script once on a tree whose files hold these #include lines.

    includes: pairs of a file and what it includes. Returns the pairs that the script names.
    """
    files = {path: [] for path in others}
    for includer, include in includes:
        files.setdefault(includer, []).append(f"#include {include}\n")
    with tempfile.TemporaryDirectory() as folder:
        for path, lines in files.items():
            file = Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("".join(lines), encoding="utf-8")
        result = check(folder)
    named = [
        (includer, include)
        for includer, include in includes
        if re.search(f"^{re.escape(includer)}:[0-9]+: #include {re.escape(include)}: ", result.stdout, re.MULTILINE)
    ]
    return result, named


class CheckLayers(unittest.TestCase):
    def assert_all_are_named(self, includes, others=()):
        result, named = check_includes(includes, others)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(named, includes, result.stdout)

    def test_accepts_this_project(self):
        result = check(PROJECT)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)

    def test_rejects_a_tree_without_sources(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(check(folder).returncode, 1)

    def test_accepts_includes_that_point_down_or_beside(self):
        includes = [
            ("include/wattle/a.hpp", "<string_view>"),
            ("include/wattle/a.hpp", '"wattle/b.hpp"'),
            ("src/base/a.cpp", '"wattle/b.hpp"'),
            ("src/base/a.cpp", "<fmt/format.h>"),
            ("src/sensors/perf/a.cpp", '"sensors/perf/b.hpp"'),
            ("src/sensors/perf/a.cpp", '"sensors/sensor.hpp"'),
            ("src/sensors/providers.cpp", '"sensors/perf/perf.hpp"'),
            ("src/energy/a.cpp", '"sampling/b.hpp"'),
            ("src/energy/mongodb/a.cpp", '"energy/b.hpp"'),
            ("src/energy/mongodb/a.cpp", '"energy/mongodb/b.hpp"'),
            ("src/energy/mongodb/a.cpp", "<mongoc/mongoc.h>"),
            ("src/energy/mongodb/a.cpp", "<bson/bson.h>"),
            ("src/report/a.cpp", '"energy/b.hpp"'),
            ("src/client/a.cpp", '"wire/b.hpp"'),
            ("src/client/a.cpp", '"sampling/b.hpp"'),
            ("src/client/a.cpp", "<curl/curl.h>"),
            ("src/wire/a.cpp", "<simdjson.h>"),
            ("apps/wattle/a.cpp", '"report/b.hpp"'),
            ("apps/wattle/a.cpp", "<CLI/CLI.hpp>"),
            ("apps/wattled/a.cpp", "<boost/asio.hpp>"),
            ("apps/wattled/a.cpp", '"wire/b.hpp"'),
        ]
        result, _ = check_includes(includes)
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_names_the_line_that_breaks_a_rule(self):
        result, _ = check_includes([("src/base/a.cpp", '"sampling/b.hpp"')])
        self.assertIn('src/base/a.cpp:1: #include "sampling/b.hpp": ', result.stdout)

    def test_rejects_includes_that_point_up_or_aside(self):
        self.assert_all_are_named([
            ("include/wattle/a.hpp", '"base/b.hpp"'),
            ("src/base/a.hpp", '"sensors/sensor.hpp"'),
            ("src/sensors/a.cpp", '"sampling/b.hpp"'),
            ("src/sensors/perf/a.cpp", '"sampling/b.hpp"'),
            ("src/sampling/a.cpp", '"energy/b.hpp"'),
            ("src/energy/a.cpp", '"power/b.hpp"'),
            ("src/energy/a.cpp", '"energy/mongodb/b.hpp"'),
            ("src/energy/mongodb/a.cpp", '"power/b.hpp"'),
            ("src/report/a.cpp", '"energy/mongodb/b.hpp"'),
            ("src/usage/a.cpp", '"report/b.hpp"'),
            ("src/wire/a.cpp", '"sensors/sensor.hpp"'),
            ("src/client/a.cpp", '"energy/b.hpp"'),
            ("src/report/a.cpp", '"wire/b.hpp"'),
            ("apps/wattle/a.cpp", '"wire/b.hpp"'),
        ])

    def test_rejects_a_provider_that_includes_another(self):
        self.assert_all_are_named([
            ("src/sensors/perf/a.cpp", '"sensors/powercap/zone.hpp"'),
            ("src/sensors/a.cpp", '"sensors/powercap/zone.hpp"'),
        ])

    def test_rejects_libraries_outside_of_their_place(self):
        self.assert_all_are_named([
            ("include/wattle/a.hpp", "<fmt/format.h>"),
            ("include/wattle/a.hpp", "<nlohmann/json.hpp>"),
            ("include/wattle/a.hpp", "<unistd.h>"),
            ("apps/wattle/a.cpp", "<boost/asio.hpp>"),
            ("src/energy/a.cpp", "<mongoc/mongoc.h>"),
            ("src/energy/a.cpp", "<bson/bson.h>"),
            ("src/wire/a.cpp", "<curl/curl.h>"),
            ("src/client/a.cpp", "<simdjson.h>"),
            ("src/report/a.cpp", "<CLI/CLI.hpp>"),
        ])

    def test_is_not_misled_by_the_form_of_an_include(self):
        forms = ("<sampling/b.hpp>", '"../sampling/b.hpp"', "FILE_NAME")
        self.assert_all_are_named(
            [("src/base/a.cpp", form) for form in forms], others=["src/sampling/b.hpp"]
        )

    def test_rejects_a_folder_that_is_no_layer(self):
        self.assertEqual(check_includes([("src/misc/a.cpp", "<vector>")])[0].returncode, 1)


if __name__ == "__main__":
    unittest.main()
