"""All settings: what can be set, where it is read, and how the configuration file is changed.

Names are loaded when first used, so that whoever looks for the file alone does not pay for the settings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qiusuo.lazily import loader

if TYPE_CHECKING:
    from qiusuo.config.environment import Environment
    from qiusuo.config.files import find_config_file, read_config_file
    from qiusuo.config.model import ModelSettings, without_login
    from qiusuo.config.settings import (
        CASE_SITES,
        DEFAULT_SEARXNG_URL,
        REGULATION_SITES,
        EngineSettings,
        NameList,
        Settings,
        variable_name,
        variable_names,
    )
    from qiusuo.config.sign_in import SignInSettings
    from qiusuo.config.web_search import TavilyWebSearchConfig, WebSearchConfig

_HOME = {
    "CASE_SITES": "settings",
    "DEFAULT_SEARXNG_URL": "settings",
    "EngineSettings": "settings",
    "Environment": "environment",
    "ModelSettings": "model",
    "NameList": "settings",
    "REGULATION_SITES": "settings",
    "Settings": "settings",
    "SignInSettings": "sign_in",
    "TavilyWebSearchConfig": "web_search",
    "WebSearchConfig": "web_search",
    "find_config_file": "files",
    "read_config_file": "files",
    "variable_name": "settings",
    "variable_names": "settings",
    "without_login": "model",
}

__all__ = [
    "CASE_SITES",
    "DEFAULT_SEARXNG_URL",
    "REGULATION_SITES",
    "EngineSettings",
    "Environment",
    "ModelSettings",
    "NameList",
    "Settings",
    "SignInSettings",
    "TavilyWebSearchConfig",
    "WebSearchConfig",
    "find_config_file",
    "read_config_file",
    "variable_name",
    "variable_names",
    "without_login",
]


__getattr__ = loader(__name__, _HOME)


def __dir__() -> list[str]:
    return __all__
