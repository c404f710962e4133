"""Compiles each block of C++ in README.md as it is shown, and runs each block of Python in the docs.

usage: snippets_test.py PROJECT COMPILER [unittest's words]
"""

import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROJECT, COMPILER = pathlib.Path(sys.argv[1]), sys.argv[2]
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]


def blocks_of(page, kind):
    """(line, text) of each block of code of that kind."""
    block, begin = None, 0
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if block is None:
            if line.strip() == f"```{kind}":
                block, begin = [], number + 1
        elif line.startswith("```"):
            yield begin, "\n".join(block) + "\n"
            block = None
        else:
            block.append(line)


def is_there(module):
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


class Snippets(unittest.TestCase):
    def test_of_cpp_in_the_readme_compile_as_shown(self):
        blocks = list(blocks_of(PROJECT / "README.md", "cpp"))
        self.assertTrue(blocks)
        for line, text in blocks:
            with self.subTest(line=line):
                words = [COMPILER, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I",
                         str(PROJECT / "include"), "-x", "c++", "-"]
                done = subprocess.run(words, input=text, capture_output=True, text=True, timeout=300)
                self.assertEqual(done.returncode, 0, f"README.md:{line}: {done.stderr}")

    def test_of_a_part_with_a_header_of_its_own_name_it(self):
        declaration = r"class PowerStream; +// #include <wattle/power_stream\.hpp>"
        self.assertRegex((PROJECT / "include/wattle/wattle.hpp").read_text(), declaration)
        text = "#include <wattle/wattle.hpp>\nint main() { wattle::PowerStream stream; }\n"
        words = [COMPILER, "-std=c++20", "-fsyntax-only", "-I", str(PROJECT / "include"), "-x", "c++",
                 "-"]
        done = subprocess.run(words, input=text, capture_output=True, text=True, timeout=300)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("incomplete type", done.stderr)
        # Clang shows the declaration, with its comment.
        if "clang" in COMPILER:
            self.assertRegex(done.stderr, declaration)

    def test_of_python_are_python_and_run_outside_of_a_run(self):
        found = 0
        for page in PAGES:
            for line, text in blocks_of(page, "python"):
                found += 1
                with self.subTest(page=page.name, line=line), tempfile.TemporaryDirectory() as folder:
                    compile(text, f"{page.name}:{line}", "exec")
                    names = re.findall(r"^(?:import|from) (.+?)(?: import .*)?$", text, re.MULTILINE)
                    modules = [name.strip() for names in names for name in names.split(",")]
                    if not modules or not all(map(is_there, modules)):
                        continue  # a fragment, or for a library that is not installed
                    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True,
                                          timeout=60, cwd=folder, env={"PATH": "/usr/bin:/bin"})
                    self.assertEqual(done.returncode, 0, f"{page.name}:{line}: {done.stderr}")
        self.assertGreater(found, 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
