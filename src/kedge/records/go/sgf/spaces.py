"""White space in the values of SGF."""

import re

_LINE_END = r"(?:\r\n|\n\r|\n|\r)"
#: A line end that the writer of a file added; it is not part of the text.
ESCAPED_BREAK = re.compile(rf"\\{_LINE_END}")
#: White space that becomes a space in values of one line.
SPACE = re.compile(rf"{_LINE_END}|[\t\v\f]")
