"""curl, as in the examples of the docs."""

import json
import subprocess
import tempfile

from common import BASE, KEY, QUESTION, URL, cited


def curl(*arguments: str) -> str:
    done = subprocess.run(["curl", "-sS", "--fail-with-body", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


asked = json.dumps({"model": "qiusuo-chat", "messages": [{"role": "user", "content": QUESTION}]})
bearer, kind = ("-H", f"Authorization: Bearer {KEY}"), ("-H", "Content-Type: application/json")
said = json.loads(curl("--compressed", *bearer, *kind, "-d", asked, f"{BASE}/chat/completions"))
cited(said["choices"][0]["message"]["content"])
query = ("-G", "--data-urlencode", f"q={QUESTION}", "-d", "format=json", f"{URL}/search")
assert json.loads(curl("--compressed", "-u", f"me:{KEY}", *query))["results"]
packed = subprocess.run(["gzip"], input=asked.encode(), capture_output=True, check=True).stdout
with tempfile.NamedTemporaryFile() as file:
    file.write(packed)
    file.flush()
    gzipped = ("-H", "Content-Encoding: gzip", "--data-binary", f"@{file.name}")
    curl(*bearer, *kind, *gzipped, f"{BASE}/chat/completions")
streamed = curl("-N", *bearer, *kind, "-d", asked[:-1] + ', "stream": true}', f"{BASE}/chat/completions")
assert streamed.rstrip().endswith("data: [DONE]"), streamed[-200:]
