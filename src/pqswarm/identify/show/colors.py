"""Colors of the types of events."""

COLORS = {
    "interruption": "#d1344b",
    "sag": "#0b6fd6",
    "swell": "#d24b00",
    "transient": "#9e5a9e",
    "rapid voltage change": "#b4ac00",
    "harmonics": "#5abb8e",
    "notching": "#1e7870",
    "flicker": "#da9e5a",
    "DC offset": "#5a783c",
    "unbalance": "#00b4da",
}
"""Colors of the types of events."""
