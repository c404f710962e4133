"""Man pages and completions, in the programs that show them and in real shells; that the docs list each sub-command.

usage: manuals_test.py FOLDER WATTLE WATTLED [unittest's words]    FOLDER as make_manuals.py wrote it
"""

import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
import unittest

FOLDER, WATTLE, WATTLED = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
PROJECT = pathlib.Path(__file__).resolve().parents[2]
GROUPS = ("Measure", "Compare", "Watch", "Set up")


def output_of(words, **more):
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=60, **more).stdout


def sub_commands():
    """The names in `wattle --help`."""
    names, section = [], ""
    for line in output_of([WATTLE, "--help"]).splitlines():
        if not line.startswith(" "):
            section = line.removesuffix(":")
        elif section in GROUPS:
            names.append(line.split()[0])
    return names


COMMANDS = {"wattle": (WATTLE, [[], *([name] for name in sub_commands())]),
            "wattled": (WATTLED, [[], ["serve"], ["token"], ["token", "issue"]])}


def every_help():
    """The name of each page with the options that the program itself prints."""
    for name, (program, each) in COMMANDS.items():
        for words in each:
            text = output_of([program, *words, "--help"])
            options = re.findall(r"^  (?:-\w,)?(--[\w-]+)", text, re.MULTILINE)
            yield name, words, options


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"{program} is not installed")


class ManPages(unittest.TestCase):
    def path(self, name, words):
        page = name + "".join("-" + word for word in words) if name == "wattle" else name
        return FOLDER / f"man/man{1 if name == 'wattle' else 8}/{page}.{1 if name == 'wattle' else 8}"

    def test_show_every_option_of_the_help(self):
        for name, words, options in every_help():
            text = self.path(name, words).read_text().replace("\\-", "-")
            for option in options:
                self.assertIn(f"\\fB{option}\\fR", text, (name, words))

    def test_are_there_for_every_sub_command(self):
        names = sub_commands()
        self.assertIn("run", names)
        self.assertIn("config", names)
        for name in names:
            self.assertTrue(self.path("wattle", [name]).exists(), name)

    @needs("man")
    def test_are_shown_by_man_without_warnings(self):
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "80"}
        for page in sorted((FOLDER / "man").rglob("*.[18]")):
            shown = subprocess.run(["man", "--warnings", "-l", str(page)], capture_output=True, text=True,
                                   check=True, timeout=60, env=environment)
            self.assertEqual(shown.stderr, "", page.name)
            self.assertIn("SEE ALSO", shown.stdout, page.name)

    def test_state_the_exit_status_once(self):
        for page in (FOLDER / "man").rglob("*.[18]"):
            text = " ".join(page.read_text().split())
            self.assertNotEqual(".SH EXIT STATUS" in text, "exit status" in text.lower().replace(".sh exit status", ""),
                                page.name)

    def test_name_no_placeholder_for_a_default(self):
        defaults = [default for page in (FOLDER / "man").rglob("*.[18]")
                    for default in re.findall(r"\(default: ([^)]*)\)", page.read_text())]
        self.assertIn("0.1", defaults)
        for default in defaults:
            self.assertNotRegex(default, "^[A-Z]{2,}$")

    def test_of_the_daemon_have_its_exit_statuses(self):
        page = (FOLDER / "man/man8/wattled.8").read_text()
        table = re.search(r"\.SH EXIT STATUS\n(.*?)\n\.SH ", page, re.DOTALL)[1]
        self.assertEqual(re.findall(r"\\fB(\d+)\\fR", table), ["0", "1", "64"])

    def test_are_packed_as_they_are(self):
        for page in (FOLDER / "man").rglob("*.[18]"):
            packed = FOLDER / "packed" / page.parent.name / (page.name + ".gz")
            self.assertEqual(output_of(["gzip", "--decompress", "--stdout", packed]), page.read_text())


class Shells(unittest.TestCase):
    """What a shell offers after these words, the last of which is being typed."""

    def bash(self, *words):
        script = f"""
            source "{FOLDER}/bash/{words[0]}"
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
            _{words[0]}
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        return output_of(["bash", "--norc", "-c", script, "bash", *words]).split()

    def fish(self, *words):
        typed = " ".join(words)
        script = f"source {FOLDER}/fish/{words[0]}.fish; complete --do-complete '{typed}'"
        return [line.split("\t")[0] for line in output_of(["fish", "--no-config", "--command", script]).splitlines()]

    def zsh(self, *words, until):
        """In a terminal, as completion works nowhere else; read until a word is shown."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "TERM": "dumb", "PS1": ""})
        shown = b""

        def read_until(sign):
            nonlocal shown
            deadline = time.monotonic() + 60
            while sign not in shown and time.monotonic() < deadline:
                if select.select([terminal], [], [], 0.1)[0]:
                    shown += os.read(terminal, 65536)

        try:
            for line in ("stty -echo cols 400", "LISTMAX=10000", f"fpath=({FOLDER}/zsh $fpath)",
                         "autoload -Uz compinit; compinit -D -u", f"compdef _{words[0]} {words[0]}",
                         "bindkey '^X' list-choices", "print rea''dy"):
                os.write(terminal, line.encode() + b"\n")
            read_until(b"ready")
            shown = b""
            os.write(terminal, " ".join(words).encode() + b"\x18")
            read_until(until.encode())
        finally:
            os.kill(pid, signal.SIGKILL)
            os.close(terminal)
            os.waitpid(pid, 0)
        return re.findall(r"[\w-]+", shown.decode(errors="replace"))

    SHELLS = ("bash", "fish", "zsh")

    def complete(self, shell, *words, until):
        if not shutil.which(shell):
            self.skipTest(f"{shell} is not installed")
        return self.zsh(*words, until=until) if shell == "zsh" else getattr(self, shell)(*words)

    def test_offer_the_sub_commands(self):
        for shell in self.SHELLS:
            with self.subTest(shell):
                names = sub_commands()
                offered = self.complete(shell, "wattle", "", until=max(names))
                for name in names:
                    self.assertIn(name, offered)

    def test_offer_the_options_of_a_sub_command_alone(self):
        for shell in self.SHELLS:
            with self.subTest(shell):
                offered = self.complete(shell, "wattle", "run", "--", until="--tracking-file")
                self.assertIn("--tracking-file", offered)
                self.assertNotIn("--cross-check", offered)

    def test_offer_the_words_that_an_option_takes(self):
        for shell in self.SHELLS:
            with self.subTest(shell):
                offered = self.complete(shell, "wattle", "doctor", "--fix", "", until="gpu")
                for word in ("cpu", "gpu", "daemon"):
                    self.assertIn(word, offered)

    def test_know_the_levels_of_the_daemon(self):
        for shell in self.SHELLS:
            with self.subTest(shell):
                offered = self.complete(shell, "wattled", "token", "issue", "--", until="--expires")
                self.assertIn("--expires", offered)

    def test_offer_commands_behind_the_mark(self):
        with self.subTest("bash"):
            self.assertIn("sleep", self.complete("bash", "wattle", "run", "--", "slee", until=""))

    def test_hold_every_option_of_the_help(self):
        for name, words, options in every_help():
            for shell, file in (("bash", f"bash/{name}"), ("zsh", f"zsh/_{name}"), ("fish", f"fish/{name}.fish")):
                text = (FOLDER / file).read_text()
                for option in options:
                    sign = f"-l {option[2:]} " if shell == "fish" else option
                    self.assertIn(sign, text, (shell, name, words))


class Documentation(unittest.TestCase):
    def test_has_a_line_for_every_sub_command(self):
        page = (PROJECT / "docs/README.md").read_text()
        for name in sub_commands():
            self.assertRegex(page, rf"(?m)^\| `wattle {name}` \| .*\S.* \|$")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
