"""What is true of each recording, found by independent code (own reader, own Urms(1/2)) and by eye."""

from dataclasses import dataclass
from math import inf

Range = tuple[float, float]
ANY: Range = (-inf, inf)


def near(value: float, tolerance: float = 0.01) -> Range:
    """A value and its tolerance as a range."""
    return value - tolerance, value + tolerance


def below(value: float) -> Range:
    """Up to a value."""
    return -inf, value


def above(value: float) -> Range:
    """From a value on."""
    return value, inf


@dataclass(frozen=True)
class Find:
    """A finding.

    Attributes
    ----------
    type : str
        As in :data:`pqswarm.measure.event.EVENT_TYPES`; alternatives are separated by ``|``.
    phases : str
        Each needs it, separated by blanks; any channel if empty.
    size : tuple of float
        Range of the magnitude [pu, or %].
    cycles : tuple of float
        Range of the duration, on the waveform or by the standard.
    where : str
        Part of the name of the system or channel.
    cut : {"", "start", "end"}
        Where the record cuts it.
    """

    type: str
    phases: str = ""
    size: Range = ANY
    cycles: Range = ANY
    where: str = ""
    cut: str = ""


@dataclass(frozen=True)
class Expected:
    """What is true of a recording, or of several alike.

    Attributes
    ----------
    files : str
        Pattern below the folder of the corpus.
    finds : tuple of Find
        What must be found. If this is empty and it is not `refused`, nothing may be found.
    part : str
        Which recording of a file, such as ``"segment 1"``.
    allowed : tuple of Find
        What may be found besides. Sags, swells and interruptions are false otherwise, and so is anything above 3 pu.
    never : tuple of str
        Kinds that must not be reported, by rules or model.
    refused : str or None
        It must be refused with a reason that has this pattern.
    ignored : tuple of str
        Channels that no event may name, and that must be listed as ignored, dead or calculated.
    says, unsaid : str
        Patterns that the report must have, and must not have.
    headline : str
        Part of the name of a channel of the main event.
    cause : str
        Of the main incident, where the source of the recording states it; alternatives are separated by ``|``.
    """

    files: str
    finds: tuple[Find, ...] = ()
    part: str = ""
    allowed: tuple[Find, ...] = ()
    never: tuple[str, ...] = ()
    refused: str | None = None
    ignored: tuple[str, ...] = ()
    says: str = ""
    unsaid: str = ""
    headline: str = ""
    cause: str = ""


NOTHING = "refused for any reason"
HIDDEN = "fault|unknown"
"""A fault that the voltages alone need not show: no voltage before it, none during it, or a balanced dip to the end."""
EDGES = (Find("sag"), Find("swell"))
"""Voltages on the way into an interruption."""
CALCULATED = ("U2", "U2комп", "DU1 БНН")  # noqa: RUF001 (Cyrillic, as in the files)
FIRST, SECOND = "ПС\u0410", "ПС\u0411"
"""The relays of both substations."""


def trip(number: str, **own: object) -> Expected:
    """A simulated fault that is tripped: both substations are dead for more than 20 cycles."""
    dead = tuple(Find("interruption", "A B C", below(0.02), above(19), f"SUB_{side}", "end") for side in "AB")
    settings = {
        "finds": dead,
        "allowed": (*EDGES, Find("interruption")),
        "never": ("notching",),
        "cause": "fault",
    } | own
    return Expected(f"rtds/*{number}*RTDS.cfg", **settings)  # type: ignore[arg-type]


def terminal(number: str, side: str, *finds: Find, **own: object) -> Expected:
    """The same as the relay records it, with calculated sequence voltages among the channels.

    Whether the lowest voltage of a sag counts the way into the interruption is open: ranges reach from there to the
    level that the fault holds.
    """
    dead = Find("interruption", "A B C", below(0.02), near(246, 6), cut="end")
    settings = {"finds": (dead, *finds), "allowed": EDGES, "ignored": CALCULATED, "cause": "fault"} | own
    return Expected(f"rtds/*{number}*Terminal*{side}.cfg", **settings)  # type: ignore[arg-type]


EXPECTED = (
    Expected("singapore/BULIM*.pqd", (Find("interruption", "A B C", below(0.1), above(90), cut="end"),), allowed=EDGES),
    Expected(
        "singapore/ORCHARD*.pqd",
        (Find("sag", "A B C"), Find("interruption", "A B C", below(0.02), above(90), cut="end")),
    ),
    Expected(
        "singapore/TAMPINES*.pqd",
        (
            Find("sag", "A", near(0.656), near(3.5, 1)),
            Find("sag", "B", near(0.854), near(3.5, 1)),
            Find("sag", "C", near(0.870), near(3.5, 1)),
        ),
    ),
    Expected(
        "clp/20220621*.pqd",
        (Find("sag", "A", near(0.469), near(24, 1)), Find("sag", "C", near(0.502), near(20.5, 1))),
        part="observation 120",
        allowed=(Find("sag", "B", near(0.9, 0.002)),),
    ),
    Expected(
        "clp/20220621*.pqd",
        (
            Find("sag", "A", near(0.497)),
            Find("sag", "B", near(0.481), near(16.5, 1)),
            Find("sag", "C", near(0.895)),
        ),
        part="observation 121",
    ),
    Expected("clp/20220928*.pqd", refused="trend"),
    Expected("clp/20221002*.pqd", refused="trend"),
    Expected("pycomtrade/test1.cfg", (Find("swell", "A B C", near(1.50, 0.02), near(72.5, 1)),)),
    Expected(
        "pycomtrade/test2.cfg",
        (Find("sag", "A", near(0.714), near(3.5, 1), "GC1"), Find("sag", "B", near(0.874), where="GC1")),
    ),
    Expected(
        "pycomtrade/test3.cfg",
        (Find("sag", "A B C", near(0.31, 0.015), above(170), "G4", "end"),),
        ignored=("VA_G2", "VB_G2", "VC_G2"),
        headline="G4",
    ),
    Expected(
        "sample275kV/Sample.cfg",
        (
            Find("swell", "B", near(1.40, 0.02), near(2, 1)),
            Find("sag", "C", below(0.86)),
            Find("interruption", "A B C", below(0.02), near(103, 4), cut="end"),
        ),
        allowed=EDGES,
        unsaid="synch[^,;:]*(sag|swell|interruption)",
    ),
    Expected(
        "sel421/fa01a.cfg",
        (Find("sag", "C", near(0.07), near(51, 3), "VCY", "end"),),
        ignored=("VBZ", "VCZ"),
        headline="VCY",
    ),
    Expected(
        "example/exampleComtrade.cfg",
        (
            Find("rapid voltage change", "B C", below(-2)),
            Find("DC offset", "B", near(-3.5, 1)),
            Find("DC offset", "C", near(-8.3, 1)),
        ),
    ),
    Expected("handler/Comtrade1.cfg"),
    Expected(
        "tribble/real_1999_bin.cfg",
        (Find("unbalance", size=near(51.5, 1)),),
        ignored=("J2 Van", "J2 Vbn", "J2 Vcn"),
        says="revers|invert",
    ),
    Expected("tribble/sample_*.c[fF][gGfF]", refused=NOTHING),
    Expected("handler/sample_ascii.cff", refused=NOTHING),
    Expected("tektronix/Test1.csv"),
    Expected("tektronix/Test3.csv"),
    Expected("tektronix/TestLab3.csv", unsaid="column 10"),
    Expected(
        "ygz/ygz.cfg",
        (Find("sag", "A", near(0.59), where="216"), Find("sag|interruption", "A", below(0.2), where="214")),
        part="segment 1",
        cause="fault",
    ),
    Expected(
        "ygz/ygz.cfg",
        (
            Find("sag", "A", near(0.60), where="213"),
            Find("sag", "A", below(0.2), where="214", cut="start"),
            Find("interruption", "A B C", below(0.05), near(14.5, 1.5), "214", "end"),
        ),
        part="segment 2",
        cause="fault",
    ),
    Expected("ygz/hjz.cfg", refused=r"\.dat"),
    Expected("d51/*.cfg", refused=NOTHING),
    Expected(
        "zh5x/*.CFG",
        (Find("swell", "B", near(1.189), near(5, 1)), Find("sag", "C", near(0.893), near(1, 0.5))),
    ),
    Expected("sel_atp/DAta.cfg", (Find("sag", "AB BC CA", near(0.51, 0.02), cut="end"),)),
    Expected("sel_atp/Ex1_710*.cev", (Find("sag", "AB BC CA", near(0.51, 0.02), cut="end"),)),
    Expected(
        "sel_atp/resultadosHCS.cfg",
        (Find("harmonics", size=near(19, 3), where="HCSA"), Find("harmonics", size=near(19, 3), where="HCSC")),
        never=("notching",),
    ),
    Expected("sel_atp/resultadosSNV.cfg", (Find("harmonics", size=near(9, 2), where="SNVA"),), never=("notching",)),
    Expected("sel_atp/resultadosHVS.cfg", never=("notching",)),
    Expected(
        "newrtds/25_newRTDS.cfg",
        (
            Find("interruption", "A", below(0.02), near(20.5, 1), "TES_U"),
            Find("interruption", "B C", below(0.02), near(4, 0.5), "TES_U"),
        ),
        allowed=(Find("sag"),),
        ignored=("TES_U1",),
    ),
    Expected("pnnl/f1_*.cfg", (Find("sag", "B", near(0.39), cut="end"),), cause="fault"),
    Expected(
        "pnnl/f2_*.cfg",
        (Find("sag", "B", near(0.36), cut="end"), Find("sag", "C", near(0.32), cut="end")),
        cause="fault",
    ),
    Expected("pnnl/f3_*.cfg", (Find("sag", "A B C", near(0.80, 0.015), cut="end"),), cause=HIDDEN),
    trip("682"),
    trip("685"),
    trip(
        "689",
        finds=(
            Find("interruption", "A B C", below(0.02), near(4.3, 1), "SUB_B"),
            Find("sag", "A B C", (0.27, 0.5), near(3.5, 1), "SUB_B"),
            Find("interruption", "A B C", below(0.02), above(19), "SUB_A", "end"),
        ),
    ),
    trip("693"),
    trip(
        "698",
        finds=(
            Find("interruption", "B C", below(0.02), near(7.5, 1), "SUB_A", "start"),
            Find("interruption", "A B C", below(0.02), near(7.5, 1), "SUB_B", "start"),
            *(Find("interruption", "B C", below(0.02), above(19), f"SUB_{side}", "end") for side in "AB"),
        ),
        never=("notching", "harmonics", "DC offset"),
        cause=HIDDEN,
    ),
    terminal("682", FIRST, Find("swell", "B C", near(1.2, 0.06), near(4.7, 1))),
    terminal("682", SECOND, Find("sag", "A", (0.3, 0.87), near(4.5, 1))),
    terminal("685", FIRST, cause=HIDDEN),
    terminal("685", SECOND, Find("sag", "A B C", (0.3, 0.8), near(4.8, 1))),
    terminal("689", FIRST, Find("sag", "A B C", (0.2, 0.57), near(7.5, 1))),
    terminal("689", SECOND, Find("sag", "A B C", (0.25, 0.5)), allowed=(*EDGES, Find("interruption"))),
    terminal("693", FIRST, Find("sag", "A B C", (0.18, 0.22), near(7.5, 1))),
    terminal("693", SECOND, Find("sag", "A B C", (0.2, 0.8), near(7, 1.5))),
    terminal(
        "698",
        FIRST,
        finds=(
            Find("interruption", "B C", below(0.02), near(49.4, 1.5), cut="start"),
            Find("interruption", "B C", below(0.02), above(230), cut="end"),
        ),
        allowed=(Find("sag", "B"), Find("sag", "C"), Find("interruption", "A")),
        cause=HIDDEN,
    ),
    Expected("hif/HIF_*.cfg", ignored=("RESERVA1", "RESERVA2")),
    Expected("hif/*.mat", refused="MATLAB"),
    Expected("sh5522/*"),
    Expected("hvdc/*.CFG", refused=NOTHING),
    Expected("linka/*.csv"),
)
"""One line for each recording, or for several alike."""
