"""The recordings section in a real browser: what its tests look at, and how they get there."""

import json

ROWS = ".events tbody tr[data-key]:not([hidden])"
LISTED = (
    f"document.querySelectorAll('{ROWS}').length >= 5 && "
    f"[...document.querySelectorAll('{ROWS} [data-column=station]')].some(one => one.innerText === 'East')"
)
"""Whether the list has all recordings of the folder and the dropped one: its rows come after the message about it."""
READY = "document.querySelector('.waves')?.dataset.state === 'ready'"
ANALYSED = f"{READY} && !!document.querySelector('.verdict [data-read=rule]')"


def rows(tab, column):
    cell = f"row.querySelector('[data-column={column}]').innerText"
    return tab.evaluate(f"[...document.querySelectorAll('{ROWS}')].map(row => {cell})")


def events(tab, query=""):
    """The rows that the server gives."""
    return tab.evaluate(f"pq.app.api('/api/events?limit=500&{query}').then(answer => answer.rows)")


def find(tab, station, kind):
    return next(row for row in events(tab) if row["station"] == station and row["type"] == kind)


def show(tab, row):
    tab.evaluate(f"location.hash = '#/recordings/{row['recording']}?event={row['event']}'")
    tab.until(ANALYSED)
    return row


def open_event(tab, station, kind):
    return show(tab, find(tab, station, kind))


def fill(tab, form, **fields):
    for name, text in fields.items():
        tab.evaluate(f"document.querySelector('{form} [name={name}]').value = ''")
        tab.evaluate(f"document.querySelector('{form} [name={name}]').focus()")
        tab.type(text)


def choose(tab, selector, value):
    tab.evaluate(
        f"(box => {{ box.value = {json.dumps(value)}; box.dispatchEvent(new Event('change', {{bubbles: true}})); }})"
        f"(document.querySelector({json.dumps(selector)}))"
    )
