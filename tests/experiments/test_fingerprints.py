"""What tells an experiment's files apart."""

import os
import shutil

import pytest

from kedge.errors import InputError
from kedge.experiments.fingerprints import file_hashes, record_hashes


def test_a_file_is_its_content_whenever_it_was_written(tmp_path):
    file = tmp_path / "games.pgn"
    file.write_text("1. e4 *")
    before = file_hashes([file])
    shutil.copyfile(file, tmp_path / "copy.pgn")
    os.utime(file, (0, 0))
    assert file_hashes([file]) == before
    assert file_hashes([tmp_path / "copy.pgn"]) == before
    file.write_text("1. d4 *")
    assert file_hashes([file]) != before


def test_a_folder_is_its_files(tmp_path):
    (tmp_path / "games" / "old").mkdir(parents=True)
    (tmp_path / "games" / "b.sgf").write_text("(;B[dd])")
    (tmp_path / "games" / "old" / "a.sgf").write_text("(;B[pp])")
    (tmp_path / "games" / "notes.txt").write_text("no game")
    before = record_hashes([tmp_path / "games"], "go")
    assert len(before) == 2
    shutil.copytree(tmp_path / "games", tmp_path / "copy")
    assert record_hashes([tmp_path / "copy"], "go") == before
    (tmp_path / "games" / "old" / "a.sgf").write_text("(;B[pd])")
    assert record_hashes([tmp_path / "games"], "go") != before
    with pytest.raises(InputError, match="Is a directory"):  # chess reads no folders
        record_hashes([tmp_path / "games"], "chess")


def test_a_file_that_is_missing_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nothing\.pgn: No such file"):
        file_hashes([tmp_path / "nothing.pgn"])
