"""The words of the findings about the language model, in Chinese and English."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from qiusuo.doctor.wording import Texts, Wording

MODEL_TEXTS: Final[Mapping[str, Texts]] = {
    "model.ok": Texts(Wording("语言模型 {label}（{address}）可用"), Wording("The model {label} ({address}) is there")),
    "model.none": Texts(
        Wording(
            "没有配置语言模型",
            "对话会摘录搜索结果中最相关的句子作答。",
            "要得到完整的回答，请设置 QIUSUO_MODEL，例如 ollama:qwen3 或 deepseek:deepseek-chat。",
        ),
        Wording(
            "No language model is configured",
            "Answers are made of the best matching sentences of the results.",
            "For full answers set QIUSUO_MODEL, such as ollama:qwen3 or deepseek:deepseek-chat.",
        ),
    ),
    "model.not_asked": Texts(
        Wording("语言模型 {label} 已配置，未发出请求"), Wording("The model {label} is set up; nothing was sent to it")
    ),
    "model.not_set_up": Texts(
        Wording("语言模型 {name} 不可用", "{message}", "{fix}"),
        Wording("The model {name} cannot be used", "{message}", "{fix}"),
    ),
    "model.unreachable": Texts(
        Wording("连不上语言模型 {label}（{address}）", "{message}", "启动模型服务，或改正 QIUSUO_MODEL_BASE_URL。"),
        Wording(
            "The model {label} cannot be reached at {address}",
            "{message}",
            "Start its server, or correct QIUSUO_MODEL_BASE_URL.",
        ),
    ),
    "model.auth": Texts(
        Wording("语言模型 {label}（{address}）不接受密钥", "", "检查 {variable} 或 QIUSUO_MODEL_API_KEY。"),
        Wording("{address} does not accept the key for {label}", "", "Check {variable} or QIUSUO_MODEL_API_KEY."),
    ),
    "model.missing": Texts(
        Wording("{address} 没有列出模型 {name}（{label}）", "它列出的有：{known}", "下载该模型，或改正 QIUSUO_MODEL。"),
        Wording(
            "{address} does not list the model {name} ({label})",
            "It lists: {known}",
            "Load it, or correct QIUSUO_MODEL.",
        ),
    ),
    "model.failed": Texts(
        Wording(
            "{address} 的回答看不懂（HTTP {status}），无法确认语言模型 {label}",
            "该地址可能不是模型接口，或服务暂时有问题。",
            "检查 QIUSUO_MODEL_BASE_URL（通常以 /v1 结尾）。",
        ),
        Wording(
            "{address} gave no list of models (HTTP {status}), so {label} could not be checked",
            "The address may be another service's, or the provider has a problem.",
            "Check QIUSUO_MODEL_BASE_URL; it mostly ends with /v1.",
        ),
    ),
}
