"""Simon Willison's llm, as a command."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from common import BASE, FOLLOW_UP, KEY, QUESTION, cited

with tempfile.TemporaryDirectory() as folder:
    Path(folder, "extra-openai-models.yaml").write_text(
        f"- model_id: qiusuo\n  model_name: qiusuo-chat\n  api_base: {BASE}\n  api_key_name: qiusuo\n", "utf-8"
    )
    environment = {**os.environ, "LLM_USER_PATH": folder}
    llm = str(Path(sys.executable).with_name("llm"))

    def run(*arguments: str) -> str:
        done = subprocess.run([llm, *arguments], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("keys", "set", "qiusuo", "--value", KEY)
    cited(run("-m", "qiusuo", QUESTION), 1)
    assert "[[1]]" not in cited(run("-c", FOLLOW_UP))
    cited(run("-m", "qiusuo", "--no-stream", QUESTION))
