"""The table server: changelogs in, HTTP and WebSocket out. Knows no Spark."""
