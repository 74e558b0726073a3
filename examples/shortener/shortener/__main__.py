"""Serves links over HTTP: python3 -m shortener FILE PORT"""

import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from shortener.server import answer
from shortener.store import Store


def main() -> None:
    path, port = sys.argv[1], int(sys.argv[2])
    store = Store(path)

    class Handler(BaseHTTPRequestHandler):
        def handle_request(self) -> None:
            size = int(self.headers.get("Content-Length", 0))
            reply = answer(store, self.command, self.path, self.rfile.read(size).decode())
            self.send_response(reply.status)
            if reply.location:
                self.send_header("Location", reply.location)
            self.end_headers()
            self.wfile.write(reply.body.encode())

        do_GET = do_POST = handle_request

    HTTPServer(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    main()
