"""scripts/check-unknown: finds texts that write an unknown value in words of their own."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def check(files):
    """The exit status of the script for a tree of these files, and what it prints."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            file = Path(folder, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
        command = [sys.executable, str(PROJECT / "scripts/check-unknown"), folder]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        return result.returncode, result.stdout


class CheckUnknown(unittest.TestCase):
    def assert_found(self, name, content):
        status, text = check({name: content})
        self.assertEqual(status, 1, content)
        self.assertIn(f"{name}:1: ", text)

    def test_accepts_this_project(self):
        command = [sys.executable, str(PROJECT / "scripts/check-unknown")]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)

    def test_rejects_a_tree_without_sources(self):
        self.assertEqual(check({"other/a.cpp": "int a;\n"})[0], 1)

    def test_finds_other_words_in_texts(self):
        for text in ("its power is not known", "n/a", "[N/A]", "it isn't known", "not " '" "known'):
            self.assert_found("src/a/a.cpp", f'const char* a = "{text}";\n')
        self.assert_found("apps/a.cpp", 'const char* a = R"(\nnot known\n)";\n'.replace("\n", " "))
        self.assert_found("python/wattle/a.py", "text = 'the energy is not known'\n")
        self.assert_found("python/wattle/a.py", "text = f'{a} is not known'\n")
        self.assert_found("web/src/a.ts", "const text = `${a} is not known`;\n")
        self.assert_found("docs/a.md", "Its power is not known.\n")

    def test_finds_signs_that_are_no_constant(self):
        for sign in ("-", "unknown", "?", "–", "—", "nan", "N/A"):
            self.assert_found("src/a/a.cpp", f'return value ? text(*value) : "{sign}";\n')
            self.assert_found("python/wattle/a.py", f"cell = '{sign}' if value is None else text(value)\n")
            self.assert_found("web/src/a.ts", f'const cell = value === null ? "{sign}" : text(value);\n')
            self.assert_found("src/a/a.cpp", f'text += "<tr><td>{sign}</td></tr>";\n')

    def test_accepts_what_is_no_output(self):
        status, text = check({
            "src/a/a.cpp": '/// Absent: not known.\n// "n/a"\nauto a = text(value, kUnknownCell);\n'
                           'auto b = std::tuple(Field("unknown", &A::unknown));\n',
            "apps/a.cpp": 'auto out = Output::open("-", false);\nif (path == "-") return;\n'
                          'auto json = Json{{"unknown", nullptr}};\n',
            "python/wattle/a.py": '"""What is not known is None."""\nname = f"{a}-{b}"\nkey = row["unknown"]\n',
            "web/src/a.ts": "/// null: not known.\nconst a = kUnknownCell;\n",
            "docs/a.md": "A cell `[N/A]` is unknown.\n```\nnot known\n```\n",
        })
        self.assertEqual((status, text.count("\n")), (0, 1), text)


if __name__ == "__main__":
    unittest.main()
