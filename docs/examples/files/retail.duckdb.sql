-- A retailer's sales, as retail.sh has them.

--: macro
CREATE MACRO sales(files) AS TABLE FROM read_csv(files, encoding = 'latin-1', decimal_separator = ',', thousands = '.',
    dateformat = '%d.%m.%Y', types = {'Betrag': 'DECIMAL(9,2)', 'Rabatt': 'DECIMAL(9,1)'});
--: ask the files
SELECT Stadt, Gruppe, sum(Betrag) AS Umsatz, sum(Menge) AS Stück FROM sales('umsatz-2024-0[123].tsv')
    JOIN read_csv('filialen.tsv', encoding = 'latin-1') USING (Filiale)
    JOIN read_csv('artikel.tsv', encoding = 'latin-1') USING (Artikel)
    GROUP BY ALL ORDER BY Umsatz DESC LIMIT 5;
--: load
CREATE TABLE filialen AS FROM read_csv('filialen.tsv', encoding = 'latin-1', decimal_separator = ',', thousands = '.',
    dateformat = '%d.%m.%Y', types = {'Fläche': 'DECIMAL(9,1)'});
CREATE TABLE artikel AS FROM read_csv('artikel.tsv', encoding = 'latin-1', decimal_separator = ',', thousands = '.',
    types = {'Preis': 'DECIMAL(9,2)'});
CREATE TABLE umsatz AS FROM sales('umsatz-2024-0[123].tsv');
--: ask
SELECT Stadt, Gruppe, sum(Betrag) AS Umsatz, sum(Menge) AS Stück
    FROM umsatz JOIN filialen USING (Filiale) JOIN artikel USING (Artikel)
    GROUP BY ALL ORDER BY Umsatz DESC LIMIT 5;
--: ask more
SELECT Land, extract(month FROM Datum) AS Monat, sum(Betrag) / count(DISTINCT Filiale) AS je_Filiale
    FROM umsatz JOIN filialen USING (Filiale) WHERE Bemerkung IS NULL AND Fläche > 100 GROUP BY ALL ORDER BY ALL LIMIT 5;
--: append
INSERT INTO umsatz FROM sales('umsatz-2024-04.tsv');
--: replace
BEGIN;
DELETE FROM umsatz WHERE Datum >= '2024-04-01';
INSERT INTO umsatz FROM sales('umsatz-2024-04-corrected.tsv');
COMMIT;
--: delete
DELETE FROM umsatz WHERE Bemerkung = 'Rückgabe';
--: copy out
COPY (SELECT Stadt, Datum, sum(Betrag) AS Umsatz FROM umsatz JOIN filialen USING (Filiale)
    GROUP BY ALL ORDER BY ALL) TO 'days.csv';
COPY umsatz TO 'umsatz.parquet';
