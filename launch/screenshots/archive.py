"""What the pictures show beside what was measured here: published figures, imports, what is kept, reports."""

from launch import home, service
from launch.demo.rest import Rest

FIGURES = home.ROOT / "tests" / "data" / "published" / "published.json"
OUTPUTS = sorted(str(path) for path in (home.ROOT / "tests" / "data" / "ping").glob("*.txt"))
TEAM = "Published figures"


def fill(running: service.Service, api: Rest, team: str, campaign: str) -> dict[str, int | str]:
    """Import published figures into a team of their own; return the keys of what came of it."""
    view = api.post("saved-views/", {"team": team, "name": "Windows", "query": f"set=campaign:{campaign}"})
    search = api.post("saved-searches/", {"team": team, "name": "Windows", "query": "q=window"})
    archive = api.post("teams/", {"name": TEAM})["slug"]
    running.manage("import_published", str(FIGURES), "--team", archive)
    campaigns = [row["id"] for row in api.every(f"campaigns/?team={archive}")]
    findings = [row["id"] for row in api.every("findings/") if row["campaign"] in campaigns]
    wish = {"campaign": api.get(f"campaigns/{campaign}/")["permanent_id"]}
    report = api.post("reports/", {**wish, "language": "en"})["id"]
    sent = running.manage("send_outputs", *OUTPUTS, "--team", team, "--user", api.get("me/")["username"])
    month = {"team": team, "title": "This month", "language": "en", "period": "this-month"}
    management = api.post("management-reports/", month)["id"]
    dates = {"team": team, "name": "Monthly", "report": management, "cron": "0 7 1 * *", "formats": ["pdf"]}
    return {
        "management": management,
        "schedule": api.post("report-schedules/", dates)["id"],
        "import": int(sent.strip("/\n").rpartition("/")[2]),
        "report": report,
        "edition": api.post(f"reports/{report}/freeze/", {"note": "The first"})["id"],
        "draft_report": api.post("reports/", {**wish, "language": "ko"})["id"],
        "view": view["id"],
        "search": search["id"],
        "published": campaigns[-1] if campaigns else 0,
        "published_finding": findings[-1] if findings else 0,
    }
