"""Haystack's chat generator."""

from common import BASE, FOLLOW_UP, KEY, QUESTION, cited
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret

pieces = []
options = {"model": "qiusuo-chat", "api_base_url": BASE, "api_key": Secret.from_token(KEY), "max_retries": 0}
whole = OpenAIChatGenerator(**options)
asked = [ChatMessage.from_user(QUESTION)]
first = whole.run(asked)["replies"][0]
cited(first.text, 1)
cited(whole.run([*asked, first, ChatMessage.from_user(FOLLOW_UP)])["replies"][0].text)
streaming = OpenAIChatGenerator(streaming_callback=lambda chunk: pieces.append(chunk.content), **options)
cited(streaming.run(asked)["replies"][0].text)
cited("".join(pieces))
