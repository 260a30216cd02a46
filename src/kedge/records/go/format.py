"""The record format of Go."""

from kedge.records.formats import RecordFormat
from kedge.records.go.files import holds_go, read_go_games
from kedge.records.go.folders import record_files
from kedge.records.go.positions import legal_games
from kedge.records.go.sgf import write_sgf_file

GO = RecordFormat(
    read=legal_games,
    read_for_prediction=read_go_games,
    sniff=holds_go,
    files="SGF, folders and archives of SGF, or tables",
    write=write_sgf_file,
    files_in=record_files,
)
