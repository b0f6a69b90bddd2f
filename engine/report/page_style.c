/*
 * page_style.c: the style sheet of pages.
 *
 * Series have eight colours. They were chosen so that each has a contrast of about 3 to 1 or more to the page,
 * and so that any two differ for people with protanopia and deuteranopia too, mostly in lightness; marks differ
 * in shape besides. Paper is light.
 */
#include "engine/report/page_parts.h"

#define LIGHT                                                                                     \
    "--paper:#ffffff;--ink:#1b1f24;--soft:#59636e;--rule:#d5dae0;--grid:#e6e9ed;--band:#f6f7f9;"  \
    "--c0:#1b5fc1;--c1:#dd6a10;--c2:#17946f;--c3:#6d2077;--c4:#6a4a2f;--c5:#3b9ede;--c6:#857200;" \
    "--c7:#d0578f;"
#define DARK                                                                                      \
    "--paper:#14171b;--ink:#e6e9ed;--soft:#9ba5b0;--rule:#3a424b;--grid:#272d34;--band:#1b1f25;"  \
    "--c0:#6aa8ff;--c1:#f0883e;--c2:#3fd6a4;--c3:#c06ad0;--c4:#b39274;--c5:#8fdcff;--c6:#e8cf5a;" \
    "--c7:#f59ac0;"

const char page_style[] =
    "\n:root{color-scheme:light dark;" LIGHT "}\n"
    "@media (prefers-color-scheme:dark){:root{" DARK "}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,'Segoe UI',"
    "Roboto,'Helvetica Neue',Arial,sans-serif}\n"
    "main{max-width:1064px;margin:0 auto;padding:32px 32px 64px}\n"
    "h1{font-size:26px;line-height:1.25;margin:0 0 16px;overflow-wrap:anywhere}\n"
    "h2{font-size:20px;line-height:1.3;margin:48px 0 8px;padding-top:16px;border-top:1px solid var(--rule);"
    "overflow-wrap:anywhere}\n"
    "p{margin:8px 0;max-width:72ch;overflow-wrap:anywhere}\n"
    "dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:3px 20px;margin:0;font-size:14px}\n"
    "dt{color:var(--soft)}\n"
    "dd{margin:0;overflow-wrap:anywhere}\n"
    "code{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}\n"

    "pre code{line-height:1.3}\n"
    "pre{margin:12px 0;padding:10px 12px;background:var(--band);border:1px solid var(--rule)}\n"

    /* Tables: figures in columns of equal digits; a wide one scrolls beside its first column. */
    ".scroll{overflow-x:auto;max-width:100%}\n"
    "table{border-collapse:separate;border-spacing:0;font-size:13.5px;line-height:1.4;margin:16px 0;"
    "font-variant-numeric:tabular-nums}\n"
    "caption{text-align:left;padding-bottom:6px;color:var(--soft)}\n"
    "th,td{text-align:right;padding:3px 8px;white-space:nowrap}\n"
    "th{font-weight:600;vertical-align:bottom}\n"
    "thead tr:last-child th{border-bottom:1px solid var(--soft)}\n"
    "tbody tr:last-child td{border-bottom:1px solid var(--rule)}\n"
    "tbody tr:nth-child(even) td{background:var(--band)}\n"
    "th.text,td.text{text-align:left}\n"
    "th.over{text-align:left}\n"
    "th.group,td.group{border-left:1px solid var(--rule)}\n"
    "th:first-child,td:first-child{position:sticky;left:0;background:var(--paper)}\n"
    ".unit{font-weight:400;color:var(--soft)}\n"
    "td i{color:var(--soft);font-style:normal}\n"

    /* Charts. */
    "figure{margin:16px 0}\n"
    "figcaption{font-weight:600;font-size:15px;margin-bottom:8px}\n"
    "svg{display:block;width:100%;height:auto;font-size:13px;fill:var(--ink)}\n"
    ".narrow{display:none}\n"
    "svg .middle{text-anchor:middle}\n"
    "svg .end{text-anchor:end}\n"
    "svg .tick{font-size:12px;fill:var(--soft)}\n"
    "svg .power{font-size:10px}\n"
    "svg .label{font-size:11px;fill:var(--soft)}\n"
    "svg .note{font-size:12px;fill:var(--ink)}\n"
    "svg .label,svg .note{stroke:var(--paper);stroke-width:3px;stroke-linejoin:round;paint-order:stroke}\n"
    "svg .grid{stroke:var(--grid);fill:none}\n"
    "svg .edge{stroke:var(--soft);fill:none}\n"
    "svg .reference{stroke:var(--ink);fill:none;stroke-width:1.3;stroke-dasharray:7 4}\n"
    "svg .error{stroke:var(--ink);fill:none;stroke-width:1;opacity:.75}\n"
    ".s0{--c:var(--c0)}.s1{--c:var(--c1)}.s2{--c:var(--c2)}.s3{--c:var(--c3)}"
    ".s4{--c:var(--c4)}.s5{--c:var(--c5)}.s6{--c:var(--c6)}.s7{--c:var(--c7)}\n"
    "svg .bar{fill:var(--c)}\n"
    "svg .line{fill:none;stroke:var(--c);stroke-width:2;stroke-linejoin:round}\n"
    "svg .mark{fill:var(--c);stroke:var(--c);stroke-width:1.4}\n"
    "svg .open{fill:var(--paper);stroke-width:1.8}\n"
    ".dash1 .line{stroke-dasharray:8 4}.dash2 .line{stroke-dasharray:2 3}"
    ".dash3 .line{stroke-dasharray:9 3 2 3}\n"
    ".dash1 .bar,.dash2 .bar,.dash3 .bar{fill-opacity:.3;stroke:var(--c);stroke-width:1}\n"
    ".dash2 .bar{stroke-dasharray:3 2}.dash3 .bar{fill-opacity:0}\n"

    "@media (max-width:640px){\n"
    "main{padding:20px 16px 48px}\n"
    "h1{font-size:22px}\n"
    "dl{grid-template-columns:minmax(0,1fr);gap:0}\n"
    "dt{font-size:13px}\n"
    "dd{margin-bottom:8px}\n"
    "th,td{padding:3px 8px}\n"
    ".wide{display:none}\n"
    ".narrow{display:block}\n"
    "}\n"
    "@media print{\n"
    ":root{color-scheme:light;" LIGHT "}\n"
    "main{max-width:none;padding:0}\n"
    "figure,tr{break-inside:avoid}\n"
    "h2{break-after:avoid}\n"
    ".scroll{overflow:visible}\n"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere}\n"
    "table{font-size:11px}\n"
    "th,td{padding:2px 6px}\n"
    "}\n";
