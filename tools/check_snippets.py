#!/usr/bin/env python3
"""Checks that code shown in the documentation is code that is compiled: exits with 1 and names each page.

A block of code in a page belongs to the comment right before it: <!-- FILE --> shows the whole file,
<!-- FILE: NAME --> the lines between // [NAME] and // [/NAME] in it. With --write the pages are brought
up to date instead.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SNIPPET = re.compile(r"(<!-- ([\w/.]+)(?:: (\w+))? -->\n```\w*\n)(.*?)(```\n)", re.DOTALL)


def source(path, name):
    text = (ROOT / path).read_text()
    if not name:
        return text
    region = re.search(rf"^// \[{name}\]\n(.*?)^// \[/{name}\]\n", text, re.DOTALL | re.MULTILINE)
    if not region:
        sys.exit(f"{path} has no region [{name}]")
    return region.group(1)


def main():
    pages = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))]
    wrong, count = [], 0
    for page in pages:
        text = page.read_text()
        count += len(SNIPPET.findall(text))
        right = SNIPPET.sub(lambda m: m[1] + source(m[2], m[3]) + m[5], text)
        if right != text and "--write" in sys.argv:
            page.write_text(right)
        elif right != text:
            wrong.append(f"{page.relative_to(ROOT)}: a snippet differs from its source; run tools/check_snippets.py --write")
    print("\n".join(wrong) or f"snippets: ok ({count} in {len(pages)} pages)")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
