#!/usr/bin/env python3
"""Every link of a page of this repository leads somewhere: its file is there, and has the heading that it names. Every
page is reached from README.md, whose example is the guide's, which test_guide runs. What the Dockerfiles name is what
the build has.

    python3 tests/test_documents.py
"""

import os
import re
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
FOLDERS = ("docs", "cmake", "engine")


def pages():
    """The Markdown files, by their paths below ROOT."""
    found = [name for name in os.listdir(ROOT) if name.endswith(".md")]
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(ROOT, folder)):
            found += [os.path.relpath(os.path.join(path, name), ROOT) for name in names if name.endswith(".md")]
    return sorted(found)


def text_of(page):
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        return file.read()


def without_code(text):
    """Indented blocks, fences and code in a line have no links."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    text = re.sub(r"(?m)(?<=\n\n)(?: {4}.*\n|\n)+", "\n", text)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(text):
    """GitHub's names of headings: lower case, no punctuation, hyphens for blanks; repeated ones are numbered."""
    names = set()
    for heading in re.findall(r"(?m)^#+ +(.*?) *$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)):
        name = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", name).replace(" ", "-")
        number = 0
        while name + (f"-{number}" if number else "") in names:
            number += 1
        names.add(name + (f"-{number}" if number else ""))
    return names


def links(text):
    """Pairs of a file, empty for the page itself, and an anchor, of links that do not leave the repository."""
    for target in re.findall(r"\[[^]]*\]\(([^)\s]+)\)", without_code(text)):
        if not re.match(r"[a-z]+:", target):
            yield target.partition("#")[0], target.partition("#")[2]


class Documents(unittest.TestCase):
    def test_anchors_are_named_as_github_does(self):
        self.assertEqual(anchors("# A `b.c`, (d)\n## [E f](x.md)\n## E f\n"), {"a-bc-d", "e-f", "e-f-1"})

    def test_code_has_no_links(self):
        self.assertEqual(list(links("x `[a](b)` [c\nd](e.md#f)\n\n    [g](h)\n\n[i](https://j)\n")), [("e.md", "f")])

    def test_links_lead_somewhere(self):
        wrong = []
        for page in pages():
            for file, anchor in links(text_of(page)):
                path = os.path.normpath(os.path.join(os.path.dirname(page), file)) if file else page
                if not os.path.exists(os.path.join(ROOT, path)):
                    wrong.append(f"{page}: {file} is not there")
                elif anchor and path.endswith(".md") and anchor not in anchors(text_of(path)):
                    wrong.append(f"{page}: {path} has no heading #{anchor}")
        self.assertEqual(wrong, [])

    def test_every_page_is_reached(self):
        reached, waiting = set(), ["README.md"]
        while waiting:
            page = waiting.pop()
            if page in reached:
                continue
            reached.add(page)
            for file, _ in links(text_of(page)):
                path = os.path.normpath(os.path.join(os.path.dirname(page), file)) if file else page
                if path.endswith(".md") and os.path.exists(os.path.join(ROOT, path)):
                    waiting.append(path)
        self.assertEqual(sorted(set(pages()) - reached), [])

    def test_the_example_is_the_guides(self):
        text, guide = text_of("README.md"), text_of("docs/guide.md")
        blocks = [block for block in text.split("\n\n") if block.startswith("    ")]
        self.assertTrue(blocks[0].startswith("    tessera sql "))
        for block in blocks[:2]:  # the command, its answer
            self.assertIn(block, guide)

    def test_the_glossary_is_in_order(self):
        words = re.findall(r"(?m)^## (.*)$", text_of("docs/glossary.md"))
        self.assertEqual(words, sorted(words, key=str.lower))
        self.assertGreater(len(words), 25)

    def test_dockerfiles_name_what_the_build_has(self):
        """Docker is not here: so that a renamed target, option or package is noticed."""
        build = "".join(map(text_of, ("CMakeLists.txt", "cmake/TesseraInstall.cmake", "cmake/TesseraPackages.cmake")))
        version = re.search(r"TESSERA_API_VERSION (\d+)", text_of("engine/library/tessera.h")).group(1)
        packages = set(re.findall(r"tessera_component\(\w+ (\S+)", build)) | {"libtessera" + version}
        for file in ("cmake/docker/Dockerfile", "cmake/docker/Dockerfile.cuda"):
            text = text_of(file)
            for option in re.findall(r"-D(TESSERA_\w+)", text):
                self.assertRegex(build, rf"(set|option)\({option} ", file)
            for target in re.findall(r"--target (\w+)", text):
                self.assertRegex(build, rf"add_\w+\({target} ", file)
            found = re.findall(r"/build/([\w-]+)_\*\.deb", text)
            self.assertEqual(set(found) - packages, set(), file)
            self.assertEqual(len(found), 4, file)
            self.assertTrue(os.access(os.path.join(ROOT, re.search(r"RUN (cmake/\S+)", text).group(1)), os.X_OK))


if __name__ == "__main__":
    unittest.main()
