/*
 * page_checks.js: looks at pages as a browser lays them out, for test_page_browser.c. The page that loads it has a frame of
 * each page at each width; findings are written into #findings, a line each, and "done N" for N frames at the end.
 */
'use strict';

/* The corners of a text in its drawing, in order; less what fonts leave free above and below letters. */
function corners(text) {
    const box = text.getBBox(), matrix = text.getCTM(), free = box.height * 0.14, points = [];
    for (const [x, y] of [[box.x, box.y + free], [box.x + box.width, box.y + free],
                          [box.x + box.width, box.y + box.height - free], [box.x, box.y + box.height - free]])
        points.push({x: matrix.a * x + matrix.c * y + matrix.e, y: matrix.b * x + matrix.d * y + matrix.f});
    return points;
}

/* Whether a line along an edge of `a` divides the two. */
function divided(a, b) {
    for (let i = 0; i < a.length; i++) {
        const next = a[(i + 1) % a.length], normal = {x: next.y - a[i].y, y: a[i].x - next.x};
        const along = (point) => point.x * normal.x + point.y * normal.y;
        if (Math.max(...a.map(along)) <= Math.min(...b.map(along)) ||
            Math.max(...b.map(along)) <= Math.min(...a.map(along)))
            return true;
    }
    return false;
}

const light = (part) => part <= 0.04045 ? part / 12.92 : Math.pow((part + 0.055) / 1.055, 2.4);

/* The contrast of a colour "rgb(1, 2, 3)" to white. */
function contrast(colour) {
    const [r, g, b] = colour.match(/[\d.]+/g).map((part) => light(part / 255));
    return 1.05 / (0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05);
}

function words(element) {
    return (element.textContent || '').trim().slice(0, 50);
}

function checkDrawing(view, svg, found) {
    const size = svg.viewBox.baseVal, scale = svg.getBoundingClientRect().width / size.width;
    const texts = [...svg.querySelectorAll('text')].filter((text) => text.textContent);
    const places = texts.map(corners), colours = new Map();
    places.forEach((place, i) => {
        for (const point of place)
            if (point.x < -1 || point.y < -1 || point.x > size.width * scale + 1 || point.y > size.height * scale + 1) {
                found('a text leaves its chart: ' + words(texts[i]));
                break;
            }
        for (let j = 0; j < i; j++)
            if (!divided(place, places[j]) && !divided(places[j], place))
                found('texts on each other: ' + words(texts[j]) + ' | ' + words(texts[i]));
        if (contrast(view.getComputedStyle(texts[i]).fill) < 7)
            found('a pale text: ' + words(texts[i]));
    });
    for (const group of svg.querySelectorAll('g[class^="s"]')) {
        const colour = view.getComputedStyle(group).getPropertyValue('--c').trim(), name = group.getAttribute('class');
        if (!colour || (colours.has(colour) && colours.get(colour) !== name))
            found('series ' + name + ' and ' + colours.get(colour) + ' have one colour: ' + colour);
        colours.set(colour, name);
    }
}

function checkPage(view, found) {
    const page = view.document;
    if (page.documentElement.scrollWidth > view.innerWidth)
        found('the page is ' + page.documentElement.scrollWidth + ' wide');
    for (const element of page.body.querySelectorAll('*')) {
        const style = view.getComputedStyle(element);
        if (style.display === 'none' || !element.getClientRects().length)
            continue;
        if (element.tagName.toLowerCase() === 'svg')
            checkDrawing(view, element, found);
        if (element.closest('svg'))
            continue;
        if (style.overflowX !== 'visible' && element.scrollWidth > element.clientWidth + 1)
            found('cut: ' + element.tagName + ' of ' + element.scrollWidth + ' in ' + element.clientWidth + ': ' + words(element));
        if (element.getBoundingClientRect().right > view.innerWidth + 1)
            found('outside: ' + element.tagName + ': ' + words(element));
        if (element.childNodes.length && contrast(style.color) < 7)
            found('a pale text: ' + words(element));
    }
    for (const row of page.querySelectorAll('tbody tr'))
        if (row.cells.length > 2 && [...row.cells].slice(1).every((cell) => cell.querySelector('i')))
            found('a row of dashes: ' + words(row));
}

addEventListener('load', () => {
    const lines = [], frames = [...document.querySelectorAll('iframe')];
    for (const frame of frames) {
        const where = frame.getAttribute('src') + ' at ' + frame.width + ': ';
        if (!frame.contentDocument || !frame.contentDocument.querySelector('main'))
            lines.push(where + 'it is not there');
        else
            checkPage(frame.contentWindow, (what) => lines.push(where + what));
    }
    document.getElementById('findings').textContent = lines.slice(0, 40).concat('done ' + frames.length).join('\n');
});
