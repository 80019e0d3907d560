"""Reads a page that `explain --html` wrote."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """The cells of each row, by id of the case in the heading above; attributes; text; and what is
    folded, by its summary."""

    def __init__(self, path):
        super().__init__()
        self.rows, self.words, self.attributes, self.images = {}, [], [], []
        self.folded, self._summary = {}, ""
        self._section, self._in = None, None
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        self.attributes += attributes
        self._in = tag
        if tag == "details":
            assert attributes == [], "closed"
        elif tag == "tr":
            self.rows.setdefault(self._section, []).append([])
        elif tag in ("td", "th"):
            self.rows[self._section][-1].append("")
        elif tag == "img":
            self.images.append(dict(attributes))

    def handle_data(self, data):
        self.words.append(data)
        if self._in == "h2" and data.strip():
            self._section = data
        elif self._in == "summary" and data.strip():
            self._summary = data
        elif self._in == "pre" and data.strip():
            self.folded.setdefault((self._section, self._summary), []).append(data)
        elif self._in in ("td", "th", "wbr") and data.strip():
            self.rows[self._section][-1][-1] += data.replace("\u200b", "")

    def counts(self, case, place):
        """By metric, of the line FILE:LINE."""
        head = next(row for row in self.rows[case] if row[0] == "Line")
        number = place.split(":")[1]
        row = next(row for row in self.rows[case] if row[0].removeprefix("▶ ") == number)
        return dict(zip(head, row, strict=True))
