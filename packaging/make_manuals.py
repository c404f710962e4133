#!/usr/bin/env python3
"""Writes man pages, and completions for bash, zsh and fish, from what the built programs print as help.

    make_manuals.py FOLDER WATTLE WATTLED [VERSION]    "" for a program that is not built

In FOLDER: man/man1, man/man8, the same compressed in packed, bash, zsh, fish. The same help gives the same
files.
"""

import gzip
import pathlib
import re
import subprocess
import sys

# Of a page whose help says nothing of its exit status.
EXIT_STATUS = [
    ("0", "Success; for run and monitor with a command: that of the command."),
    ("1", "doctor: something cannot be measured; bench: a command failed; compare: B costs more than allowed."),
    ("2", "Nothing can be measured, recorded, summarized or compared here."),
    ("64", "The command line is wrong, except with run."),
    ("125", "wattle failed, or an option of run is wrong."),
    ("126", "The command cannot be executed."),
    ("127", "The command was not found."),
]
DAEMON_EXIT_STATUS = [
    ("0", "Success; serve: stopped by a signal."),
    ("1", "wattled failed."),
    ("64", "An option is wrong."),
]


class Option:
    """One line of the help: `-o,--output FILE=default Needs: --other    text`."""

    def __init__(self, head):
        words = head.split(" ", 1)
        self.names = words[0].split(",")
        rest = words[1] if len(words) > 1 else ""
        self.is_required = "REQUIRED" in rest
        rest = re.sub(r" ?(REQUIRED|(Needs|Excludes): \S+)", "", rest)
        value = rest.strip().replace(":POSITIVE", "")
        # The words of a value are in capitals: KEY=VALUE is one of them, NUM=10 has a default.
        is_pattern = re.fullmatch(r"[A-Z_]+=[A-Z_]+", value)
        self.value, _, self.default = (value, "", "") if is_pattern else value.partition("=")
        self.text = ""

    @property
    def long(self):
        return self.names[-1]

    @property
    def values(self):
        """The words that it takes, where the text lists them: "to: one, two or three"."""
        items = re.sub(r" ?\([^)]*\)", "", self.text.rpartition(": ")[2])
        items = [item.removeprefix("for ") for item in re.split(r", | or ", items)]
        is_list = len(items) > 1 and all(re.fullmatch(r"[a-z][a-z0-9,_-]*", item) for item in items)
        return items if is_list and (not self.default or self.default in items) else []

    @property
    def takes_file(self):
        return self.value in ("FILE", "PATH", "DIR")


class Command:
    """What a program says of itself, or of one of its sub-commands."""

    def __init__(self, program, words):
        self.words = words
        self.name = "-".join(words)
        help_text = subprocess.run([program, *words[1:], "--help"], check=True, capture_output=True,
                                   text=True).stdout
        self.options, self.subcommands, footer = [], [], []
        self.about, _, rest = help_text.partition("\n")
        section = ""
        for line in rest.splitlines():
            heading = re.fullmatch(r"([A-Z][a-z]+(?: [a-z]+)*):", line)
            usage = re.match(r"[Uu]sage: (.*)", line)
            if usage and not section:
                self.usage = usage[1]
            elif heading and section != "footer":
                # Sub-commands are listed in groups, each with a heading of its own.
                section = heading[1] if heading[1] in ("Options", "Positionals") else "Subcommands"
            elif line.startswith("  ") and section in ("Options", "Subcommands"):
                self.take(section, line)
            elif line and not line.startswith("  ") or section == "footer":
                section = "footer"
                footer.append(line)
        text = "\n".join(footer).strip()
        self.footer, _, examples = text.partition("examples:\n")
        self.examples = [line.strip() for line in examples.splitlines() if line.strip()]
        if self.usage.startswith((self.words[-1] + " ", "wattled ")):
            self.usage = " ".join(words) + " " + self.usage.split(" ", 1)[1]

    def take(self, section, line):
        head, text = line[2:30].rstrip(), line[30:].strip()
        if len(line) > 30 and line[29] != " ":  # the head is longer than its column
            head, text = line.strip(), ""
        if section == "Subcommands":
            self.subcommands.append((head, text))
        elif head:
            self.options.append(Option(head))
            self.options[-1].text = text
        else:
            self.options[-1].text = text


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)
    return re.sub(r"\n\n+", "\n.PP\n", text.strip("\n"))


def option_paragraph(option):
    names = ", ".join(f"\\fB{roff(name)}\\fR" for name in option.names)
    value = f" \\fI{roff(option.value)}\\fR" if option.value else ""
    notes = [note for note in (f"default: {option.default}" if option.default else "",
                               "required" if option.is_required else "") if note]
    text = option.text + (f" ({'; '.join(notes)})" if notes else "")
    return f".TP\n{names}{value}\n{roff(text)}\n"


def environment_of(commands):
    found = {}
    for command in commands:
        for option in command.options:
            for name in re.findall(r"\b(?:WATTLE|ZEUSD)_[A-Z_]+", option.text):
                found.setdefault(name, option.long)
    return found


def page(commands, section, others, version):
    """`commands`: the first is the page's own, the others are told in it."""
    first = commands[0]
    out = [f'.TH {first.name.upper().replace("-", chr(92) + "-")} {section} "" "Wattle {version}" "Wattle"\n',
           f".SH NAME\n{roff(first.name)} \\- {roff(first.about[0].lower() + first.about[1:].rstrip('.'))}\n",
           ".SH SYNOPSIS\n"]
    for command in commands:
        out.append(f".B {roff(command.usage)}\n.br\n")
    if first.footer:
        out.append(f".SH DESCRIPTION\n{roff(first.footer)}\n")
    if first.subcommands and len(commands) == 1:
        out.append(".SH COMMANDS\n")
        out += [f".TP\n\\fB{roff(name)}\\fR\n{roff(text)}\n" for name, text in first.subcommands]
    for command in commands:
        title = "OPTIONS" if command is first else f"OPTIONS OF {' '.join(command.words).upper()}"
        out.append(f'.SH "{title}"\n')
        if command is not first and command.footer:
            out.append(roff(command.footer) + "\n")
        out += [option_paragraph(option) for option in command.options]
    variables = environment_of(commands)
    if variables:
        out.append(".SH ENVIRONMENT\n")
        out += [f".TP\n\\fB{name}\\fR\nAs {roff(option)}.\n" for name, option in variables.items()]
    if not re.search(r"\bexit status\b", " ".join(first.footer.lower().split())):
        statuses = DAEMON_EXIT_STATUS if first.words[0] == "wattled" else EXIT_STATUS
        out.append(".SH EXIT STATUS\n")
        out += [f".TP\n\\fB{status}\\fR\n{roff(text)}\n" for status, text in statuses]
    if first.examples:
        out.append(".SH EXAMPLES\n.nf\n" + "\n".join(roff(line) for line in first.examples) + "\n.fi\n")
    links = [f"\\fB{roff(name)}\\fR({number})" for name, number in others]
    out.append(".SH SEE ALSO\n" + ",\n".join(links) + "\n")
    return "".join(out)


def quoted(text, quote="'"):
    return quote + text.replace("'", "'\\''") + quote


def bash_completion(name, commands):
    cases = []
    for command in commands:
        key = " ".join(command.words[1:])
        words = [n for o in command.options for n in o.names] + [n for n, _ in command.subcommands]
        cases.append(f"    {quoted(key)}) words={quoted(' '.join(words))} ;;\n")
    values = []
    options = {(" ".join(c.words[1:]), o.long): o for c in commands for o in c.options}
    for (key, _), option in options.items():
        names = "|".join(quoted(f"{key} {name}") for name in option.names)
        if option.values:
            values.append(f"    {names}) COMPREPLY=($(compgen -W {quoted(' '.join(option.values))} -- \"$cur\")); return ;;\n")
        elif option.takes_file:
            values.append(f"    {names}) compopt -o default 2>/dev/null; COMPREPLY=(); return ;;\n")
        elif option.value:
            values.append(f"    {names}) COMPREPLY=(); return ;;\n")
    levels = sorted({word for c in commands for word in c.words[1:]})
    return f"""# Completion of {name} for bash, made from its help.
_{name}() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} key='' words='' i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${{COMP_WORDS[i]}} in
    --)
      if declare -F _command_offset >/dev/null; then
        _command_offset $((i + 1))
      else
        COMPREPLY=($(compgen -c -- "$cur"))
      fi
      return
      ;;
    {'|'.join(levels)}) [[ $key == *"${{COMP_WORDS[i]}}"* ]] || key+=${{key:+ }}${{COMP_WORDS[i]}} ;;
    esac
  done
  case "$key $prev" in
{''.join(values)}  esac
  case $key in
{''.join(cases)}  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  [[ ${{#COMPREPLY[@]}} != 0 || $cur == -* ]] || compopt -o default 2>/dev/null
}}
complete -F _{name} {name}
"""


def zsh_spec(option):
    text = option.text.replace("[", "(").replace("]", ")").replace(":", " ")
    action = ""
    if option.values:
        action = f":{option.value.lower()}:({' '.join(option.values)})"
    elif option.takes_file:
        action = f":{option.value.lower()}:_files"
    elif option.value:
        action = f":{option.value.lower()}:"
    return [quoted(f"{name}[{text}]{action}") for name in option.names]


def zsh_completion(name, commands):
    cases = []
    for command in commands:
        key = " ".join(command.words[1:])
        specs = " ".join(spec for option in command.options for spec in zsh_spec(option))
        names = " ".join(quoted(f"{n}:{text}") for n, text in command.subcommands)
        if names:
            body = (f"    if [[ $PREFIX == -* ]]; then _arguments -s {specs}; else "
                    f"local -a names=({names}); _describe command names; fi ;;\n")
        else:
            body = f"    _arguments -s {specs} '*:file:_files' ;;\n"
        cases.append(f"  {quoted(key)})\n{body}")
    levels = "|".join(sorted({word for c in commands for word in c.words[1:]}))
    return f"""#compdef {name}
# Completion of {name} for zsh, made from its help.
_{name}() {{
  local key='' i
  for ((i = 2; i < CURRENT; i++)); do
    case $words[i] in
    --)
      shift $i words
      ((CURRENT -= i))
      _normal
      return
      ;;
    {levels}) [[ $key == *"$words[i]"* ]] || key+=${{key:+ }}$words[i] ;;
    esac
  done
  case $key in
{''.join(cases)}  esac
}}
_{name} "$@"
"""


def fish_completion(name, commands):
    lines = [f"# Completion of {name} for fish, made from its help.\n"]
    for command in commands:
        words = command.words[1:]
        condition = " and ".join(f"__fish_seen_subcommand_from {word}" for word in words)
        below = [n for n, _ in command.subcommands]
        if below:
            condition += (" and " if condition else "") + "not __fish_seen_subcommand_from " + " ".join(below)
        where = f"-n {quoted(condition.replace(' and ', '; and '))}"
        for sub, text in command.subcommands:
            lines.append(f"complete -c {name} -f {where} -a {sub} -d {quoted(text)}\n")
        for option in command.options:
            names = " ".join(f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names)
            if option.values:
                names += f" -x -a {quoted(' '.join(option.values))}"
            elif option.takes_file:
                names += " -r -F"
            elif option.value:
                names += " -x"
            lines.append(f"complete -c {name} {where} {names} -d {quoted(option.text)}\n")
    return "".join(lines)


def all_commands(program, words):
    command = Command(program, words)
    found = [command]
    for name, _ in command.subcommands:
        try:
            found += all_commands(program, [*words, name])
        except subprocess.CalledProcessError:
            print(f"left out: {' '.join([*words, name])} prints no help", file=sys.stderr)
    return found


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def main():
    folder, wattle, wattled = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    version = sys.argv[4] if len(sys.argv) > 4 else ""
    programs = {name: all_commands(path, [name]) for name, path in (("wattle", wattle), ("wattled", wattled))
                if path}
    names = [(c.name, 1) for c in programs.get("wattle", [])] + ([("wattled", 8)] if wattled else [])
    for name, commands in programs.items():
        groups = [[c] for c in commands] if name == "wattle" else [commands]
        section = 1 if name == "wattle" else 8
        for group in groups:
            others = [other for other in names if other[0] != group[0].name]
            text = page(group, section, others, version)
            write(folder / f"man/man{section}/{group[0].name}.{section}", text)
            packed = folder / f"packed/man{section}/{group[0].name}.{section}.gz"
            packed.parent.mkdir(parents=True, exist_ok=True)
            packed.write_bytes(gzip.compress(text.encode(), mtime=0))
        write(folder / f"bash/{name}", bash_completion(name, commands))
        write(folder / f"zsh/_{name}", zsh_completion(name, commands))
        write(folder / f"fish/{name}.fish", fish_completion(name, commands))


if __name__ == "__main__":
    main()
