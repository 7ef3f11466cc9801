"""Run all tests of the shop: `python run_tests.py`, from any folder.

The same tests as `python -m unittest` runs, without the times, so that two runs print the same.
"""

import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main():
    suite = unittest.TestLoader().discover(str(HERE), top_level_dir=str(HERE))
    result = unittest.TestResult()
    suite.run(result)
    failures = result.failures + result.errors
    for test, trace in failures:
        print(f"FAILED {test.id()}\n{trace}")
    print(f"{result.testsRun} tests, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
