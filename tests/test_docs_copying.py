"""The documentation in a real browser: what its buttons copy, its style on paper and on a phone."""

from pathlib import Path

from tests.browser import PHONE, needs_browser

pytestmark = needs_browser
SCRIPT = Path(__file__).parents[1] / "docs/_static/copy.js"
STYLE = SCRIPT.with_name("pqswarm.css")
SESSIONS = {
    "x = 1\n\nprint(x)\n": "x = 1\n\nprint(x)",
    "$ pqswarm make-samples samples\n8 recordings\n$ pqswarm app samples\n": (
        "pqswarm make-samples samples\npqswarm app samples"
    ),
    "$ pqswarm study paper \\\n    --device cuda\n480 of 480\n": "pqswarm study paper \\\n    --device cuda",
    ">>> for i in range(2):\n...     print(i)\n...\n0\n1\n>>> i\n1\n": "for i in range(2):\n    print(i)\n\ni",
}


def test_prompts_and_output_are_not_copied(browser, tmp_path):
    page = tmp_path / "page.html"
    blocks = "".join(f"<div class=highlight><pre>\n{text}</pre></div>" for text in SESSIONS)
    output = "<div class=sphx-glr-script-out><div class=highlight><pre>1</pre></div></div>"
    page.write_text(f"<!DOCTYPE html>{blocks}{output}<script>{SCRIPT.read_text()}</script>")
    tab = browser.tab(page.as_uri())
    try:
        assert tab.evaluate("document.querySelectorAll('button.copy').length") == len(SESSIONS)
        copied = """
            (async () => {
              const copied = [];
              copyText = async (text) => copied.push(text);
              for (const button of document.querySelectorAll("button.copy")) button.click();
              await new Promise((done) => setTimeout(done));
              return copied;
            })()
        """
        assert tab.evaluate(copied) == list(SESSIONS.values())
        assert tab.evaluate("document.querySelector('button.copy').textContent") == "Copied"
        tab.evaluate("copyText = async () => false; document.querySelector('button.copy').click()")
        assert tab.evaluate("document.querySelector('button.copy').textContent") == "Not copied"
    finally:
        tab.close()


def styled(tmp_path, body):
    """A page with the containers of the theme, and the style of the documentation."""
    theme = ".bd-main, .bd-article-container { display: flex; overflow: auto; } span.pre { white-space: nowrap; }"
    page = tmp_path / "page.html"
    page.write_text(
        f"<!DOCTYPE html><style>{theme}{STYLE.read_text()}</style><body style='margin: 0'><div class=bd-main>"
        f"<div class=bd-article-container><article class=bd-article>{body}</article></div></div>"
    )
    return page


def test_paper_shows_a_page_to_its_end(browser, tmp_path):
    """A container that scrolls or stretches is cut where its last sheet ends."""
    tab = browser.tab(styled(tmp_path, "<p>text</p>").as_uri(), media="print")
    shown = (
        "[...document.querySelectorAll('div')].map(e => [getComputedStyle(e).display, getComputedStyle(e).overflow])"
    )
    assert tab.evaluate(shown) == [["block", "visible"]] * 2
    tab.close()


def test_a_long_name_wraps_on_a_phone(browser, tmp_path):
    name = "identify(recording).characterization.series.steady.channels"
    body = f"<h1>{name}</h1><p><code><span class=pre>{name}</span></code></p>"
    tab = browser.tab(styled(tmp_path, body).as_uri(), width=PHONE)
    assert tab.evaluate("document.querySelector('article').getBoundingClientRect().right") <= PHONE
    tab.close()
