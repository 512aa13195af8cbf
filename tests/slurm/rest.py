#!/usr/bin/python3
"""Submits a job to slurmrestd by its REST interface: rest.py SOCKET VERSION USER TOKEN JOB; prints what came back.

JOB is JSON, the interface's description of a job, with its script as a member. The answer is "job NUMBER" or
"refused", then a line for each sentence of it. Only a connection that fails ends it with 1.
"""

import http.client
import json
import socket
import sys


class Connection(http.client.HTTPConnection):
    """By a socket of the file system, as it takes no port."""

    def __init__(self, path: str):
        super().__init__("localhost", timeout=30)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(self.path)


def post(path: str, version: str, user: str, token: str, job: dict) -> dict:
    script = job.pop("script")
    connection = Connection(path)
    connection.request("POST", f"/slurm/{version}/job/submit", json.dumps({"script": script, "job": job}),
                       {"Content-Type": "application/json", "X-SLURM-USER-NAME": user, "X-SLURM-USER-TOKEN": token})
    answer = connection.getresponse().read().decode()
    try:
        return json.loads(answer)
    except ValueError:
        return {"errors": [{"error": answer}]}


def main() -> int:
    path, version, user, token, job = sys.argv[1:]
    answer = post(path, version, user, token, json.loads(job))
    number = answer.get("job_id")
    print(f"job {number}" if number else "refused")
    for sentence in [answer.get("job_submit_user_msg"), *(error.get("error") for error in answer.get("errors", []))]:
        if sentence:
            print(sentence.strip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
