"""Shows that the page does what it should, in real browsers. Python's standard library only.

    check_page.py [--browser chromium|firefox]… [--only WORD] [--screenshots DIRECTORY]    screenshots of failures
    check_page.py --gallery DIRECTORY                                                      a screenshot of each view instead

Chromium needs chromedriver (Debian: chromium-driver); Firefox needs nothing else. A browser that is not installed is said and left out;
--require makes that an error. Exits with 1 if a check failed.
"""

import argparse
import concurrent.futures
import itertools
import pathlib
import sys
import tempfile
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import checks_files  # noqa: E402
import checks_lists  # noqa: E402
import checks_live  # noqa: E402
import checks_numbers  # noqa: E402
import checks_parity  # noqa: E402
import checks_pointer  # noqa: E402
import checks_problems  # noqa: E402
import checks_program  # noqa: E402
import checks_server  # noqa: E402
import mock_server  # noqa: E402
from browser import Browser, BrowserError  # noqa: E402


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--browser", action="append")
    options.add_argument("--only", default="")
    options.add_argument("--screenshots")
    options.add_argument("--require", action="store_true")
    options.add_argument("--gallery")
    chosen = options.parse_args()
    checks = [check for check in checks_files.CHECKS + checks_numbers.CHECKS + checks_parity.CHECKS + checks_pointer.CHECKS + checks_live.CHECKS + checks_lists.CHECKS + checks_problems.CHECKS + checks_server.CHECKS + checks_program.CHECKS if chosen.only in check.__name__]
    if chosen.gallery:
        with tempfile.TemporaryDirectory(prefix="frametap-pages-") as folder:
            checks_files.write_pages(pathlib.Path(folder))
            return gallery(pathlib.Path(folder), chosen)
    results = [attempt(check, None, "", chosen) for check in checks if getattr(check, "without_browser", False)]
    # Browsers are mostly waited for: they run side by side, each with pages of its own.
    in_browsers = [check for check in checks if not getattr(check, "without_browser", False)]
    with concurrent.futures.ProcessPoolExecutor() as pool:
        for found in pool.map(check_in, chosen.browser or ["chromium", "firefox"], itertools.repeat(in_browsers), itertools.repeat(chosen)):
            results += found
    print(f"page: {results.count(True)} passed, {results.count(False)} failed")
    return 1 if False in results else 0


def check_in(name, checks, chosen):
    """Whether each check passed in a browser."""
    missing = Browser.missing(name)
    if missing:
        say(f"{name}: left out, {missing} is not installed")
        return [False] if chosen.require else []
    results = []
    with tempfile.TemporaryDirectory(prefix="frametap-pages-") as folder:
        checks_files.write_pages(pathlib.Path(folder))
        browser = Browser(name)
        try:
            for check in checks:
                ok = attempt(check, browser, folder, chosen)
                if browser.lost:
                    # A browser that hangs or ends says nothing about the checks after it, and maybe nothing about this one: a page
                    # that makes it hang does so again.
                    browser.close()
                    browser = Browser(name)
                    say(f"➜ {name}: started again, for the same check" if not ok else f"➜ {name}: started again")
                    ok = ok or attempt(check, browser, folder, chosen)
                results.append(ok)
        finally:
            browser.close()
    return results


def say(line):
    """Prints a line as a whole: browsers run side by side."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def gallery(folder, chosen):
    """A screenshot of each view, and of the actions of a proxy."""
    browser = Browser((chosen.browser or ["chromium"])[0])
    server, address = mock_server.serve(100_000, 10_000)
    places = {
        "overview": ("blame", "view=overview"), "connections": ("blame", "view=connections&connection=3"), "timeline": ("blame", "view=timeline"), "conversation": ("trouble", "view=conversation&connection=2"),
        "frames": ("chat", "view=frames&filter=type+%3D%3D+%22img%22"), "frame": ("tlv32", "view=frames&event=3"), "findings": ("blame", "view=findings"), "roundtrips": ("redis", "view=roundtrips"),
    }
    try:
        for name, (page, place) in places.items():
            for kind, theme, size in [("", "light", (1280, 800)), ("-dark", "dark", (1280, 800)), ("-420", "light", (420, 800))]:
                browser.size(*size)
                checks_files.show(browser, folder, page, f"{place}&theme={theme}")
                time.sleep(0.5)
                browser.screenshot(f"{chosen.gallery}/{name}{kind}.png")
        browser.size(1280, 800)
        for name, place in {"live": "view=frames&follow=1", "actions": "view=actions"}.items():
            checks_server.at(browser, address, place)
            time.sleep(1)
            browser.screenshot(f"{chosen.gallery}/{name}.png")
    finally:
        browser.close()
        server.shutdown()
    return 0


def attempt(check, browser, folder, chosen):
    name = f"{browser.name + ': ' if browser else ''}{check.__name__.replace('_', ' ')}"
    began = time.monotonic()
    try:
        if browser:
            browser.events.clear()
            browser.size(1280, 800)
        note = check(browser, pathlib.Path(folder))
        if browser:
            assert browser.errors() == [], browser.errors()
        say(f"✔ {name} ({time.monotonic() - began:.1f} s){': ' + note if isinstance(note, str) else ''}")
        return True
    except Exception as error:  # noqa: BLE001: every failure is reported, and the rest goes on
        unexpected = "" if isinstance(error, (AssertionError, BrowserError)) else "\n" + traceback.format_exc()
        say(f"✘ {name}: {error}{unexpected}")
        if browser and chosen.screenshots:
            try:
                browser.screenshot(f"{chosen.screenshots}/{browser.name}-{check.__name__}.png")
            except (OSError, BrowserError):
                pass
        return False


if __name__ == "__main__":
    sys.exit(main())
