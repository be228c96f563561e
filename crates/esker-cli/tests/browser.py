"""Drives the viewer in Chromium: browser.py CASE ADDRESS [ARGUMENT ...]. Ends with an error where the page does not do what
it should; prints what a case found as JSON."""

import base64
import json
import os
import shutil
import sys
import time
from urllib.parse import urlparse

from playwright.sync_api import sync_playwright

CHROMIUM = os.environ.get("ESKER_CHROMIUM") or shutil.which("chromium")
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]


class Page:
    """A page that complains about its own errors and about anything that leaves this machine."""

    def __init__(self, browser, address, width=1280, height=720, scheme="light", expect_errors=False):
        self.complaints = []
        self.expect_errors = expect_errors
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        self.page = context.new_page()
        self.page.on("console", self.console)
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("request", self.request)
        self.begin = time.monotonic()
        self.page.goto(address)
        self.page.evaluate("esker.ready.then(() => true)")
        self.seconds = time.monotonic() - self.begin

    def console(self, message):
        if message.type in ("error", "warning") and not self.expect_errors:
            self.complaints.append(f"{message.type}: {message.text}")

    def request(self, request):
        address = urlparse(request.url)
        if address.scheme in ("data", "blob", "file"):
            return
        if address.scheme != "http" or address.hostname != "127.0.0.1":
            self.complaints.append(f"asked for {request.url}")

    def ask(self, script, argument=None):
        return self.page.evaluate(script, argument)

    def until(self, script, seconds=20):
        """Waits; asks from outside, since the page allows no scripts but its own."""
        end = time.monotonic() + seconds
        while not self.ask(script):
            assert time.monotonic() < end, f"in vain: {script}"
            self.page.wait_for_timeout(50)

    def statistics(self):
        """Share of the canvas that is not background, and the mean colour of that."""
        return self.ask(
            """() => {
              const { width, height, data } = esker.pixels();
              const back = [data[0], data[1], data[2]];
              let count = 0; const sum = [0, 0, 0];
              for (let k = 0; k < data.length; k += 4) {
                const off = Math.abs(data[k] - back[0]) + Math.abs(data[k + 1] - back[1]) + Math.abs(data[k + 2] - back[2]);
                if (off > 24) { count++; for (let c = 0; c < 3; c++) sum[c] += data[k + c]; }
              }
              return { width, height, back, share: count / (width * height), mean: sum.map((s) => s / Math.max(count, 1)) };
            }"""
        )

    def done(self):
        assert not self.complaints, self.complaints
        self.page.context.close()


def a_grain(page):
    """A place on the canvas, in pixels of the page, where a grain can be picked."""
    box = page.page.locator("#view").bounding_box()
    for row in range(1, 24):
        for column in range(1, 32):
            x, y = box["width"] * column / 32, box["height"] * row / 24
            found = page.ask("([x, y]) => esker.pick(x, y)", [x, y])
            if found:
                page.page.keyboard.press("Escape")
                return box["x"] + x, box["y"] + y, found
    raise AssertionError("no grain can be picked")


def works(browser, address):
    """Canvas, slider, colouring, picking, cut, screenshot."""
    page = Page(browser, address)
    frames = page.ask("esker.frames()")
    assert frames >= 3, frames
    page.ask(f"esker.show({frames - 1})")
    whole = page.statistics()
    assert whole["share"] > 0.03, f"the canvas is blank: {whole}"

    slider = page.page.locator("#slider")
    slider.focus()
    slider.press("Home")
    page.until("esker.frame() === 0")
    first = page.statistics()
    assert first != whole, "the slider changes nothing"
    slider.press("ArrowRight")
    page.until("esker.frame() === 1")
    page.page.locator("#last").click()
    page.until(f"esker.frame() === {frames - 1}")

    fields = page.ask("esker.fields()")
    for name in ("|velocity|", "coordination", "radius", "material", "layer of origin"):
        assert name in fields, (name, fields)
    seen = set()
    for name in ("|velocity|", "coordination", "layer of origin"):
        page.page.locator("#colour").select_option(name)
        page.page.wait_for_timeout(300)
        seen.add(tuple(page.statistics()["mean"]))
    assert len(seen) == 3, "colouring changes nothing"

    # Numbers of one grain on its card, and away with it.
    x, y, found = a_grain(page)
    page.page.mouse.click(x, y)
    page.page.wait_for_selector("#card:not([hidden])")
    card = page.page.locator("#card").inner_text()
    assert str(found["id"]) in card and "radius" in card, card
    page.page.keyboard.press("Escape")
    page.page.wait_for_selector("#card", state="hidden")

    before = page.ask("esker.stats().drawn")
    page.page.locator("#clip-axis").select_option("x")
    page.page.wait_for_timeout(300)
    after = page.ask("esker.stats().drawn")
    assert 0 < after < before, (before, after)
    page.page.locator("#clip-axis").select_option("")

    shot = page.ask(
        """() => esker.screenshot().then(async (blob) => {
          const bytes = new Uint8Array(await blob.arrayBuffer());
          return [...bytes.subarray(0, 8), bytes.length];
        })"""
    )
    assert bytes(shot[:8]) == b"\x89PNG\r\n\x1a\n" and shot[8] > 5000, shot
    with page.page.expect_download() as download:
        page.page.locator("#picture").click()
    assert download.value.suggested_filename.endswith(".png")

    # Plots, and the cursor that seeks.
    page.page.keyboard.press("p")
    page.page.wait_for_selector("#plots:not([hidden])")
    page.page.keyboard.press("p")

    # All controls have a name that can be read out.
    nameless = page.ask(
        """() => [...document.querySelectorAll("button, input, select")].filter((e) =>
          !(e.labels?.length || e.getAttribute("aria-label") || e.textContent.trim())).map((e) => e.outerHTML)"""
    )
    assert not nameless, nameless
    seconds = page.seconds
    page.done()
    return {"frames": frames, "share": whole["share"], "seconds_to_first_frame": seconds}


def narrow(browser, address):
    """Nothing sticks out at 360 px, light or dark."""
    for scheme in ("light", "dark"):
        page = Page(browser, address, 360, 740, scheme)
        wide = page.ask("document.documentElement.scrollWidth")
        assert wide <= 360, f"{wide} px wide"
        assert page.ask("document.documentElement.dataset.theme") == scheme
        box = page.page.locator("#view").bounding_box()
        assert box["height"] > 250 and box["width"] > 300, box
        page.done()
    return {}


def live(browser, address):
    """New frames appear while the run goes on."""
    page = Page(browser, address)
    first = page.ask("esker.frames()")
    page.page.wait_for_selector("#live", state="visible", timeout=5_000)
    page.until(f"esker.frames() > {first}", 60)
    page.until("esker.frame() === esker.frames() - 1")
    page.done()
    return {"first": first}


def complains(browser, address, text):
    """The page tells what is wrong."""
    page = Page(browser, address, expect_errors=True)
    page.page.wait_for_selector("#alert:not([hidden])", timeout=10_000)
    told = page.page.locator("#alert").inner_text()
    assert text in told, told
    page.done()
    return {"told": told}


def looks(browser, address, colour, file):
    """The last frame seen from the front without perspective and walls, written as a picture."""
    page = Page(browser, address)
    page.ask("esker.set({ walls: false, contacts: false })")
    page.ask("esker.show(esker.frames() - 1)")
    page.ask("(name) => esker.colourBy(name)", colour)
    page.ask("esker.orthographic(true)")
    page.ask("esker.view('front')")
    data = page.ask(
        """() => { const { width, height, data } = esker.pixels();
          const canvas = new OffscreenCanvas(width, height);
          canvas.getContext("2d").putImageData(new ImageData(data, width, height), 0, 0);
          return canvas.convertToBlob().then(async (b) => {
            let text = ""; for (const byte of new Uint8Array(await b.arrayBuffer())) text += String.fromCharCode(byte);
            return btoa(text); }); }"""
    )
    with open(file, "wb") as out:
        out.write(base64.b64decode(data))
    page.done()
    return {}


def main():
    case, address, *rest = sys.argv[1:]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        found = {"works": works, "narrow": narrow, "live": live, "complains": complains, "looks": looks}[case](
            browser, address, *rest
        )
        browser.close()
    print(json.dumps(found))


main()
