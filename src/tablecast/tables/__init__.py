"""Live tables, the views of them and the windows that viewers look through. Plain Python: no web, no Kafka, no Spark."""
