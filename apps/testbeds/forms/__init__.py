"""Forms of the inventory; they read what people write and leave the rules to the services."""

from apps.testbeds.forms.bulk import AddNodesForm, ImportForm, PathForm
from apps.testbeds.forms.items import (
    ClusterForm,
    FileSystemForm,
    ItemForm,
    LinkForm,
    NodeForm,
    SiteForm,
    SitePairForm,
    SwitchForm,
    TestbedForm,
)

__all__ = [
    "AddNodesForm",
    "ClusterForm",
    "FileSystemForm",
    "ImportForm",
    "ItemForm",
    "LinkForm",
    "NodeForm",
    "PathForm",
    "SiteForm",
    "SitePairForm",
    "SwitchForm",
    "TestbedForm",
]
