#!/usr/bin/env python3
"""Takes a chart out of a page that --report wrote, as a picture of its own: the wide drawing of the figure with this caption,
with the page's style.

    tessera ssb load --sf 1 --db ssb1
    tessera ssb compare --db ssb1 --device cpu --codec plain,auto --repeat 301 --report page.html
    python3 docs/pictures/chart.py page.html "Runtime of each query" >docs/pictures/queries.svg
"""
import re
import sys


def rules_of(page, drawing):
    """The page's rules for drawings, with colours instead of variables, which not all viewers of pictures know."""
    style = re.search(r"<style>(.*?)</style>", page, re.S).group(1).partition("@media")[0]
    colours = dict(re.findall(r"(--\w+):(#\w+)", re.search(r":root{.*?}", style).group()))
    series = re.findall(r"\.(s\d+){--c:(#\w+)}", style)
    for rule in re.findall(r"(?m)^svg.*$", style):
        rule = re.sub(r"var\((--\w+)\)", lambda match: colours.get(match.group(1), match.group()), rule)
        if "var(--c)" not in rule:
            yield rule
            continue
        for name, colour in series:
            if 'class="%s' % name in drawing:
                yield rule.replace("svg ", ".%s " % name, 1).replace("var(--c)", colour)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        page = file.read()
    found = re.search(r"<figcaption>%s</figcaption>.*?(<svg.*?</svg>)" % re.escape(sys.argv[2]), page, re.S)
    if not found:
        sys.exit("%s has no figure '%s', but: %s" % (sys.argv[1], sys.argv[2],
                                                    ", ".join(re.findall("<figcaption>(.*?)</figcaption>", page))))
    head, rest = found.group(1).split(">", 1)
    width, height = re.search(r'viewBox="0 0 (\S+) (\S+)"', head).groups()
    head = re.sub(r' style="[^"]*"', "", head) + ' width="%s" height="%s" font-family="sans-serif"' % (width, height)
    print("%s>\n<style>\n%s\n</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>%s" % (
        head, "\n".join(rules_of(page, rest)), rest))


main()
