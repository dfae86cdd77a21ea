"""Pages of imports: sending, looking at what was found, completing it, and storing."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts import rights
from apps.accounts.models import Role
from apps.accounts.pages import ListPage
from apps.accounts.team_imports import importer
from apps.archive.imports import columns, forms, queries, services, sheets, work
from apps.archive.imports.group_form import GroupsForm
from apps.archive.imports.models import ColumnMapping, Import
from apps.bench.toolkit import Tool
from apps.bench.tools import UnknownTool
from apps.core.forms import add_errors
from apps.toolbox import queries as toolbox

SHOWN = 50


class ImportList(ListPage):
    """The imports of one's teams."""

    model = Import
    template_name = "imports/list.html"
    url_base = "imports:import"
    sortable = ("name", "created_at")

    def get_queryset(self) -> QuerySet[Import]:
        """Return them with what the list shows."""
        return super().get_queryset().defer("sheet", "groups")

    def narrow(self, rows: QuerySet) -> QuerySet:
        """Return the imports that the person may see."""
        return queries.imports_for(rights.user_of(self.request))


class MappingList(ListPage):
    """The mappings of columns that one's teams keep."""

    model = ColumnMapping
    template_name = "imports/mappings.html"
    url_base = "imports:mapping"

    def get_queryset(self) -> QuerySet[ColumnMapping]:
        """Return them with what the list shows."""
        return super().get_queryset().select_related("team", "created_by")


@login_required
@require_http_methods(["GET", "POST"])
def create(request: HttpRequest) -> HttpResponse:
    """Ask for files, and take them."""
    user = importer(request)
    form = forms.SendFilesForm(request.POST or None, request.FILES or None, user=user)
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        try:
            imported = services.create_import(
                team=values["team"],
                user=user,
                kind=values["kind"],
                files=values["sent"],
                name=values["name"],
                measured_on=values["measured_on"],
            )
        except ValidationError as error:
            _add(form, error, {"files": "sent"}.get)
        else:
            return redirect(imported)
    return render(request, "imports/create.html", {"form": form}, status=422 if form.is_bound else 200)


@login_required
@require_GET
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show an import: what comes next, and what was found."""
    imported = _get(request, pk)
    return render(request, "imports/detail.html", _context(request, imported))


@login_required
@require_GET
def status(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the progress; once the import waits for a person, ask the page to load again."""
    imported = _get(request, pk)
    response = render(request, "imports/_progress.html", {"imported": imported, "before": _before(imported)})
    if not imported.is_working:
        response["HX-Refresh"] = "true"
    return response


@login_required
@require_POST
def map_columns(request: HttpRequest, pk: int) -> HttpResponse:
    """Take what the columns mean."""
    imported = _for_change(request, pk)
    tool = _tool(imported, request.POST.get("tool", ""))
    if tool is None or not imported.sheet:
        return redirect(imported)
    names = request.POST.getlist("sheet")
    try:
        picked = sheets.pick(imported, names)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
        return redirect(imported)
    form = forms.ColumnsForm(request.POST, tool=tool, headers=picked.headers)
    if form.is_valid():
        try:
            imported = services.map_columns(
                imported=imported, tool=tool.slug, mapping=form.mapping(), sheets_chosen=names
            )
            if form.cleaned_data["keep_as"]:
                name = form.cleaned_data["keep_as"]
                services.keep_mapping(imported=imported, user=rights.user_of(request), name=name)
        except ValidationError as error:
            _add(form, error, form.field_of)
        else:
            return redirect(imported)
    return render(request, "imports/detail.html", _context(request, imported, columns_form=form), status=422)


@login_required
@require_POST
def complete(request: HttpRequest, pk: int) -> HttpResponse:
    """Take what was chosen for the groups, and store."""
    imported = _for_change(request, pk)
    form = GroupsForm(request.POST, imported=imported)
    if form.is_valid():
        values = form.cleaned_data
        try:
            imported = services.complete_import(
                imported=imported, groups=form.choices(), name=values["name"], measured_on=values["measured_on"]
            )
            services.store_import(imported=imported, leave_out=values["leave_out"])
        except ValidationError as error:
            _add(form, error, form.field_of)
        else:
            return redirect(imported)
    return render(request, "imports/detail.html", _context(request, imported, groups_form=form), status=422)


@login_required
@require_POST
def discard(request: HttpRequest, pk: int) -> HttpResponse:
    """Give an import up."""
    imported = _for_change(request, pk)
    services.discard_import(imported=imported)
    messages.success(
        request, _("The import “%(name)s” is gone; what was imported before stays.") % {"name": imported}
    )
    return redirect("imports:import_list")


@login_required
@require_POST
def forget_mapping(request: HttpRequest, pk: int) -> HttpResponse:
    """Forget a mapping of columns."""
    mapping = get_object_or_404(queries.mappings_for(rights.user_of(request)), pk=pk)
    rights.require(request.user, mapping.team, Role.OPERATOR)
    mapping.delete()
    messages.success(request, _("The mapping “%(name)s” is gone.") % {"name": mapping})
    return redirect("imports:mapping_list")


def _get(request: HttpRequest, pk: int) -> Import:
    return get_object_or_404(queries.imports_for(rights.user_of(request)), pk=pk)


def _for_change(request: HttpRequest, pk: int) -> Import:
    imported = _get(request, pk)
    rights.require(request.user, imported.team, Role.OPERATOR)
    return imported


def _before(imported: Import) -> int:
    return work.before(imported, now=timezone.now())


def _context(request: HttpRequest, imported: Import, **extra: Any) -> dict[str, Any]:
    """Return what the page of an import shows in its state."""
    can_write = rights.can(request.user, imported.team, Role.OPERATOR)
    context: dict[str, Any] = {"imported": imported, "can_write": can_write, "before": _before(imported), **extra}
    is_mapped = imported.state == Import.State.READY and imported.kind == Import.Kind.TABLE
    if can_write and (imported.state == Import.State.MAPPING or is_mapped):
        context |= _columns(request, imported, extra.get("columns_form"))
    if imported.state == Import.State.READY and imported.groups and can_write:
        context.setdefault("groups_form", GroupsForm(imported=imported))
    if imported.state in (Import.State.READY, Import.State.DONE):
        kind = request.GET.get("show", "")
        page = Paginator(queries.items_of(imported, kind), SHOWN).get_page(request.GET.get("page"))
        items = list(page.object_list)
        context |= {
            "counts": queries.counts_of(imported),
            "show": kind,
            "page_obj": page,
            "lines": queries.lines_of(items),
            "trials": queries.visible_trials(items, rights.user_of(request)),
        }
    return context


def _columns(request: HttpRequest, imported: Import, form: forms.ColumnsForm | None) -> dict[str, Any]:
    """Return the form of the columns: as it was sent, as a kept mapping has them, or as the headers suggest."""
    mappings = queries.fitting(imported)
    mapping_id = request.GET.get("mapping")
    mapping = next((item for item in mappings if str(item.pk) == mapping_id), None)
    picked, problem = _picked(request, imported, mapping)
    headers = picked.headers
    before = imported.mapping.get("tool", "")
    # What a kept mapping says counts more than what the form beside it had been.
    slug = request.POST.get("tool") or (mapping.tool if mapping else request.GET.get("tool") or before)
    tools = toolbox.tools_for(imported.team)
    tool = _tool(imported, slug) if slug else columns.guess_tool(tools, headers)
    if form is None and tool is not None:
        meanings = mapping.columns if mapping else columns.guess(tool, headers)
        if mapping is None and tool.slug == before:
            meanings |= imported.mapping["columns"]
        form = forms.ColumnsForm(initial=forms.ColumnsForm.initial_of(headers, meanings), tool=tool, headers=headers)
    return {
        "kept": mappings,
        "sheets": sheets.sheets_of(imported),
        "picked": picked,
        "sheet_problem": problem,
        "used_mapping": mapping,
        "mapped_tool": tool,
        "tool_form": forms.ToolForm(initial={"tool": tool.slug if tool else ""}, tools=tools),
        "columns_form": form,
        "is_mapping": bool(form and form.is_bound) or bool(request.GET.keys() & {"tool", "mapping", "sheet"}),
    }


def _picked(request: HttpRequest, imported: Import, mapping: ColumnMapping | None) -> tuple[sheets.Picked, str]:
    """Return the sheets that were chosen, and what is wrong with the choice where the first stands in for it."""
    names = request.POST.getlist("sheet") or request.GET.getlist("sheet")
    if mapping is not None:
        names = mapping.sheets if sheets.names_of(imported) else []
    try:
        return sheets.pick(imported, names or imported.mapping.get("sheets", ())), ""
    except ValidationError as error:
        return sheets.pick(imported), " ".join(error.messages)


def _tool(imported: Import, slug: str) -> Tool | None:
    try:
        return toolbox.get_tool(slug, imported.team) if slug else None
    except UnknownTool:
        return None


def _add(form: Any, error: ValidationError, field_of: Any) -> None:
    """Put a service's refusal at the fields it is about."""
    errors: dict[str, list[str]] = {}
    for name, texts in error.message_dict.items():
        errors.setdefault(field_of(name) or "__all__", []).extend(texts)
    add_errors(form, ValidationError(errors))
