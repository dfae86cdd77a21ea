"""The REST interface, and how it describes itself."""

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "apps.accounts.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "rest_framework.permissions.IsAuthenticated",
        "apps.accounts.permissions.ScopedToken",
    ],
    "DEFAULT_RENDERER_CLASSES": ["apps.core.json_answers.Renderer"],
    "DEFAULT_PARSER_CLASSES": ["apps.core.json_bodies.JSONParser"],
    "DEFAULT_FILTER_BACKENDS": [
        "apps.core.row_filters.RowFilters",
        "apps.core.pagination.WordSearch",
        "apps.core.pagination.TotalOrdering",
    ],
    "DEFAULT_PAGINATION_CLASS": "apps.core.pagination.Pages",
    "DEFAULT_SCHEMA_CLASS": "apps.core.openapi.Schema",
    "DEFAULT_THROTTLE_CLASSES": ["apps.core.limits.throttles.PolicyThrottle"],
    # A parameter of this name is what an operation says it is.
    "URL_FORMAT_OVERRIDE": None,
    "EXCEPTION_HANDLER": "apps.core.api.exception_handler",
    "PAGE_SIZE": 50,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Fathom",
    "DESCRIPTION": "Benchmark campaigns across sites: describe, sweep, measure, explain.",
    "VERSION": "1",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    # Bodies are closed (`apps.core.openapi`), answers may get more fields.
    "COMPONENT_SPLIT_REQUEST": True,
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "docExpansion": "none", "defaultModelsExpandDepth": 0},
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "ENUM_NAME_OVERRIDES": {
        "CampaignState": "apps.campaigns.models.Campaign.State",
        "TrialState": "apps.campaigns.models.Trial.State",
        "RunState": "apps.campaigns.models.Run.State",
        "JobState": "apps.agents.models.Job.State",
        "AgentState": "apps.agents.models.AgentState",
        "FindingState": "apps.tuning.models.Finding.State",
        "RoleName": "apps.accounts.models.Role",
        "TokenScope": "apps.accounts.models.ApiToken.Scope",
        "ImportKind": "apps.archive.imports.models.Import.Kind",
        "ImportState": "apps.archive.imports.models.Import.State",
        "IncomingArchiveState": "apps.archive.incoming.models.IncomingArchive.State",
        "IntervalMethod": "apps.results.intervals.METHODS",
        "IntervalAssumption": "apps.results.intervals.ASSUMPTIONS",
    },
}
