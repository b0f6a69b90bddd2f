# A retailer's sales: TSV files in latin-1, with decimal commas, dots between thousands, and dates as 31.01.2024.

#: infer
tessera load --infer --encoding latin1 'umsatz=umsatz-2024-0[123].tsv' filialen.tsv artikel.tsv >retail.sql
#: load
german() { tessera load --db retail.db --encoding latin1 --thousands . --date-format %d.%m.%Y "$@"; }
german --schema retail.sql 'umsatz=umsatz-2024-0[123].tsv' filialen=filialen.tsv artikel=artikel.tsv
#: ask
tessera sql --db retail.db "SELECT Stadt, Gruppe, sum(Betrag) AS Umsatz, sum(Menge) AS Stück
    FROM umsatz JOIN filialen USING (Filiale) JOIN artikel USING (Artikel)
    GROUP BY ALL ORDER BY Umsatz DESC LIMIT 5"
#: ask more
tessera sql --db retail.db "SELECT Land, extract(month FROM Datum) AS Monat, sum(Betrag) / count(DISTINCT Filiale) AS je_Filiale
    FROM umsatz JOIN filialen USING (Filiale) WHERE Bemerkung IS NULL AND \"Fläche\" > 100 GROUP BY ALL ORDER BY ALL LIMIT 5"
#: append
german --append umsatz=umsatz-2024-04.tsv
#: replace
german --append --replace-where "Datum >= '2024-04-01'" umsatz=umsatz-2024-04-corrected.tsv
#: delete
tessera sql --db retail.db "DELETE FROM umsatz WHERE Bemerkung = 'Rückgabe'"
#: copy out
tessera sql --db retail.db "COPY (SELECT Stadt, Datum, sum(Betrag) AS Umsatz FROM umsatz JOIN filialen USING (Filiale)
    GROUP BY ALL ORDER BY ALL) TO 'days.csv'"
tessera sql --db retail.db "COPY umsatz TO 'umsatz.parquet'"
