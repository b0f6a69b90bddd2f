/*
 * well_formed.h: checks that a text is well-formed XML, as far as Tessera writes it: a declaration of the
 * document type, elements, attributes in double quotes, the four entities of markup.h; no comments and no CDATA.
 */
#ifndef TESSERA_TESTS_SUPPORT_WELL_FORMED_H
#define TESSERA_TESTS_SUPPORT_WELL_FORMED_H

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define XML_DEPTH_MAX 64
#define XML_NAME      32

struct xml {
    const char *at;
    char open[XML_DEPTH_MAX][XML_NAME];
    int depth, roots;
    char why[128]; /* what is wrong; empty: nothing so far */
};

static inline bool xml_wrong(struct xml *xml, const char *what)
{
    if (!xml->why[0])
        snprintf(xml->why, sizeof xml->why, "%s before: %.60s", what, xml->at);
    return false;
}

static inline bool xml_name(struct xml *xml, char name[XML_NAME])
{
    int length = 0;
    while (isalnum((unsigned char)*xml->at) || *xml->at == '-' || *xml->at == ':') {
        if (length == XML_NAME - 1)
            return xml_wrong(xml, "a long name");
        name[length++] = *xml->at++;
    }
    name[length] = '\0';
    return length > 0 || xml_wrong(xml, "no name");
}

/* Reads the text up to `end`, without markup: characters of UTF-8, entities. */
static inline bool xml_text(struct xml *xml, char end)
{
    for (; *xml->at && *xml->at != end; xml->at++) {
        const unsigned char c = (unsigned char)*xml->at;
        const int more = c < 0x80 ? 0 : c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
        if (*xml->at == '<' || (c < 0x20 && c != '\n' && c != '\t' && c != '\r') || (c >= 0x80 && c < 0xc2) ||
            c > 0xf4)
            return xml_wrong(xml, "a character that must not be there");
        if (c == '&' && strncmp(xml->at, "&amp;", 5) != 0 && strncmp(xml->at, "&lt;", 4) != 0 &&
            strncmp(xml->at, "&gt;", 4) != 0 && strncmp(xml->at, "&quot;", 6) != 0)
            return xml_wrong(xml, "an unknown entity");
        for (int i = 0; i < more; i++)
            if (((unsigned char)*++xml->at & 0xc0) != 0x80)
                return xml_wrong(xml, "broken UTF-8");
    }
    return true;
}

/* A place of a drawing is a number. */
static inline bool xml_is_place(const char *name)
{
    static const char *const places[] = {"d", "x", "y", "dy", "width", "height", "viewBox", "transform"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strcmp(name, places[i]) == 0)
            return true;
    return false;
}

static inline bool xml_attribute(struct xml *xml)
{
    char name[XML_NAME];
    if (!xml_name(xml, name))
        return false;
    if (strncmp(xml->at, "=\"", 2) != 0)
        return xml_wrong(xml, "an attribute without a value");
    xml->at += 2;
    const char *const value = xml->at;
    if (!xml_text(xml, '"') || !*xml->at)
        return xml_wrong(xml, "an open attribute");
    if (xml_is_place(name) && memchr(value, 'n', (size_t)(xml->at - value))) /* nan, inf */
        return xml_wrong(xml, "a place that is no number");
    xml->at++;
    return true;
}

static inline bool xml_tag(struct xml *xml)
{
    char name[XML_NAME];
    const bool closes = *++xml->at == '/';
    xml->at += closes;
    if (!xml_name(xml, name))
        return false;
    if (closes) {
        if (xml->depth == 0 || strcmp(xml->open[--xml->depth], name) != 0 || *xml->at != '>')
            return xml_wrong(xml, "an end that ends nothing");
        xml->at++;
        return true;
    }
    while (*xml->at == ' ') {
        xml->at++;
        if (!xml_attribute(xml))
            return false;
    }
    xml->roots += xml->depth == 0;
    if (strncmp(xml->at, "/>", 2) == 0) {
        xml->at += 2;
        return true;
    }
    if (*xml->at != '>' || xml->depth == XML_DEPTH_MAX)
        return xml_wrong(xml, "a broken tag");
    xml->at++;
    strcpy(xml->open[xml->depth++], name);
    return true;
}

/* True if the text is one well-formed element, perhaps after a document type; else *xml says why not. */
static inline bool well_formed(const char *text, struct xml *xml)
{
    *xml = (struct xml){.at = text};
    if (strncmp(text, "<!DOCTYPE html>", 15) == 0)
        xml->at += 15;
    while (*xml->at)
        if (*xml->at == '<' ? !xml_tag(xml) : !xml_text(xml, '<'))
            return false;
    if (xml->depth != 0)
        return xml_wrong(xml, "an element that is open at the end");
    return xml->roots == 1 || xml_wrong(xml, "not one element");
}

#endif
