"""What is taken out of an archive that comes from elsewhere."""

from __future__ import annotations

import gzip
import platform
import shutil
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Final

from probes.corpora.line_reader import CorpusError

UNPACKED_LIMIT: Final = 4 << 30
"Bytes that may come out of an archive."

CHUNK: Final = 1 << 20


def extract(archive: Path, folder: Path, wanted: Callable[[str], bool]) -> list[Path]:
    """Write the files at the top of a .tar.gz archive's one folder whose names are `wanted` into `folder`; return them.

    Raises CorpusError, before anything is written, for an archive that cannot be read, that has a member with a path
    outside of it (absolute, or by ..) or a link that leads out, a device, or a link under a wanted name, or that would
    fill more than UNPACKED_LIMIT bytes; and where this Python cannot check that.
    """
    if not hasattr(tarfile, "data_filter"):  # of Python 3.11.4
        raise CorpusError(
            f"{archive.name}: Python {platform.python_version()} cannot check whether an archive is safe: take 3.11.4 "
            "or newer, or unpack it by hand and name the files by their paths"
        )
    try:
        _check_whole(archive)
        with tarfile.open(archive, "r:gz") as opened:
            members = _checked(opened, archive, folder)
            taken = [one for one in members if len(_parts(one)) == 2 and wanted(_parts(one)[1])]
            if links := [one.name for one in taken if not one.isfile()]:
                raise CorpusError(f"{archive.name}: {links[0]!r} in the archive is not a plain file")
            return [_write(opened, one, folder / _parts(one)[1]) for one in taken]
    except (tarfile.ReadError, tarfile.StreamError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise CorpusError(f"{archive.name}: not a whole tar.gz archive ({error})") from error


def _check_whole(archive: Path) -> None:
    """Unpack to nowhere, up to the checksum at the end, which tarfile does not read."""
    total = 0
    with gzip.open(archive) as stream:
        while chunk := stream.read(CHUNK):
            if (total := total + len(chunk)) > UNPACKED_LIMIT:
                raise CorpusError(f"{archive.name}: more than {UNPACKED_LIMIT:,} bytes would come out of it")


def _parts(member: tarfile.TarInfo) -> tuple[str, ...]:
    return PurePosixPath(member.name).parts


def _checked(opened: tarfile.TarFile, archive: Path, folder: Path) -> list[tarfile.TarInfo]:
    members = opened.getmembers()
    for member in members:
        try:
            safe = tarfile.data_filter(member, str(folder.resolve()))
        except tarfile.FilterError as error:
            raise CorpusError(f"{archive.name}: unsafe archive: {error}") from error
        if safe.name != member.name:  # the filter takes a leading slash away
            raise CorpusError(f"{archive.name}: unsafe archive: {member.name!r} has an absolute path")
    return members


def _write(opened: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> Path:
    content = opened.extractfile(member)
    assert content is not None
    with path.open("wb") as file:
        shutil.copyfileobj(content, file)
    return path
