"""The tests run with the built wheel, in an environment of its own: `cargo xtask test` sets it up."""

import pytest
import reknit


def pytest_sessionstart() -> None:
    # Whoever runs the tests from the sources would test those.
    assert "site-packages" in reknit.__file__, f"this is not the wheel: {reknit.__file__}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            terminalreporter.write_line(f"{name}: {value}")
