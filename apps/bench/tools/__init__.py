"""The registry of benchmark tools: every module here that is neither `base` nor begins with `_` is one tool."""

import functools
import importlib
import pkgutil
from types import ModuleType

from apps.bench.toolkit import Tool


class RegistryError(Exception):
    """A tool's file that cannot be registered, or two tools of one slug: a mistake in the program."""


class UnknownTool(LookupError):
    """No tool has this slug."""


def find_tool(module: ModuleType) -> Tool:
    """Return the one tool that a module (or a package and its parts) defines; RegistryError for none or several."""
    prefix = module.__name__
    tools = [
        item
        for item in vars(module).values()
        if isinstance(item, type)
        and issubclass(item, Tool)
        and (item.__module__ == prefix or item.__module__.startswith(prefix + "."))
    ]
    if len(tools) != 1:
        raise RegistryError(f"{prefix} must define exactly one tool, not {len(tools)}")
    return tools[0]()


def register(modules: list[ModuleType]) -> dict[str, Tool]:
    """Return the tools of the modules by slug; RegistryError names both modules of a duplicate slug."""
    tools: dict[str, Tool] = {}
    for module in modules:
        tool = find_tool(module)
        if tool.slug in tools:
            other = type(tools[tool.slug]).__module__
            raise RegistryError(f"{module.__name__} and {other} both call their tool {tool.slug!r}")
        tools[tool.slug] = tool
    return tools


@functools.cache
def _registry() -> dict[str, Tool]:
    names = sorted(info.name for info in pkgutil.iter_modules(__path__))
    return register(
        [
            importlib.import_module(f"{__name__}.{name}")
            for name in names
            if name != "base" and not name.startswith("_")
        ]
    )


def all_tools() -> tuple[Tool, ...]:
    """Return every tool, in the order of their slugs."""
    return tuple(tool for _slug, tool in sorted(_registry().items()))


def label_of_metric(name: str, tool: Tool | None = None) -> str:
    """Return what a tool calls a metric, or others do where it has it over time only: a msgid; else its own name."""
    candidates = (*([tool] if tool else []), *all_tools())
    return next((metric.label for one in candidates for metric in one.metrics if metric.name == name), name)


def get(slug: str) -> Tool:
    """Return the tool of a slug; UnknownTool names those there are."""
    try:
        return _registry()[slug]
    except KeyError:
        slugs = ", ".join(sorted(_registry()))
        raise UnknownTool(f"no tool is called {slug!r}; there are {slugs}") from None
