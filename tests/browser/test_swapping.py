"""The topics behind the tables are swapped while a person looks at every one of them: H2, H4, V7, V9."""

import json
import re
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Locator, expect

from bench.stack import REPOSITORY, Stack
from tablecast.kafka.admin import Topics
from tablecast.kafka.clients import make_producer

from .axe import expect_nothing
from .conftest import OpenPage, Send
from .visit import Visit

FILLED = ("users_ui", "account", "accounts_ui", "final_ui", "user_account", "orchestrator_status")
OTHER = {"usersTopic": "users_b", "accountsTopic": "accounts_b"}
FIRST = {"usersTopic": "users", "accountsTopic": "accounts"}
# Each changes the topics or the join, and the last one leads back to where the demo began.
SWAPS = ((OTHER, "left"), (OTHER, "inner"), (FIRST, "inner"), (OTHER, "left"), (FIRST, "left"))
ROWS = 5
LONG = {"usersTopic": "users_long", "accountsTopic": "accounts"}
LONG_ROWS = 3_000
PAINT = (REPOSITORY / "bench" / "paint.js").read_text()

# Looks after every change of the page, which is at least as often as it is painted.
WATCH = """() => {
  const seen = (window.seen = { blank: 0, states: [], generations: [] });
  const text = (id) => document.querySelector(`[data-testid=${id}]`)?.textContent.trim() ?? 'nothing';
  const note = (list, value) => list.at(-1) === value || list.push(value);
  const look = () => {
    seen.blank += document.querySelectorAll('[data-testid=grid] tbody tr[data-row-id]').length === 0;
    seen.blank += document.querySelectorAll('[data-testid=grid] tbody tr:not([data-row-id])').length;
    note(seen.states, text('state'));
    note(seen.generations, text('generation'));
  };
  look();
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
}"""


# A slow scroll, up and down, until a second after the tables have changed over.
SCROLL = """async (generation) => {
  const pane = document.querySelector('.live-table-scroll');
  const shown = () => document.querySelector('[data-testid=generation]')?.textContent.trim();
  let step = 8;
  for (let framesLeft = 60; framesLeft > 0; framesLeft -= shown() === generation) {
    await new Promise(requestAnimationFrame);
    const before = pane.scrollTop;
    pane.scrollTop += step;
    if (pane.scrollTop === before) step = -step;
  }
}"""


@pytest.fixture
def other_topics(demo_stack: Stack, send: Send) -> None:
    for topic in OTHER.values():
        Topics(demo_stack.kafka, "source").ensure(topic, 1)
    for number in range(ROWS):
        send("users_b", userId=f"b{number}", name="Beta", email="beta@example.com", age=number)
        send("accounts_b", userId=f"b{number}", accountType="BETA", balance=number)


def choose(visit: Visit, topics: dict[str, str], join: str) -> None:
    """In the operator panel, from the topics that Kafka has."""
    visit.find("topic-users").select_option(topics["usersTopic"])
    visit.find("topic-accounts").select_option(topics["accountsTopic"])
    visit.find(f"join-{join}").check()


def verdict_of(visit: Visit, verdict: str) -> Locator:
    """Of the message that was sent last, once it is this."""
    told = visit.page.locator(f"[data-testid=verdict][data-verdict={verdict}]")
    expect(told).to_be_visible()
    return told


def ask(stack: Stack, message: dict[str, str]) -> int:
    """Hands a control message in, as an operator does."""
    headers = {"Authorization": f"Bearer {stack.key}", "Content-Type": "application/json"}
    with urlopen(Request(f"{stack.url}/api/control", json.dumps(message).encode(), headers), timeout=30) as answer:  # noqa: S310
        return int(answer.status)


def open_at(open_page: OpenPage, stack: Stack, table: str) -> Visit:
    visit = open_page(f"/#key={quote(stack.key)}")
    visit.wait_for_rows("users_ui")
    visit.find(f"table-{table}").click()
    expect(visit.find("grid")).to_have_attribute("data-table", table)
    expect(visit.find("grid")).to_have_attribute("aria-busy", "false")
    return visit


def test_five_swaps_and_nobody_sees_a_seam(open_page: OpenPage, demo_stack: Stack, other_topics: None) -> None:
    visits = {table: open_at(open_page, demo_stack, table) for table in (*FILLED, "control_raw", "dead_letters")}
    for table in FILLED:
        visits[table].wait_for_rows(table)
        visits[table].page.evaluate(WATCH)
    before = int(demo_stack.get("/api/status")["generation"])
    for generation, (topics, join) in enumerate(SWAPS, start=before + 1):
        assert ask(demo_stack, {**topics, "joinType": join}) == 202
        for visit in visits.values():
            expect(visit.find("generation")).to_have_text(f"generation {generation}")
        row = visits["orchestrator_status"].rows.first.locator("td")
        expect(row).to_contain_text([*topics.values(), join])
        beta = visits["users_ui"].rows.filter(has_text="beta@example.com")
        expect(beta).to_have_count(ROWS if topics is OTHER else 0)
    verdicts = visits["control_raw"].rows.filter(has_text="applied")
    expect(verdicts).to_have_count(len(SWAPS))
    for table in FILLED:
        seen: dict[str, Any] = visits[table].page.evaluate("window.seen")
        generations = [f"generation {number}" for number in range(before, before + len(SWAPS) + 1)]
        assert seen == {"blank": 0, "states": ["live"], "generations": generations}, table
    assert ask(demo_stack, {**SWAPS[-1][0], "joinType": "left"}) in (200, 202)


def test_the_tables_are_swapped_under_somebody_who_scrolls_and_no_row_is_blank(open_page: OpenPage, demo_stack: Stack) -> None:
    Topics(demo_stack.kafka, "source").ensure(LONG["usersTopic"], 1)
    producer = make_producer(demo_stack.kafka, {"linger.ms": 5})
    for number in range(LONG_ROWS):
        producer.produce(LONG["usersTopic"], json.dumps({"userId": f"l{number}", "name": "Long", "email": "long@example.com", "age": number}))
    assert producer.flush(60) == 0
    visit = open_at(open_page, demo_stack, "users_ui")
    visit.page.evaluate(PAINT)
    before = int(demo_stack.get("/api/status")["generation"])
    for generation, topics in enumerate((LONG, FIRST), start=before + 1):
        visit.page.evaluate("paint.start()")
        assert ask(demo_stack, {**topics, "joinType": "left"}) == 202
        visit.page.evaluate(SCROLL, f"generation {generation}")
        seen: dict[str, Any] = visit.page.evaluate("paint.stop()")
        assert (seen["blank"], seen["waiting"]) == (0, 0), seen
        assert (visit.rows.filter(has_text="long@example.com").count() > 0) == (topics is LONG)
        assert visit.range()[2] > visit.range()[1] - visit.range()[0] + 1, "there is something to scroll"


def test_an_operator_asks_first_then_swaps_and_watches_the_generation_come(open_page: OpenPage, demo_stack: Stack, other_topics: None) -> None:
    visit = open_page(f"/#key={quote(demo_stack.key)}&panel=operator", table=None)
    expect(visit.find("apply")).to_be_disabled()
    before = demo_stack.get("/api/status")
    choose(visit, {"usersTopic": "accounts_b", "accountsTopic": "accounts"}, "left")
    visit.find("dry-run").click()
    expect(verdict_of(visit, "rejected")).to_contain_text("does not look like users")
    choose(visit, OTHER, "inner")
    visit.find("dry-run").click()
    expect(verdict_of(visit, "would_apply")).to_contain_text(re.compile(r"[\d,]+ of users, [\d,]+ of accounts"))
    assert demo_stack.get("/api/status")["generations"] == before["generations"], "a dry run builds nothing"
    for topics, join, generation in ((OTHER, "inner", before["generation"] + 1), (FIRST, "left", before["generation"] + 2)):
        choose(visit, topics, join)
        visit.find("apply").click()
        expect(visit.find("progress")).to_be_visible()
        expect(verdict_of(visit, "applied")).to_contain_text(f"as generation {generation}")
        expect(visit.find("generation")).to_have_text(f"generation {generation}")
        expect(visit.find("progress")).to_have_count(0)
    newest = visit.find("history").locator("tbody tr").first
    expect(newest).to_contain_text("users · accounts · left")
    expect(newest).to_contain_text("applied")
    expect_nothing(visit, "operator, with a verdict and a history")
