"""Plain HTTP, as programs without a package for it do."""

import gzip
import json

import httpx
from common import BASE, KEY, QUESTION, URL, cited

with httpx.Client(base_url=URL) as client:
    query = {"q": QUESTION, "format": "json"}
    assert client.get("/search", params=query).status_code == 401
    assert client.get("/search", params=query, auth=("anybody", KEY)).json()["results"]
    assert client.get("/search", params=query, headers={"X-API-Key": KEY}).json()["results"]
    assert client.head("/search", params=query, headers={"X-API-Key": KEY}).status_code == 200
    body = gzip.compress(json.dumps({"query": QUESTION, "numResults": 3}).encode())
    packed = {"X-API-Key": KEY, "Content-Encoding": "gzip", "Content-Type": "application/json"}
    assert len(client.post("/api/search/", content=body, headers=packed).json()["results"]) == 3
    asked = {"model": "qiusuo-chat", "messages": [{"role": "user", "content": QUESTION}]}
    said = client.post(f"{BASE}/chat/completions", json=asked, auth=("", KEY), timeout=30).json()
    cited(said["choices"][0]["message"]["content"])
