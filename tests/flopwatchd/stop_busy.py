"""stop_busy.py PORT SHA: clients of a daemon that is stopped meanwhile: they read pages, queue jobs of the commit SHA, and wait for
backups and comparisons of files. Prints "answered" after the first answers; ends when it is killed."""
import http.client
import json
import sys
import threading

PORT, SHA = int(sys.argv[1]), sys.argv[2]
JOB = {"repo": "lines", "target": SHA, "base": SHA}
REQUESTS = [
    ("POST", "/api/v1/jobs", JOB), ("POST", "/api/v1/backups", {}), ("GET", "/api/v1/workers", None),
    ("POST", "/api/v1/repos/lines/fetches", {}), ("GET", "/jobs", None), ("GET", "/healthz", None),
    ("GET", "/api/v1/jobs/1", None), ("POST", "/api/v1/jobs/1/cancel", {}), ("GET", "/metrics", None),
]
answers = [0] * 12


def request_all(n):
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=10)
        try:
            for method, path, body in REQUESTS[n % len(REQUESTS):] + REQUESTS[:n % len(REQUESTS)]:
                data = None if body is None else json.dumps(body)
                connection.request(method, path, data, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                answer.read()
                if answer.status < 400:
                    answers[n] += 1
        except (OSError, http.client.HTTPException):
            pass
        connection.close()


for i in range(len(answers)):
    threading.Thread(target=request_all, args=(i,), daemon=True).start()
done = threading.Event()
while not done.wait(0.02):
    if all(n > 20 for n in answers):
        print("answered", flush=True)
        break
done.wait()
