"""The command ``kedge``, also ``python -m kedge``."""

import gc
import sys


def main() -> None:
    gc.set_threshold(20_000)  # imports make few cycles, and looking for them took 5 % of a command
    try:
        from kedge.interfaces.cli import main as run
    except KeyboardInterrupt:  # while Python is still importing
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
