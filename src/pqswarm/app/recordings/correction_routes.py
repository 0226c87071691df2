"""Route for corrections."""

from pathlib import Path
from typing import Any

from pqswarm._base.checks import is_integer
from pqswarm.app.handlers import Base, HTTPRefusal, Missing
from pqswarm.app.recordings.files import RecordingInFile, upload_folder_name
from pqswarm.app.recordings.routes import RecordingHandler
from pqswarm.identify import possible_labels
from pqswarm.identify.show.lines import json_text
from pqswarm.identify.training.corrections import Correction

_LISTED = ("source", "label", "by", "at", "note")


class CorrectionHandler(RecordingHandler):
    """Lists and stores corrections."""

    async def get(self) -> None:
        """List the corrections in force."""
        found = await self.work(self.section.corrections.visible_to, upload_folder_name(self.visitor))
        owner_of = self.section.corrections.owner_of
        listed = [
            {
                "path": f"uploads/{Path(one.path).name}" if owner_of(Path(one.path)) else one.path,
                **{name: getattr(one, name) for name in _LISTED},
                "kind": one.found.event.kind,
                "start": one.found.event.start,
                "channels": one.found.event.channels,
                "said": one.found.label,
                "rule": one.found.rule,
            }
            for one in found
        ]
        self.send_json_text(json_text({"file": self.workbench.corrections.name, "corrections": listed}))

    async def post(self) -> None:
        """Append a correction."""
        given = self.read_json()
        name, index = given.get("recording"), given.get("event")
        texts = [given.get(key, "") for key in ("label", "by", "note")]
        if not isinstance(name, str) or not is_integer(index):
            raise HTTPRefusal("A correction needs a recording and the number of an event.", 400)
        if not all(isinstance(text, str) for text in texts):
            raise HTTPRefusal("label, by and note must be strings.", 400)
        label, by, note = texts
        if not by.strip():
            raise HTTPRefusal("Enter your name: corrections are signed.", 400)
        place = await self.find(name)
        correction = await self.work(self._add, place, index, label, by.strip(), note)
        message = {"about": "recordings", "id": place.id, "state": "corrected", "event": index}
        self.workbench.publish(message | {"correction": correction}, place.file.visitor or None)
        self.send_json({"correction": correction})

    def _add(self, place: RecordingInFile, index: int, label: str, by: str, note: str) -> dict[str, Any] | None:
        section = self.section
        file, found = section.queue.analysis(place.file), section.analysis(place)
        verdict = None if found is None else found.verdict
        if file is None or verdict is None or not 0 <= index < len(verdict.events):
            raise Missing("There is no such event, or the recording has not been analysed yet.")
        event = verdict.events[index]
        if label and label not in possible_labels(verdict, event):
            raise HTTPRefusal("That class contradicts the measurements.", 400)
        path = place.file.path
        section.corrections.file.add(Correction.of(verdict, event, label, by, note, path=path, digest=file.digest))
        return section.correction_of(place, event, section.corrections.read_or_none())


ROUTES: list[tuple[str, type[Base]]] = [(r"/api/corrections", CorrectionHandler)]
