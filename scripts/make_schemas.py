"""Write the JSON schemas of all documents from their types: run after changing one, and commit the result."""

from __future__ import annotations

from pathlib import Path

import msgspec

from worldodds.interop.audit_json import AuditDocument
from worldodds.interop.certificate_json import CertificateDocument
from worldodds.interop.doctor_json import DoctorDocument
from worldodds.interop.documents import CompareDocument, MonitorDocument, PlanDocument
from worldodds.interop.exam_json import ExamDocument
from worldodds.interop.families_json import CrosscheckDocument, FamiliesDocument
from worldodds.interop.money_json import DryRunDocument
from worldodds.interop.score_json import ScoreDocument
from worldodds.interop.status_json import StatusDocument
from worldodds.interop.tracks_document import TracksDocument
from worldodds.interop.worlds_json import WorldsCheckDocument, WorldsClosureDocument

FOLDER = Path(__file__).parent.parent / "src" / "worldodds" / "schemas"
DOCUMENTS = {
    "score": ScoreDocument,
    "plan": PlanDocument,
    "dry_run": DryRunDocument,
    "compare": CompareDocument,
    "monitor": MonitorDocument,
    "audit": AuditDocument,
    "tracks": TracksDocument,
    "families": FamiliesDocument,
    "crosscheck": CrosscheckDocument,
    "worlds_check": WorldsCheckDocument,
    "worlds_closure": WorldsClosureDocument,
    "exam": ExamDocument,
    "certificate": CertificateDocument,
    "doctor": DoctorDocument,
    "status": StatusDocument,
}


def schemas() -> dict[str, str]:
    """Return the text of every schema by file name."""
    return {
        f"{name}-1.json": msgspec.json.format(msgspec.json.encode(msgspec.json.schema(shape)), indent=2).decode() + "\n"
        for name, shape in DOCUMENTS.items()
    }


if __name__ == "__main__":
    for name, text in schemas().items():
        (FOLDER / name).write_text(text)
        print(FOLDER / name)
