"""The settings of ways in besides tokens: a trusted proxy's headers, and OpenID Connect."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationInfo, field_validator
from pydantic_settings import NoDecode

from qiusuo.config.server import ServerSettings
from qiusuo.validation import refused
from qiusuo.words import Fact

_HEADER: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,98}[A-Za-z0-9])?")
# Browsers, programs or the entrance itself have another use for these.
_TAKEN: Final = frozenset(
    {
        "accept", "accept-language", "authorization", "connection", "content-length", "content-type", "cookie",
        "forwarded", "host", "origin", "referer", "user-agent", "via", "x-api-key", "x-forwarded-for",
        "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "x-request-id",
    }
)  # fmt: skip
_CLAIM: Final = r"^[^\s,]{1,200}$"

Names = Annotated[tuple[str, ...], NoDecode]


class SignInSettings(ServerSettings):
    """Who may come in without a token, and whom they are taken for."""

    proxy_user_header: str | None = Field(
        None,
        description="Header in which a proxy of `trusted_proxies` names the person whom it has signed in, such as "
        "`X-Forwarded-User` or `Remote-User`. Whoever comes so needs no token, everybody else does. From others than "
        "these proxies the header is taken off.",
    )
    proxy_groups_header: str | None = Field(
        None, description="Header in which such a proxy names that person's groups, parted by commas or `|`."
    )
    operator_groups: Names | None = Field(
        None, description="Groups, of a proxy or of OpenID Connect, whose members run the server (see `operators`)."
    )
    public_url: str | None = Field(
        None,
        description="Address by which people call the server, with its path where there is one, such as "
        "`https://ask.example.com`, for the way back from the sign-in. Unset: as the request says.",
    )
    oidc_issuer: str | None = Field(
        None,
        description="Issuer of OpenID Connect by which people sign in on the page, such as "
        "`https://sso.example.com/realms/main`. When set, nobody comes in without a sign-in or a token.",
    )
    oidc_client_id: str | None = Field(None, min_length=1, description="Name under which the issuer knows this server.")
    oidc_client_secret: SecretStr | None = Field(
        None, min_length=1, description="Secret that goes with `oidc_client_id`."
    )
    oidc_scopes: str = Field(
        "openid profile email",
        pattern=r"^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$",
        description="What is asked for of the issuer, parted by blanks; `openid` is added where it is missing.",
    )
    oidc_name_claim: str = Field(
        "preferred_username",
        pattern=_CLAIM,
        description="Claim that is a person's name here; where it is missing the verified `email`, then `sub`. People "
        "must not be able to choose it freely.",
    )
    oidc_groups_claim: str = Field("groups", pattern=_CLAIM, description="Claim with a person's groups.")
    oidc_allowed_groups: Names | None = Field(
        None, description="Groups of which one must be a person's, to come in. Unset: everybody whom the issuer knows."
    )
    oidc_allowed_domains: Names | None = Field(
        None, description="Domains of which one must be that of a person's verified e-mail address, to come in."
    )
    sign_in_hours: float = Field(
        12, gt=0, le=24 * 90, description="Hours after which people sign in anew, whatever they do."
    )
    sign_in_idle_hours: float = Field(
        4,
        ge=0,
        le=24 * 90,
        description="Hours without a request after which people sign in anew; 0: only the end counts.",
    )

    @property
    def recognises_people(self) -> bool:
        """Whether the settings let nobody in whom they do not know."""
        return bool(self.tokens or self.proxy_user_header or self.oidc_issuer)

    @field_validator("operator_groups", "oidc_allowed_groups", "oidc_allowed_domains", mode="before")
    @classmethod
    def _split_groups(cls, value: Any) -> Any:
        parts = re.split("[,，]", value) if isinstance(value, str) else value
        if not isinstance(parts, list | tuple):
            return parts
        return tuple(part for part in (str(part).strip() for part in parts) if part) or None

    @field_validator("oidc_allowed_domains")
    @classmethod
    def _lower_domains(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return tuple(domain.lower().lstrip("@") for domain in value) if value else None

    @field_validator("proxy_user_header", "proxy_groups_header")
    @classmethod
    def _check_header(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is None:
            return None
        if not _HEADER.fullmatch(value) or value.lower() in _TAKEN:
            raise refused(Fact("settings.header_form"))
        # Where that setting is wrong itself, it alone is to be told of.
        if "trusted_proxies" in info.data and not info.data["trusted_proxies"]:
            raise refused(Fact("settings.header_needs_proxies"))
        return value.lower()

    @field_validator("oidc_issuer", "public_url")
    @classmethod
    def _check_url(cls, value: str | None) -> str | None:
        if value is None:
            return None
        try:
            parts = urlsplit(value)
            usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        except ValueError:
            usable = False
        if not usable or "@" in parts.netloc or parts.query or parts.fragment or re.search(r"\s", value):
            raise refused(Fact("settings.address_form"))
        return value
