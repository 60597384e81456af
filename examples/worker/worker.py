"""A worker of task queue `scoring` in Python, with nothing but the standard library.

    pawl dev                                   # one terminal
    python3 examples/worker/worker.py          # another one
    pawl publish examples/worker/score.json && pawl start score-orders

Environment: PAWL_URL (http://127.0.0.1:7295) and PAWL_TOKEN, a token of scope tasks:work (none for `pawl dev`).
With WORKER_ONCE=1 it ends after one task.
"""

import json
import os
import threading
import urllib.error
import urllib.request

URL = os.environ.get("PAWL_URL", "http://127.0.0.1:7295")
TOKEN = os.environ.get("PAWL_TOKEN")
QUEUE = "scoring"
LEASE_MS = 30_000


def ask(what, body):
    headers = {"content-type": "application/json"}
    if TOKEN:
        headers["authorization"] = f"Bearer {TOKEN}"
    request = urllib.request.Request(
        f"{URL}/api/v1/task-queues/{QUEUE}/{what}", json.dumps(body).encode(), headers, method="POST"
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def keep(lease, done, stop):
    """Renews the lease until the work is done, and hears whether the execution wants it stopped."""
    while not done.wait(LEASE_MS / 3000):
        state = ask("heartbeat", {"leaseIds": [lease], "leaseMs": LEASE_MS})["leases"][0]["state"]
        if state != "held":
            stop.set()


def score(parameters, stop):
    if stop.is_set():
        raise RuntimeError("stopped")
    return {"large": [amount for amount in parameters["amounts"] if amount > 100]}


def work(task):
    done, stop = threading.Event(), threading.Event()
    threading.Thread(target=keep, args=(task["leaseId"], done, stop), daemon=True).start()
    result = {"leaseId": task["leaseId"]}
    try:
        result["outputs"] = score(task["parameters"], stop)
    except Exception as error:  # What went wrong belongs to the step, not to the worker.
        result["error"] = {"code": "SCORING_FAILED", "message": str(error), "retryable": True}
    done.set()
    try:
        ask("complete", result)
    except urllib.error.HTTPError as error:
        if error.code != 409:  # 409: the lease was lost, and somebody else has the task.
            raise


while True:
    offer = {"worker": f"python-{os.getpid()}", "runtime": "python", "waitMs": 30_000, "leaseMs": LEASE_MS}
    tasks = ask("poll", offer)["tasks"]
    for task in tasks:
        work(task)
    if tasks and os.environ.get("WORKER_ONCE"):
        break
