"""Links in an SQLite file."""

import sqlite3
from typing import Optional

SCHEMA = "CREATE TABLE IF NOT EXISTS link (number INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE)"


class Store:
    """All links; the only place that speaks SQL."""

    def __init__(self, path: str) -> None:
        self.connection = sqlite3.connect(path)
        self.connection.execute(SCHEMA)

    def add(self, url: str) -> int:
        """The number of a link, the old one if it is known."""
        with self.connection:
            self.connection.execute("INSERT OR IGNORE INTO link (url) VALUES (?)", (url,))
        row = self.connection.execute("SELECT number FROM link WHERE url = ?", (url,)).fetchone()
        return row[0]

    def find(self, number: int) -> Optional[str]:
        """The URL of a number, if there is one."""
        row = self.connection.execute("SELECT url FROM link WHERE number = ?", (number,)).fetchone()
        return row[0] if row else None
