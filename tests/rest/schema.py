"""The OpenAPI schema, with the things of a team in the places where a made-up number would name nothing."""

import copy
import functools
from typing import Any

import schemathesis
from drf_spectacular.generators import SchemaGenerator

from tests.rest import world as worlds

Json = dict[str, Any]
ROOT = "/api/v1/"
METHODS = ("get", "post", "put", "patch", "delete")


@functools.cache
def document() -> Json:
    """Return the schema as the service gives it out; nobody changes it."""
    found: Json = SchemaGenerator().get_schema(request=None, public=True)
    return found


def operations(found: Json) -> list[tuple[str, str, Json]]:
    """Return (path, method, operation) of a schema."""
    return [
        (path, method, item[method]) for path, item in found["paths"].items() for method in METHODS if method in item
    ]


def inhabited(world: Any) -> schemathesis.BaseSchema:
    """Return the schema to draw requests from: ids are those of the team's things, answers have no further fields."""
    definitions = copy.deepcopy(document())
    addresses, names = worlds.addresses(world), worlds.names(world)
    for path, _method, operation in operations(definitions):
        for parameter in operation.get("parameters", ()):
            name = parameter["name"]
            if parameter["in"] == "path":
                parameter["schema"] = {"enum": addresses[f"{path.removeprefix(ROOT).partition('/')[0]}.{name}"]}
            elif name in names:
                parameter["schema"] = _one_of(parameter["schema"], names[name])
    for title, component in definitions["components"]["schemas"].items():
        if title.endswith("Request"):
            for name, described in component.get("properties", {}).items():
                if name in names and not described.get("readOnly"):
                    component["properties"][name] = _one_of(described, names[name])
        elif "properties" in component:
            component["additionalProperties"] = False
    return schemathesis.openapi.from_dict(definitions)


def _one_of(described: Json, values: list[Any]) -> Json:
    """Return the description with those of the values that are of its type, itself if none is."""
    if described.get("type") == "array":
        return described | {"items": _one_of(described.get("items", {}), values)}
    kinds = {"integer": int, "string": str}
    alike = [value for value in values if isinstance(value, kinds.get(described.get("type", ""), ()))]
    if not alike:
        return described
    nullable = described.get("nullable", False)
    return {"enum": [*alike, None] if nullable else alike, "nullable": nullable}


def operations_of(world: Any) -> list[schemathesis.APIOperation]:
    """Return the operations of the inhabited schema."""
    return [result.ok() for result in inhabited(world).get_all_operations()]


def resolved(described: Json) -> Json:
    """Return a description without references, those of which it is all of put together."""
    while "$ref" in described or "allOf" in described:
        parts = described.get("allOf") or [document()["components"]["schemas"][described["$ref"].rpartition("/")[2]]]
        described = {name: value for name, value in described.items() if name not in ("$ref", "allOf")}
        for part in parts:
            described = part | described
    return described
