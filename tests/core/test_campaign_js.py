"""A campaign's open page asks by itself where its socket is open and silent, as behind a gateway that forgot it."""

from tests.core.javascript import run

PAGE = """
let now = 0;
Date.now = () => now;
const timers = [];
globalThis.setInterval = (step, every) => { timers.push({ step, every, at: every }); return timers.length; };
globalThis.clearInterval = () => {};
globalThis.setTimeout = () => 0;
const later = async (ms) => {
  for (const end = now + ms; now < end;) {
    now += 1000;
    for (const timer of timers) if (now >= timer.at) { timer.at += timer.every; timer.step(); await null; }
    for (let turn = 0; turn < 50; turn += 1) await null;
  }
};
const status = { dataset: { state: "running" } };
const addresses = { socket: "/ws/1/", status: "/status/", events: "/events/", drawing: "/drawing/" };
let drawing = null;
const part = { dataset: addresses, querySelectorAll: () => [],
  querySelector: (selector) => selector === ".topology-frame" ? drawing : null };
const fetched = [];
globalThis.document = { querySelector: () => part, getElementById: () => status, addEventListener: () => {} };
globalThis.window = { htmx: { ajax: async (method, url) => { fetched.push(url); } } };
globalThis.location = { protocol: "http:", host: "here" };
const on = {};
globalThis.WebSocket = class { addEventListener(name, step) { on[name] = step; } };
"""


def test_a_page_whose_socket_is_silent_asks_now_and_then() -> None:
    program = """
    on.open();
    await later(1000);
    const atFirst = fetched.length;
    await later(20000);
    const early = fetched.length - atFirst;
    await later(40000);
    done([early, fetched.length - atFirst > 0]);
    """
    assert run(program, "campaign.js", before=PAGE) == [0, True]


def test_one_that_is_told_of_changes_does_not() -> None:
    program = """
    on.open();
    await later(1000);
    for (let turn = 0; turn < 6; turn += 1) {
      on.message({ data: JSON.stringify({ kinds: [], experiments: [] }) });
      await later(20000);
    }
    // A fetch for the opening, and one for each message.
    done(fetched.filter((url) => url === "/status/").length);
    """
    assert run(program, "campaign.js", before=PAGE) == 7


def test_one_whose_campaign_has_ended_does_not() -> None:
    program = """
    on.open();
    await later(1000);
    status.dataset.state = "finished";
    const before = fetched.length;
    await later(120000);
    done(fetched.length - before);
    """
    assert run(program, "campaign.js", before=PAGE) == 0


def test_what_is_drawn_keeps_up_with_what_is_said_though_no_message_came() -> None:
    program = """
    drawing = {};
    const drawn = () => fetched.filter((url) => url === "/drawing/").length;
    on.open();
    await later(1000);
    const atFirst = drawn();
    // An agent is lost, and the message of it, too.
    status.dataset.waits = "";
    await later(6000);
    done([atFirst, drawn()]);
    """
    assert run(program, "campaign.js", before=PAGE) == [1, 2]


def test_one_whose_reader_may_not_see_it_any_more_says_so_and_asks_no_more() -> None:
    program = """
    const shown = [];
    document.createElement = () => ({ setAttribute() {}, append(...parts) { this.parts = parts; } });
    status.append = (note) => shown.push(note.parts[0], note.parts[2].textContent);
    Object.assign(addresses, { textSignedOut: "out", textNotShared: "not shared", textReload: "again" });
    on.open();
    await later(1000);
    on.close({ code: 4403 });
    const atFirst = fetched.length;
    await later(120000);
    done([shown, fetched.length - atFirst]);
    """
    assert run(program, "campaign.js", before=PAGE) == [["not shared", "again"], 0]


def test_one_for_which_there_is_no_socket_left_asks_by_itself_and_tries_again_later() -> None:
    program = """
    const waits = [];
    globalThis.setTimeout = (step, ms) => { if (step.name === "connect") waits.push(ms); return 0; };
    on.open();
    on.close({ code: 1006 });
    on.open();
    on.close({ code: 4429 });
    await later(1000);
    const atFirst = fetched.length;
    await later(20000);
    done([waits, fetched.length - atFirst > 3]);
    """
    assert run(program, "campaign.js", before=PAGE) == [[1000, 30000], True]
