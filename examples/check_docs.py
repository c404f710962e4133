"""Checks that each block of C++ in docs/*.md stands in an example, which is compiled and run.

usage: check_docs.py PROJECT

A block belongs to the example that was named last before it, or in its first line:
`examples/NAME.cpp`. Indentation does not count, nor does a comment that names the example. Exit status 1 where a block is in no example.
"""

import re
import sys
from pathlib import Path

NAME = re.compile(r"examples/(\w+)\.cpp")


def lines_of(text):
    lines = (re.sub(r"\s+// examples/.*", "", line).strip() for line in text.splitlines())
    return [line for line in lines if line]


def blocks_of(page):
    """Each block of C++, its line number, and the example named last before it."""
    example, block, begin = None, None, 0
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if block is not None:
            if line.startswith("```"):
                yield begin, example, "\n".join(block)
                block = None
            else:
                if not block and (found := NAME.findall(line)):
                    example = found[-1]
                block.append(line)
        elif line.startswith("```cpp"):
            block, begin = [], number
        elif found := NAME.findall(line):
            example = found[-1]


def is_within(part, whole):
    return any(whole[i : i + len(part)] == part for i in range(len(whole)))


project = Path(sys.argv[1])
wrong = checked = 0
for page in sorted((project / "docs").glob("*.md")):
    for begin, example, block in blocks_of(page):
        checked += 1
        path = project / "examples" / f"{example}.cpp"
        if not path.is_file():
            print(f"{page.name}:{begin}: names no example that is there")
            wrong += 1
        elif not is_within(lines_of(block), lines_of(path.read_text())):
            print(f"{page.name}:{begin}: is not in examples/{example}.cpp")
            wrong += 1
print(f"{checked} blocks of C++, {wrong} that no example has")
sys.exit(1 if wrong or checked == 0 else 0)
