"""Small files of every kind, written without the package's own writers."""

import io
import struct
import zipfile

import numpy as np

RATE = 4800.0


def waves(n=96, rate=RATE, frequency=50.0):
    """Three voltages of 1000 V."""
    t = np.arange(n) / rate
    return [1000 * np.sin(2 * np.pi * (frequency * t - k / 3)) for k in range(3)]


def cfg(
    channels=("Ua,A,,V", "Ub,B,,V", "Uc,C,,V"),
    *,
    year="1999",
    a="0.1",
    tail=",1,1,P",
    n_status=0,
    frequency="50",
    rates=("4800,96",),
    n_rates=None,
    dates=("18/11/2015,05:33:03.765333", "18/11/2015,05:33:03.790289"),
    kind="ASCII",
    last=("1",),
    end="\r\n",
):
    first = f"station,device,{year}" if year else "station,device"
    lines = [first, f"{len(channels) + n_status},{len(channels)}A,{n_status}D"]
    lines += [f"{i},{channel},{a},0,0,-32767,32767{tail}" for i, channel in enumerate(channels, 1)]
    lines += [f"{i},S{i},,,0" for i in range(1, n_status + 1)]
    lines += [frequency, str(len(rates) if n_rates is None else n_rates), *rates, *dates, kind, *last]
    return (end.join(lines) + end).encode()


def rows(columns, stamps=None):
    """The table of sample numbers, time stamps and stored values."""
    n = len(columns[0])
    stamps = np.rint(np.arange(n) / RATE * 1e6) if stamps is None else stamps
    return np.column_stack([np.arange(1, n + 1), stamps, *[np.rint(np.asarray(c) / 0.1) for c in columns]]).astype(int)


def ascii_dat(table, end="\r\n"):
    return (end.join(",".join(map(str, row)) for row in table.tolist()) + end).encode()


def binary_dat(table, code="h", n_status=0, states=None):
    """Rows as the standard has them: the first status channel is the lowest bit of the first word."""
    states = np.zeros((len(table), n_status), int) if states is None else states
    number, size = float if code == "f" else int, 2 * -(-states.shape[1] // 16)
    rows = []
    for row, bits in zip(table.tolist(), states.tolist(), strict=True):
        values = struct.pack(f"<II{len(row) - 2}{code}", *map(int, row[:2]), *map(number, row[2:]))
        rows.append(values + sum(bit << k for k, bit in enumerate(bits)).to_bytes(size, "little"))
    return b"".join(rows)


def comtrade_seeds():
    table = rows(waves())
    return [
        (cfg(), ascii_dat(table)),
        (cfg(kind="BINARY", n_status=18), binary_dat(table, "h", 18)),
        (cfg(kind="BINARY32", year="2013", last=("1", "0,0", "0,0")), binary_dat(table, "i")),
        (cfg(kind="FLOAT32", year="2013"), binary_dat(table, "f")),
        (cfg(year="", tail="", kind="BINARY", last=()), binary_dat(table)),
        (cfg(year="", tail="", last=()), ascii_dat(table)),
        (cfg(kind="BINARY", rates=("4800,40", "50,45", "4800,96")), binary_dat(table)),
        (cfg(kind="BINARY", n_rates=0, rates=("0,96",)), binary_dat(table)),
        (cfg(tail=",11000,100,S"), ascii_dat(table)),
        (cfg(channels=("母线_Ua,A,,kV",) * 3).decode().encode("gbk"), ascii_dat(table)),
        (cfg(n_status=3), ascii_dat(np.column_stack([table, table[:, :3] // 9 % 2]))),
    ]


def cff(config, data, kind="ASCII"):
    return (
        b"--- file type: CFG ---\r\n" + config + b"--- file type: INF ---\r\n\r\n--- file type: HDR ---\r\nhello\r\n"
        b"--- file type: DAT " + kind.encode() + b": " + str(len(data)).encode() + b" ---\r\n" + data
    )


def table_text(header, columns, *, rate=RATE, sep=",", decimal=".", first="", step=None):
    """A table with a time column in seconds (times `step`)."""
    n = len(columns[0])
    lines = list(header)
    for i in range(n):
        fields = [f"{i / rate * (step or 1.0):.9g}", *[f"{c[i]:.6g}" for c in columns]]
        lines.append(first + sep.join(fields).replace(".", decimal))
    return "\r\n".join(lines) + "\r\n"


def tektronix(n=96):
    """TDS shape: metadata in the three left columns, from the first line."""
    wave = waves(n)[0]
    meta = [
        ("Record Length", "9.6e+01"),
        ("Sample Interval", f"{1 / RATE:.9e}"),
        ("Trigger Point", "4.8e+01"),
        ("", ""),
        ("Source", "CH1"),
        ("Vertical Units", "V"),
        ("Vertical Scale", "5.0e+02"),
        ("Horizontal Units", "s"),
    ]
    meta += [("", "")] * (n - len(meta))
    return "".join(f"{key},{value},,{i / RATE - 0.01:.9f},{wave[i]:.5f},\n" for i, (key, value) in enumerate(meta))


def csv_seeds():
    three = waves()
    hioki = [
        '"File name","0001.MEM"',
        '"Title comment","site"',
        '"Trigger time","\'15-11-18 05:33:03.765"',
        '"CH","U1-1","U1-2"',
        '"Mode","Voltage","Voltage"',
        '"Range","1000 V","1000 V"',
        '"Time","CH1[V]","CH2[V]"',
    ]
    stamps = [f"2020-02-03 04:05:06.{round(i / RATE * 1e6):06d},{three[0][i]:.3f}" for i in range(96)]
    rigol = ["X,CH1,CH2,Start,Increment,", f"Sequence,Volt,Volt,-1.0e-02,{1 / RATE:.9e}"]
    rigol += [f"{i},{three[0][i]:.4f},{three[1][i]:.4f},,," for i in range(96)]
    return [
        table_text(["time [s],Ua [V],Ub [V],Uc [V]"], three),
        table_text(["t (ms);Ua (kV);Ub (kV)"], [w / 1000 for w in three[:2]], sep=";", decimal=",", step=1e3),
        table_text(["Time\tU1\tU2"], three[:2], sep="\t"),
        table_text(hioki, three[:2]),
        tektronix(),
        "\n".join(rigol),
        table_text(["x-axis,1,2", "second,Volt,Volt"], three[:2]),
        "time,Ua [V]\n" + "\n".join(stamps),
        "# sampling rate: 4.8 kHz\nUa,Ub\n" + "\n".join(f"{a:.4f},{b:.4f}" for a, b in zip(*three[:2], strict=True)),
    ]


def npz_members(arrays):
    """The members of an archive, by name."""
    members = {}
    for name, array in arrays.items():
        buffer = io.BytesIO()
        np.save(buffer, np.asarray(array), allow_pickle=False)
        members[f"{name}.npy"] = buffer.getvalue()
    return members


def zipped(members, compression=zipfile.ZIP_DEFLATED, level=None):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():  # without the time of day: equal members, equal bytes
            archive.writestr(zipfile.ZipInfo(name), content, compression, level)
    return buffer.getvalue()


class Watched:
    """A recording that notes which stretches are read."""

    def __init__(self, inside):
        self.inside, self.reads = inside, []

    def __getattr__(self, name):
        return getattr(self.inside, name)

    def read(self, first=0, stop=None):
        self.reads.append((first, self.inside.n_samples if stop is None else stop))
        return self.inside.read(first, stop)


def npz_seeds():
    three = waves()
    return [
        npz_members({"Ua [kV]": three[0] / 1000, "Ub": three[1], "sampling_rate": RATE, "f0": 50.0}),
        npz_members({"time": np.arange(96) / RATE, "u": np.stack(three).astype("f4")}),
        npz_members({"DATA_S7": np.rint(np.stack([waves(1000) + waves(1000)] * 2))}),
    ]
