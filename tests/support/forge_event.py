#!/usr/bin/env python3
"""forge_event.py FOLDER FORGE EVENT SECRET ADDRESS [NAME=VALUE...]: send an event of forge_shapes.py to the daemon, signed as the forge signs it.

Prints the status of the answer, whose body is in FOLDER/answer. FOLDER/events has a line of JSON for each, which forge_check.py reads.
"""
import hashlib
import hmac
import json
import sys
import urllib.error
import urllib.request
import uuid

import forge_shapes

NAMES = {"labeled": "pull_request", "commented": "issue_comment"}
GITLAB = {"labeled": ("merge_request", "Merge Request Hook"), "commented": ("note", "Note Hook"), "push": ("push", "Push Hook")}

folder, forge, event, secret, address, *rest = sys.argv[1:]
values = {"who": "ann", "who_id": "3", "head": forge_shapes.HEAD, "text": "looks good", "label": "measure", "project": "team/kernels"}
values.update(argument.split("=", 1) for argument in rest)
body = forge_shapes.EVENTS[forge](event, **values)
text = json.dumps(body).encode()
mac = hmac.new(secret.encode(), text, "sha256").hexdigest()
name = NAMES.get(event, event)
delivery = str(uuid.uuid5(uuid.NAMESPACE_URL, hashlib.sha256(text).hexdigest()))
headers = {"Content-Type": "application/json"}
if forge == "gitlab":
    name, title = GITLAB[event]
    headers.update({"User-Agent": "GitLab/18.5.0", "X-Gitlab-Event": title, "X-Gitlab-Token": secret, "X-Gitlab-Event-UUID": delivery})
else:
    headers.update({"X-GitHub-Event": name, "X-GitHub-Delivery": delivery, "X-Hub-Signature-256": "sha256=" + mac})
    if forge == "github":
        headers.update({"User-Agent": "GitHub-Hookshot/1", "X-GitHub-Hook-ID": "5", "X-GitHub-Hook-Installation-Target-ID": "1",
                        "X-GitHub-Hook-Installation-Target-Type": "repository"})
    for one in ("Gitea", "Forgejo")[: {"github": 0, "gitea": 1, "forgejo": 2}[forge]]:
        headers.update({f"X-{one}-Event": name, f"X-{one}-Delivery": delivery, f"X-{one}-Signature": mac})
with open(folder + "/events", "a", encoding="utf-8") as log:
    log.write(json.dumps({"forge": "gitea" if forge == "forgejo" else forge, "event": name, "headers": headers, "body": body}) + "\n")
try:
    with urllib.request.urlopen(urllib.request.Request(address, text, headers), timeout=60) as answer:
        status, said = answer.status, answer.read()
except urllib.error.HTTPError as error:
    status, said = error.code, error.read()
with open(folder + "/answer", "wb") as file:
    file.write(said)
print(status)
