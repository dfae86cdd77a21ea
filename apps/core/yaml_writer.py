"""The one writer of YAML: what it writes reads back to the same (core.documents)."""

import re
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from yaml import SafeDumper as Writer
else:
    # libyaml's, where PyYAML has it: a third of the time.
    Writer = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

# Breaks of lines beside \n: but for double quotes they would be folded into blanks.
_OTHER_BREAK = re.compile("[\x85\u2028\u2029]")


class Dumper(Writer):
    """Writes a value out each time it stands somewhere: aliases are not read again."""

    def ignore_aliases(self, data: Any) -> bool:
        """Say that no value is written as an alias of another."""
        return True

    def represent_text(self, text: str) -> yaml.ScalarNode:
        """Return how a text is written, with every break of a line as it is."""
        style = '"' if _OTHER_BREAK.search(text) else None
        node: yaml.ScalarNode = self.represent_scalar("tag:yaml.org,2002:str", text, style=style)
        return node


Dumper.add_representer(str, Dumper.represent_text)


def write_yaml(value: Any, *, dumper: type[Dumper] = Dumper) -> str:
    """Return a document of texts, numbers, booleans, None, lists and mappings as YAML, keys in their order."""
    text: str = yaml.dump(
        value, Dumper=dumper, sort_keys=False, allow_unicode=True, width=110, default_flow_style=False
    )
    return text
