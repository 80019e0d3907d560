"""Pages opened in Chromium, for tests of what their script does.

Skipped where there is no Chromium; where WARPGAUGE_TEST_PACKAGES names it, as ci/test does in CI,
it has to be there.
"""

import contextlib
import json
import os
import shutil
import time

import pytest
from page_samples import RUNS, build, render
from selenium import webdriver
from selenium.common.exceptions import (
    ElementNotInteractableException,
    NoSuchElementException,
    StaleElementReferenceException,
)
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
# What a page that is being drawn answers, also on a machine with much else to do.
NOT_YET = (ElementNotInteractableException, NoSuchElementException, StaleElementReferenceException)
PATIENCE = 60  # seconds


def wait_for(condition, seconds=PATIENCE):
    """What the condition gives, once it is true."""
    end = time.monotonic() + seconds
    while True:
        with contextlib.suppress(*NOT_YET):
            if found := condition():
                return found
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)


class Finder:
    """Waits for elements, and finds elements that know how to be found again."""

    def find_element(self, by, value):
        element = wait_for(lambda: super(Finder, self).find_element(by, value))
        element.find_again = lambda: super(Finder, self).find_element(by, value)
        return element

    def find_elements(self, by, value):
        found = super().find_elements(by, value)
        for i, element in enumerate(found):
            element.find_again = lambda i=i: super(Finder, self).find_elements(by, value)[i]
        return found


class Element(Finder, WebElement):
    """An element that is found again when the page has drawn it anew."""

    def _patiently(self, ask):
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return ask()
            except NOT_YET:
                if time.monotonic() > end:
                    raise
            time.sleep(0.02)
            with contextlib.suppress(IndexError, *NOT_YET):
                self._id = self.find_again().id

    def _execute(self, command, params=None):
        return self._patiently(lambda: super(Element, self)._execute(command, params))

    def is_displayed(self):
        return self._patiently(super().is_displayed)

    def get_attribute(self, name):
        return self._patiently(lambda: super(Element, self).get_attribute(name))


class Browser(Finder, webdriver.Chrome):
    _web_element_cls = Element


@pytest.fixture(scope="module")
def chromium():
    asked_for = "chromium" in os.environ.get("WARPGAUGE_TEST_PACKAGES", "")
    if not (CHROMIUM and DRIVER) and not asked_for:
        pytest.skip("needs the packages chromium and chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in (
        *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
        *("--window-size=1280,1000", "--host-resolver-rules=MAP * ~NOTFOUND"),
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = Browser(options=options, service=Service(DRIVER))
    yield browser
    browser.quit()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("site") / "index.html"
    path.write_text(render(build()), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def page(chromium, address):
    """The page, just opened; at the end nothing was complained of and nothing asked for."""
    chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    chromium.get("about:blank")
    for kind in ("browser", "performance"):
        chromium.get_log(kind)
    chromium.get(address)
    yield chromium
    assert [entry["message"] for entry in chromium.get_log("browser")] == []
    messages = [
        json.loads(entry["message"])["message"] for entry in chromium.get_log("performance")
    ]
    asked = {
        message["params"]["request"]["url"].split("#")[0]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    }
    assert {url for url in asked if not url.startswith("data:")} <= {address}


def opened(browser, folder, series, runs=RUNS):
    """A page of these series alone."""
    path = folder / "index.html"
    path.write_text(render(build(series, runs)), encoding="utf-8")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.get(path.as_uri())


def tab(page, name):
    """Shows a part of the page."""
    link = page.find_element(By.CSS_SELECTOR, f'nav a[href="#{name}"]')
    link.click()
    wait_for(lambda: link.get_attribute("aria-current"))


def shown(page, selector):
    """The elements that can be seen, all at one moment."""
    while True:
        with contextlib.suppress(StaleElementReferenceException):
            found = page.find_elements(By.CSS_SELECTOR, selector)
            return [element for element in found if WebElement.is_displayed(element)]


def search(page, text):
    """Types a text, and waits until the page has searched for all of the field's."""
    field = page.find_element(By.NAME, "text")
    field.send_keys(text)
    script = "return new URLSearchParams(location.hash.slice(1)).get('q') === arguments[0].value"
    wait_for(lambda: page.execute_script(script, field))


def every(page):
    """The text of each row, all at one moment."""
    script = "return [...document.querySelectorAll('#every-table tbody tr')].map(r => r.innerText)"
    return page.execute_script(script)
