"""Set the report in a folder, {"folder", "output", "timestamp", "tagged"} from the standard input; or its drawings.

Of {"folder", "drawings": [name]} each NAME.svg there becomes NAME.png. "memory" is how many bytes it takes at most.
"""

import importlib.util
import json
import math
import re
import resource
import sys
from pathlib import Path

import typst

from apps.bench import strict_json
from apps.reports.files.program import letters

# Of a drawing as a picture: twice what a screen shows, for slides that are projected.
PPI = 192
# A large one has fewer: so many pixels take a quarter of a gigabyte.
MOST_PIXELS = 40_000_000
_SIZE = re.compile(r'<svg\b[^<>]*?\swidth="(\d{1,6}(?:\.\d{1,6})?)"\sheight="(\d{1,6}(?:\.\d{1,6})?)"')


def main() -> None:
    """Set a report, or draw drawings."""
    request = json.load(sys.stdin.buffer)
    resource.setrlimit(resource.RLIMIT_AS, (request["memory"], request["memory"]))
    folder = Path(request["folder"])
    fonts = _fonts()
    compiler = typst.Compiler(root=str(folder), font_paths=[str(_linked(fonts, folder))], ignore_system_fonts=True)
    if "drawings" in request:
        for name in request["drawings"]:
            source = f'#set page(width: auto, height: auto, margin: 0pt)\n#image("{name}.svg")'
            (folder / f"{name}.typ").write_text(source, encoding="utf-8")
            ppi = _ppi((folder / f"{name}.svg").read_text(encoding="utf-8"))
            compiler.compile(str(folder / f"{name}.typ"), str(folder / f"{name}.png"), format="png", ppi=ppi)
        return
    data = json.loads((folder / "given.json").read_text(encoding="utf-8"))
    text = strict_json.dumps(letters.replaced(data, fonts[:2]), ensure_ascii=False)
    (folder / "report.json").write_text(text, encoding="utf-8")
    (folder / "report.typ").write_bytes(Path(__file__).with_name("report.typ").read_bytes())
    compiler.compile(
        str(folder / "report.typ"),
        request["output"],
        # Level A adds tags for those who have the report read to them, U has all text as text.
        pdf_standards=["a-2a"] if request["tagged"] else ["a-2u"],
        pdf_tags=request["tagged"],
        timestamp=request["timestamp"],
    )


def _ppi(svg: str) -> float:
    """Return how finely a drawing becomes a picture; its own pixels are 96 to the inch."""
    size = _SIZE.search(svg)
    pixels = float(size[1]) * float(size[2]) * (PPI / 96) ** 2 if size else 0.0
    return PPI * min(1.0, math.sqrt(MOST_PIXELS / pixels)) if pixels else PPI


def _fonts() -> list[Path]:
    """Return the files of the fonts: those for reading first, of which the first two have every letter there is."""
    korean, others = _folder("koreanize_matplotlib") / "fonts", _folder("matplotlib") / "mpl-data" / "fonts" / "ttf"
    return [korean / "NanumGothic.ttf", others / "DejaVuSans.ttf", korean / "NanumGothicBold.ttf",
            others / "DejaVuSans-Bold.ttf", others / "DejaVuSansMono.ttf"]  # fmt: skip


def _linked(fonts: list[Path], folder: Path) -> Path:
    """Return a folder of these fonts and no others."""
    links = folder / "fonts"
    links.mkdir()
    for font in fonts:
        (links / font.name).symlink_to(font)
    return links


def _folder(package: str) -> Path:
    """Return a package's folder without loading it."""
    spec = importlib.util.find_spec(package)
    assert spec and spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])


main()
