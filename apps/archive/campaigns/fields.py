"""Which fields of which rows an archive has; what else a row has is a number of a database, or told by its place."""

CAMPAIGN = (
    "permanent_id", "name", "goal", "state", "launched_at", "finished_at", "analysed_at", "origin", "publication",
    "tags", "licence", "created_at", "updated_at",
)  # fmt: skip
NOTE = ("text", "created_at", "updated_at")
EXPERIMENT = (
    "position", "name", "tool", "fixed", "factors", "zips", "exclusions", "repetitions", "warmups", "order", "seed",
    "max_attempts", "retry_wait_s", "context", "resolved", "printed", "expanded_at", "refusal", "precision",
    "most_repetitions", "search_factor", "search_goal", "search_budget", "created_at", "updated_at",
)  # fmt: skip
TRIAL = (
    "position", "point", "repetition", "is_warmup", "parameters", "estimate_s", "state", "attempts",
    "attempts_allowed", "reason", "finished_at", "invalid_at", "invalid_reason", "created_at", "updated_at",
)  # fmt: skip
RUN = ("attempt", "state", "plan", "stage", "reason", "started_at", "ended_at", "created_at", "updated_at")
TIMING = ("stage", "name", "commands", "started", "skew_s", "late_s", "overlap", "clock_error_s")
JOB = (
    "role", "stage", "argv", "background", "ready_pattern", "optional", "files", "collect", "environment",
    "time_limit_s", "output_limit_bytes", "start_at", "state", "delivered_at", "stop_requested_at", "started_at",
    "ready_at", "ended_at", "exit_code", "signal", "timed_out", "fault", "fault_detail", "clock_offset_s",
    "clock_error_s", "created_at", "updated_at",
)  # fmt: skip
OUTPUT = ("stdout_bytes", "stderr_bytes", "truncated", "cut_on_way")
COLLECTED = ("name", "size", "truncated", "cut_on_way")
FACTS = ("digest", "facts", "created_at", "updated_at")
RESULT = (
    "tool", "tool_version", "requested", "granted", "observed", "flags", "start_skew_s", "recorded_at", "edition",
    "edition_reason", "edition_at", "series_dropped_at", "output_dropped_at",
)  # fmt: skip
SUPERSEDED = ("edition", "reason", "made_at", "superseded_at")
SERIES = ("metric", "stream", "unit", "times", "values")
EVENT = ("level", "message", "at")
FINDING = (
    "rule", "rule_version", "kind", "state", "state_reason", "title", "details", "value", "unit", "change", "undo",
    "predicted_gain", "confidence", "created_at", "updated_at",
)  # fmt: skip
DECISION = ("earlier", "state", "reason", "note", "created_at", "updated_at")
VERIFICATION = (
    "proof", "unit", "higher_is_better", "predicted", "predicted_gain", "verdict", "present", "realised", "gain",
    "gain_low", "gain_high", "pairs", "judged_at", "created_at", "updated_at",
)  # fmt: skip
REPORT = ("kind", "language", "title", "created_at", "updated_at")
EDITION = ("number", "permanent_id", "title", "language", "checksum", "rests_on", "note", "created_at")
