"""Settings shared by every way of running Fathom; the environment says where things are."""

import os
from pathlib import Path

from apps.config.settings import database, limits, logs, owned, rest
from apps.config.settings.environment import Environment, broker_of, sender_of
from apps.core import broker
from apps.core.scratch import UploadFolder

BASE_DIR = Path(__file__).resolve().parents[3]
environment = Environment(os.environ)
VAR_DIR = Path(environment.text("FATHOM_VAR", str(BASE_DIR / "var")))

SECRET_KEY = environment.text("SECRET_KEY")
DEBUG = False
ALLOWED_HOSTS = environment.hosts("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = environment.origins("TRUSTED_ORIGINS")
# The address agents are told to call; pages build it from the request when it is not set.
PUBLIC_URL = environment.address("PUBLIC_URL", "http", "https")
# Where proxies come from whose word on who asks (X-Forwarded-For) is believed.
PROXIES = environment.networks("PROXIES")
# A PEM file of the certificate that agents meet, where no usual authority has signed it: commands carry its pin.
AGENT_SERVER_CERTIFICATE = environment.certificate("AGENT_SERVER_CERTIFICATE")
# The sources of the program that runs on nodes, from which the service builds the one file it hands out.
AGENT_SOURCE = BASE_DIR / "workers" / "agent"

INSTALLED_APPS = [
    "servestatic.runserver_nostatic",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "django.forms",
    "axes",
    "channels",
    "csp",
    "django_filters",
    "django_htmx",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "rest_framework",
    "apps.core",
    "apps.accounts",
    "apps.testbeds",
    "apps.toolbox",
    "apps.agents",
    "apps.campaigns",
    "apps.results",
    "apps.comparison",
    "apps.tuning",
    "apps.reports",
    "apps.archive",
]

MIDDLEWARE = [
    "apps.core.audit.AccessMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "apps.core.static_files.StaticFilesMiddleware",
    "apps.accounts.middleware.PrivateMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "apps.core.middleware.OutageMiddleware",
    "apps.core.middleware.SpaceMiddleware",
    "apps.core.middleware.AddressMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "apps.accounts.middleware.PreferencesMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
    "apps.accounts.middleware.GuessingMiddleware",
    "apps.core.limits.middleware.LimitsMiddleware",
    "apps.core.middleware.RefusalMiddleware",
]

ROOT_URLCONF = "apps.config.urls"
ASGI_APPLICATION = "apps.config.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.template.context_processors.tz",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "apps.accounts.context.account",
            ],
            "builtins": ["django.templatetags.i18n", "apps.core.templatetags.fathom"],
        },
    }
]
FORM_RENDERER = "apps.core.forms.BootstrapRenderer"

DATABASES = {"default": environment.read("DATABASE_URL", "postgresql:///fathom", database.from_url)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# A worker ends a process of its own that hangs for so long (s).
HANG_AFTER_S = environment.number("HANG_AFTER", 30, least=10)
# And one that holds more memory (MiB): what somebody sent may be a bomb that no check of ours knows.
WORKER_MEMORY_MIB = environment.number("WORKER_MEMORY", 2048, least=512)
# So many connections a web process takes at most; the others that the server allows are the workers'.
WEB_CONNECTIONS = environment.number("WEB_CONNECTIONS", 12, least=database.FEWEST)
# So many WebSockets a web process has open at most: in all, from one address, of one person.
WEB_SOCKETS = environment.number("WEB_SOCKETS", 1000, least=1)
WEB_SOCKETS_PER_ADDRESS = environment.number("WEB_SOCKETS_PER_ADDRESS", 200, least=1)
WEB_SOCKETS_PER_PERSON = environment.number("WEB_SOCKETS_PER_PERSON", 40, least=1)

REDIS_URL = environment.read("REDIS_URL", "redis://localhost:6379/0", broker_of)
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [{"address": REDIS_URL, **broker.options_of(REDIS_URL)}], "prefix": "fathom"},
    }
}
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": broker.asking_options_of(REDIS_URL),
    }
}
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://").replace("?db=", "?virtual_host=")
# Who sends a message to a broker that is away is told at once, instead of after six seconds of trying.
CELERY_BROKER_TRANSPORT_OPTIONS = {"max_retries": 0, **broker.asking_options_of(REDIS_URL)}

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "apps.accounts.passwords.PasswordBackend"]
# The only one: nothing is hashed past its places.
PASSWORD_HASHERS = ["apps.accounts.hashing.PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "accounts:login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "accounts:login"
AXES_VERBOSE = False
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_TEMPLATE = "accounts/locked.html"
# Beyond so many wrong passwords in a quarter of an hour attempts are slowed: from one address, for one name.
SIGN_IN_FAILURES_PER_ADDRESS = environment.number("SIGN_IN_FAILURES_PER_ADDRESS", 50, least=1)
SIGN_IN_FAILURES_PER_NAME = environment.number("SIGN_IN_FAILURES_PER_NAME", 30, least=1)
SESSION_ENGINE = "apps.accounts.session_store"
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_HTTPONLY = True

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("ko", "한국어")]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True

STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
MODULES = BASE_DIR / "node_modules"
STATICFILES_DIRS = [
    BASE_DIR / "static",
    ("vendor/bootstrap", MODULES / "bootstrap" / "dist"),
    ("vendor/bootstrap-icons", MODULES / "bootstrap-icons" / "font"),
    ("vendor/inter", MODULES / "@fontsource-variable" / "inter" / "files"),
    ("vendor/chart.js", MODULES / "chart.js" / "dist"),
    ("vendor/chartjs-plugin-annotation", MODULES / "chartjs-plugin-annotation" / "dist"),
    ("vendor/chartjs-plugin-zoom", MODULES / "chartjs-plugin-zoom" / "dist"),
    ("vendor/chartjs-chart-error-bars", MODULES / "chartjs-chart-error-bars" / "build"),
    ("vendor/chartjs-chart-boxplot", MODULES / "@sgratzl" / "chartjs-chart-boxplot" / "build"),
    ("vendor/chartjs-chart-matrix", MODULES / "chartjs-chart-matrix" / "dist"),
]
SERVESTATIC_USE_FINDERS = True
SERVESTATIC_AUTOREFRESH = False

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "object-src": ["'none'"],
        "base-uri": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    }
}
CSRF_FAILURE_VIEW = "apps.core.views.csrf_failure"
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"

REST_FRAMEWORK, SPECTACULAR_SETTINGS = rest.REST_FRAMEWORK, rest.SPECTACULAR_SETTINGS

# Reports are mailed by the server that the environment names; without one, mails are files in a folder.
EMAIL_HOST, EMAIL_PORT = environment.text("EMAIL_HOST"), environment.number("EMAIL_PORT", 25, 1, 65535)
EMAIL_HOST_USER = environment.text("EMAIL_USER")
EMAIL_HOST_PASSWORD = os.environ.get("EMAIL_PASSWORD", "")
EMAIL_TLS = environment.choice("EMAIL_TLS", "starttls", "implicit")
EMAIL_USE_TLS, EMAIL_USE_SSL = EMAIL_TLS == "starttls", EMAIL_TLS == "implicit"
EMAIL_TIMEOUT, EMAIL_FILE_PATH = 60, VAR_DIR / "mail"
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if EMAIL_HOST else 'filebased'}.EmailBackend"
DEFAULT_FROM_EMAIL = environment.read("EMAIL_FROM", "fathom@localhost", sender_of)
# How many mails are sent at most; the domains whose addresses need not confirm that they want any.
MAIL_LIMITS = limits.mails_from_environment(environment)
MAIL_DOMAINS = environment.read("MAIL_DOMAINS", "", limits.domains_of)

# Who knows whether nodes could measure now; campaigns, which know nothing of agents, ask it before a launch.
NODE_READINESS = "workers.readiness.node_warnings"
# Who knows what nodes will refuse of an experiment, by what their agents reported.
PLAN_READINESS = "workers.prospects.plan_warnings"
# Who knows for what a campaign is not even begun: what it would call does not count as a node's.
PLAN_REFUSALS = "workers.prospects.plan_refusals"
# Who knows what keeps a node from measuring now: drawings mark it, and whatever waits for it says so.
NODE_OBSTACLES = "apps.agents.obstacles.obstacles_of"
# Who knows which addresses nodes have by their agents' word: these count without a manager's.
NODE_REPORTS = "apps.agents.destinations.reported"
# Who knows what was measured with nodes: such a node does not move to another site.
NODE_MEASUREMENTS = "apps.campaigns.measured_nodes.campaign_with"
# Who can end what runs have under way; campaigns ask it when somebody cancels one.
RUN_STOPPER = "workers.stops.stop_runs"
# Where tools that teams defined are used, and which programs agents allow; tools know nothing of either.
TOOL_USES = "apps.campaigns.queries.tool_uses.uses_of_tools"
TOOL_PERMITS = "workers.permits.permits_of_team"
# Commands of a stage start together so far ahead (s) that all agents have them; more for far ones, several on a node.
START_LEAD_S = environment.seconds("START_LEAD_S", 0.2)

# One request body at most (a job's whole output, compressed, fits in it), and a person's form or document.
DATA_UPLOAD_MAX_MEMORY_SIZE = 64 * 1024 * 1024
FORM_MOST_BYTES = 8 * 1024 * 1024
# A whole body comes within so long (s); the largest of 64 MiB may come at 18 KiB/s (core.bodies).
BODY_MOST_S = environment.number("BODY_MOST_S", 3600, least=60)
# So many connections one address (of IPv6 a network of 64 bits) has at a web process; 0 for no limit. Not a proxy's.
CONNECTIONS_PER_ADDRESS = environment.number("CONNECTIONS_PER_ADDRESS", 4096)
# Files that are sent at once, with all around them; where they are taken, of whoever is signed in (core.bodies).
UPLOAD_MOST_BYTES = environment.read("UPLOAD_MOST", "17 GiB", limits.bytes_of)
FILE_ADDRESSES = (
    "/imports/new/",
    "/exports/archives/",
    "/inventory/import/",
    "/published/import/",
    "/tools/import/",
    "/api/v1/imports/",
    "/api/v1/campaign-archives/",
)
# Addresses that take no body, whatever the method.
BODILESS_ADDRESSES = ("/health/", "/health/live/")
# Who knows whom a request's head names, before more than a little of it is taken.
SENDER_CHECK = "apps.accounts.senders.sender_of"
# As whom a person takes turns: as themselves, and as each of their teams.
OWNERS_CHECK = "apps.accounts.owners.owners_asking"
# What is being sent waits in this process's folder below VAR_DIR/tmp, where nothing is left behind (core.scratch).
FILE_UPLOAD_TEMP_DIR = UploadFolder()
FILE_UPLOAD_HANDLERS = [
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "apps.core.uploads.WholeFileUploadHandler",
]
# So many files may be sent to be imported at once; each is kept open meanwhile.
DATA_UPLOAD_MAX_NUMBER_FILES = 500

# How much may be asked for in a time, and stored in all; generous, for they hold off a flood and no user (limits).
RATE_LIMITS = limits.from_environment(environment)
QUOTA_STORED_BYTES = environment.read("QUOTA_STORED_BYTES", "1 TiB", limits.bytes_of)
# So many rows of a kind may one team, person or campaign have (core.limits.owned).
OWNED_LIMITS = owned.from_environment(environment)
# What was sent to be imported, and nobody decides on, is kept for so many days.
UNDECIDED_DAYS = environment.number("KEEP_UNDECIDED_DAYS", 14, least=1)

LOGGING = logs.logging_of(VAR_DIR / "log", has_access=environment.flag("ACCESS_LOG", usual=True))
