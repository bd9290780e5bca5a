"""The data pipeline on Spark: sources, normalisation, joins, changelogs."""
