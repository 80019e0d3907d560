"""Static archives, as `ar` makes them."""


def archive(*members):
    """A static archive of files: (name, bytes)."""
    parts = [b"!<arch>\n"]
    for name, content in members:
        head = f"{name + '/':<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(content):<10}`\n"
        parts += [head.encode(), content, b"\n" * (len(content) % 2)]
    return b"".join(parts)
