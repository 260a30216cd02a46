"""The command ``kedge``, also ``python -m kedge``."""

import sys


def main() -> None:
    try:
        from kedge.interfaces.cli import main as run
    except KeyboardInterrupt:  # while Python is still importing
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
