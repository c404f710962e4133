# type: ignore
"""The magic commands, over a stand-in of IPython's shell, and the table of a measurement."""

import html.parser
import time
import types

import pytest
import wattle


class Shell:
    """What the magics use of an IPython shell: its documented functions."""

    class Result:
        def __init__(self, error):
            self.success = error is None
            self._error = error

        def raise_error(self):
            if self._error is not None:
                raise self._error

    def __init__(self):
        self.user_ns = {"sleep": time.sleep}
        self.magics = {}

    def register_magic_function(self, func, magic_kind="line", magic_name=None):
        self.magics[magic_kind, magic_name] = func

    def run_cell(self, raw_cell):
        try:
            exec(raw_cell, self.user_ns)  # noqa: S102
        except Exception as error:  # noqa: BLE001
            return self.Result(error)
        return self.Result(None)


@pytest.fixture
def shell(tree):
    shell = Shell()
    shell.user_ns["tree"] = tree
    wattle.load_ipython_extension(shell)
    return shell


@pytest.fixture
def magic(shell):
    return shell.magics["line_cell", "wattle"]


def test_a_cell_has_its_energy(shell, magic):
    m = magic("epoch 3", "sleep(0.03)\ntree.spend('intel-rapl:0', 2.0)\nx = 7")
    assert m.tag == "epoch 3"
    assert m.domains["package_0"].energy_j == pytest.approx(2.0, abs=1e-3)
    assert shell.user_ns["x"] == 7


def test_a_statement_has_its_energy(shell, magic):
    m = magic("tree.spend('intel-rapl:0', 1.0)")
    assert m.domains["package_0"].energy_j == pytest.approx(1.0, abs=1e-3)


def test_options_are_those_of_measure(shell, magic):
    m = magic("--domains package_1,dram_0 --into=m --strict --estimate a b", "pass")
    assert list(m.domains) == ["package_1", "dram_0"]
    assert m.tag == "a b"
    assert shell.user_ns["m"] is m
    assert m.estimate is not None
    assert list(magic("--gpus none", "pass").domains) == ["package_0", "package_1", "dram_0"]


@pytest.mark.parametrize("line", ["--wrong", "--domains", "--into 3x", "--estimate=1"])
def test_wrong_options_are_refused_and_nothing_runs(shell, magic, line):
    with pytest.raises(wattle.InvalidArgument, match="usage"):
        magic(line, "x = 1")
    assert "x" not in shell.user_ns


def test_a_cell_that_fails_stops_the_notebook(shell, magic, capsys):
    with pytest.raises(ZeroDivisionError):
        magic("--into m", "1 / 0")
    assert shell.user_ns["m"].seconds > 0
    assert "package_0" in capsys.readouterr().out


def test_the_magic_alone_lists_what_can_be_measured(magic):
    assert magic("") == ["package_0", "package_1", "dram_0"]


def test_without_sensors_a_cell_has_a_reason(empty_tree):
    shell = Shell()
    wattle.load_ipython_extension(shell)
    m = shell.magics["line_cell", "wattle"]("", "x = 1")
    assert m.total_j is None
    assert m.missing[0].reason in m._repr_html_()


class Cells(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.texts = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.texts.append(data)


def test_the_table_of_a_measurement_is_escaped(tree):
    with wattle.measure("<script>alert('ä')</script>") as m:
        tree.spend("intel-rapl:0", 1.0)
        opened = Cells(m._repr_html_())
    cells = Cells(m._repr_html_())
    assert cells.tags == opened.tags | {"th"} == {"table", "tr", "td", "th"}
    assert "<script>alert('ä')</script>" in cells.texts
    assert any("not ended" in text for text in opened.texts)
    assert "package_0" in cells.texts


def test_extensions_are_unloaded():
    magics = {"line": {"wattle": 1}, "cell": {"wattle": 1}}
    host = types.SimpleNamespace(magics_manager=types.SimpleNamespace(magics=magics))
    wattle.unload_ipython_extension(host)
    assert magics == {"line": {}, "cell": {}}
