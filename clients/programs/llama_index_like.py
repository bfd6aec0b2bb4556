"""LlamaIndex' OpenAILike."""

from common import BASE, FOLLOW_UP, KEY, QUESTION, WEATHER, cited, get_weather
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike

chat = OpenAILike(
    model="qiusuo-chat",
    api_base=BASE,
    api_key=KEY,
    is_chat_model=True,
    is_function_calling_model=True,
    context_window=32000,
    max_retries=0,
)
asked = [ChatMessage(role="user", content=QUESTION)]
first = chat.chat(asked).message
cited(first.content, 1)
cited(chat.chat([*asked, first, ChatMessage(role="user", content=FOLLOW_UP)]).message.content)
cited("".join(part.delta or "" for part in chat.stream_chat(asked)))
cited(chat.complete(QUESTION).text)
answer = chat.predict_and_call([FunctionTool.from_defaults(get_weather)], WEATHER)
assert "21 degrees" in str(answer), answer
