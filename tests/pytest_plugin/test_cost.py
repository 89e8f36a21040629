"""The plugin is loaded in every session of everybody who has Evenhand installed: it must cost nothing there."""

import subprocess
import sys


def test_loading_the_plugin_loads_nothing_heavy() -> None:
    """Databases, arrays, clients and templates come with the first output that is scored."""
    heavy = [
        "numpy",
        "sqlalchemy",
        "alembic",
        "aiohttp",
        "jinja2",
        "yaml",
        "regex",
        "evenhand.runs",
        "evenhand.judging",
    ]
    script = (
        f"import sys\nimport evenhand.pytest_plugin.plugin\nprint([name for name in {heavy!r} if name in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
