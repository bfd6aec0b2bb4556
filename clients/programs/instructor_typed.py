"""Instructor: answers of a type."""

import instructor
from common import BASE, KEY
from openai import OpenAI
from pydantic import BaseModel


class Picking(BaseModel):
    """Where and when tea is picked."""

    city: str
    month: str


client = OpenAI(base_url=BASE, api_key=KEY, max_retries=0)
asked = {"model": "qiusuo-chat", "messages": [{"role": "user", "content": "Where and when? As JSON."}]}
typed = instructor.from_openai(client, mode=instructor.Mode.JSON_SCHEMA)
assert typed.chat.completions.create(response_model=Picking, max_retries=0, **asked).month == "March"
typed = instructor.from_openai(client, mode=instructor.Mode.TOOLS)
assert typed.chat.completions.create(response_model=Picking, max_retries=0, **asked).month == "March"
