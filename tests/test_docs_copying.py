"""What the copy buttons of the documentation copy, in a real browser."""

from pathlib import Path

from tests.browser import needs_browser

pytestmark = needs_browser
SCRIPT = Path(__file__).parents[1] / "docs/_static/copy.js"
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
