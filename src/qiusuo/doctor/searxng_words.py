"""The words of the findings about SearXNG, in Chinese and English."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from qiusuo.doctor.wording import Texts, Wording

_SEARXNG: Final = "https://docs.searxng.org/admin"
_DOCKER: Final = f"{_SEARXNG}/installation-docker.html"
_ENGINES: Final = f"{_SEARXNG}/settings/settings_engines.html"

SEARXNG_TEXTS: Final[Mapping[str, Texts]] = {
    "searxng.ok": Texts(
        Wording("SearXNG {version}（{address}）正常：{engines} 个引擎给出结果，用时 {seconds} 秒"),
        Wording("SearXNG {version} at {address}: results from {engines} engines in {seconds} s"),
    ),
    "searxng.ready": Texts(
        Wording("SearXNG {version}（{address}）已应答，JSON 接口已开启"),
        Wording("SearXNG {version} at {address} answers, and its JSON API is on"),
    ),
    "searxng.none": Texts(
        Wording(
            "没有使用 SearXNG：未设置 SEARXNG_URL，{address} 上也没有 SearXNG",
            "自建的 SearXNG 免费、无需密钥，查询不经过第三方接口。",
            "如需使用，写出模板并启动（没有 Docker 时在 up 后加 --no-docker）。",
        ),
        Wording(
            "SearXNG is not used: SEARXNG_URL is not set, and none answers at {address}",
            "A SearXNG of your own costs nothing and needs no key.",
            "To use one, write the templates and start it (without Docker: up --no-docker).",
        ),
        _DOCKER,
    ),
    "searxng.address": Texts(
        Wording(
            "SEARXNG_URL 的值 {given} 不是可用的地址",
            "地址要写成 http(s)://主机[:端口][/路径]；目前改用默认地址 {used}。",
            "改成正确的地址。",
        ),
        Wording(
            "SEARXNG_URL is {given}, which is not a usable address",
            "An address is http(s)://host[:port][/path]; the default {used} is used instead.",
            "Set it to the right address.",
        ),
    ),
    "searxng.settings": Texts(
        Wording("SearXNG 引擎的设置不可用：{message}", "", "{fix}"),
        Wording("The settings of the SearXNG engine cannot be used: {message}", "", "{fix}"),
    ),
    "searxng.dns": Texts(
        Wording(
            "找不到主机名 {host}",
            "名称写错、DNS 不可用，或者它是只在 Docker 网络内部有效的服务名。",
            "检查 SEARXNG_URL；在 Docker 之外请使用 localhost 和发布的端口。",
        ),
        Wording(
            "The host name {host} cannot be resolved",
            "It is misspelt, DNS does not work, or it is the name of a service inside a Docker network.",
            "Check SEARXNG_URL; outside Docker use localhost and the published port.",
        ),
        _DOCKER,
    ),
    "searxng.refused": Texts(
        Wording(
            "{address} 拒绝连接：SearXNG 没有运行，或不在这个端口",
            "这个端口上没有任何程序在监听。",
            "启动 SearXNG；用 docker ps 查看容器是否在运行、发布了哪个端口。",
        ),
        Wording(
            "{address} refuses the connection: SearXNG is not running, or not on this port",
            "No program listens on this port.",
            "Start SearXNG; docker ps shows whether its container runs and which port it publishes.",
        ),
        _DOCKER,
    ),
    "searxng.wrong_port": Texts(
        Wording(
            "{address} 上没有 SearXNG，但 {found} 上有一个", "SEARXNG_URL 的端口不对。", "把 SEARXNG_URL 改成 {found}。"
        ),
        Wording(
            "There is no SearXNG at {address}, but one answers at {found}",
            "SEARXNG_URL has another port than SearXNG.",
            "Set SEARXNG_URL to {found}.",
        ),
    ),
    "searxng.secret": Texts(
        Wording(
            "SearXNG 没有运行：{file} 中的 server.secret_key 还是默认值",
            "出于安全考虑，密钥为默认值时 SearXNG 会立即退出。",
            "换成随机密钥（doctor --fix 会代劳并保留备份），然后启动 SearXNG。",
        ),
        Wording(
            "SearXNG is not running: server.secret_key in {file} is still the default one",
            "With the default secret SearXNG exits at once.",
            "Replace it by a random one (doctor --fix does, and keeps a backup), then start SearXNG.",
        ),
        f"{_SEARXNG}/settings/settings_server.html",
    ),
    "searxng.no_defaults": Texts(
        Wording(
            "SearXNG 没有运行：{file} 缺少 use_default_settings",
            "没有这一项时，该文件会取代全部默认设置，SearXNG 无法启动。",
            "在文件开头加一行 use_default_settings: true，然后启动 SearXNG。",
        ),
        Wording(
            "SearXNG is not running: {file} has no use_default_settings",
            "Without it the file replaces all defaults, and SearXNG cannot start.",
            "Add the line use_default_settings: true at its top, then start SearXNG.",
        ),
        f"{_SEARXNG}/settings/settings.html",
    ),
    "searxng.settings_file": Texts(
        Wording("{file} 不可用：{message}", "SearXNG 也无法读取它。", "改正该文件，然后重启 SearXNG。"),
        Wording("{file} cannot be used: {message}", "SearXNG cannot read it either.", "Correct it, restart SearXNG."),
        f"{_SEARXNG}/settings/settings.html",
    ),
    "searxng.docker_off": Texts(
        Wording(
            "SearXNG 没有运行：Docker 引擎没有启动",
            "docker 命令存在，但连接不到 Docker 守护进程。",
            "启动 Docker（桌面版请打开 Docker Desktop），再启动 SearXNG；或者不用 Docker 运行。",
        ),
        Wording(
            "SearXNG is not running: the Docker engine is not started",
            "The docker command is there, but cannot reach the Docker daemon.",
            "Start Docker (or open Docker Desktop), then SearXNG; or run it without Docker.",
        ),
        "https://docs.docker.com/engine/daemon/start/",
    ),
    "searxng.container_stopped": Texts(
        Wording(
            "SearXNG 没有运行：容器 {container} 的状态为 {state}", "日志里有退出的原因。", "查看日志，然后启动容器。"
        ),
        Wording(
            "SearXNG is not running: the state of the container {container} is: {state}",
            "Its log tells why it ended.",
            "Look at its log, then start it.",
        ),
        _DOCKER,
    ),
    "searxng.unreachable": Texts(
        Wording(
            "{seconds} 秒内连不上 {address}",
            "主机没有开机、网络不通，或被防火墙拦截。",
            "检查主机、网络和防火墙；也可以暂时关闭联网搜索。",
        ),
        Wording(
            "No connection to {address} within {seconds} s",
            "The host is off, the network is down, or a firewall is in between.",
            "Check the host, the network and the firewall, or switch search off for now.",
        ),
    ),
    "searxng.tls": Texts(
        Wording(
            "与 {address} 的安全连接失败：{message}", "证书无效，或该端口不支持 HTTPS。", "改用 http://，或修复证书。"
        ),
        Wording(
            "No secure connection to {address}: {message}",
            "The certificate is not valid, or the port does not speak HTTPS.",
            "Use http:// or repair the certificate.",
        ),
    ),
    "searxng.other_service": Texts(
        Wording(
            "{address} 上运行的不是 SearXNG（{seen}）",
            "端口被其他程序占用，或地址写错了。",
            "把 SEARXNG_URL 改为 SearXNG 的地址，或让 SearXNG 使用别的端口。",
        ),
        Wording(
            "What runs at {address} is not SearXNG ({seen})",
            "Another program has the port, or the address is wrong.",
            "Set SEARXNG_URL to where SearXNG runs, or give SearXNG another port.",
        ),
    ),
    "searxng.redirect": Texts(
        Wording("{address} 转到了 {target}", "搜索时不跟随重定向。", "把 SEARXNG_URL 改成最终的地址。"),
        Wording(
            "{address} redirects to {target}", "Redirects are not followed.", "Set SEARXNG_URL to the final address."
        ),
    ),
    "searxng.login": Texts(
        Wording(
            "{address} 要求登录（HTTP {status}）",
            "SearXNG 前面的反向代理设置了访问控制。",
            "在 [engines.searxng] 下设置 basic_auth 或 headers。",
        ),
        Wording(
            "{address} wants a login (HTTP {status})",
            "A proxy in front of SearXNG controls the access.",
            "Set basic_auth or headers under [engines.searxng].",
        ),
    ),
    "searxng.proxy": Texts(
        Wording(
            "到 {address} 的请求被代理 {proxy} 拦住了",
            "环境变量中的代理到不了这台主机，而直接连接可以。",
            "把该主机加入 NO_PROXY。",
        ),
        Wording(
            "Requests to {address} end at the proxy {proxy}",
            "The proxy that the environment sets does not reach this host; a direct connection does.",
            "Add the host to NO_PROXY.",
        ),
    ),
    "searxng.json_off": Texts(
        Wording(
            "SearXNG（{address}）在运行，但没有开启 JSON 接口（HTTP 403）",
            "settings.yml 的 search.formats 里没有 json，这是 SearXNG 的默认设置。",
            "在 search.formats 中加入 json（doctor --fix 会代劳并保留备份），然后重启 SearXNG。",
        ),
        Wording(
            "SearXNG at {address} runs, but its JSON API is off (HTTP 403)",
            "search.formats in its settings.yml lacks json, which is SearXNG's default.",
            "Add json to search.formats (doctor --fix does, and keeps a backup), then restart SearXNG.",
        ),
        f"{_SEARXNG}/settings/settings_search.html",
    ),
    "searxng.json_not_applied": Texts(
        Wording(
            "SearXNG（{address}）仍不提供 JSON，但 {file} 中已有 json",
            "SearXNG 只在启动时读取设置；如果已重启过，它读的是另一个文件，或者前面的代理拒绝访问。",
            "重启 SearXNG。",
        ),
        Wording(
            "SearXNG at {address} still gives no JSON, although {file} has json",
            "It reads its settings only at the start; if it was restarted, it has another file, or a proxy says no.",
            "Restart SearXNG.",
        ),
        f"{_SEARXNG}/settings/settings_search.html",
    ),
    "searxng.limiter": Texts(
        Wording(
            "SearXNG（{address}）的限流器拒绝了请求（HTTP 429）",
            "限流器开启时，每个地址每小时只放行约 4 次 API 请求。",
            "私有实例：settings.yml 中设 server.limiter: false 并重启；公开实例：把本机加入 limiter.toml 的 pass_ip。",
        ),
        Wording(
            "The limiter of SearXNG at {address} refuses our requests (HTTP 429)",
            "It lets through about 4 API calls an hour from one address.",
            "Private instance: set server.limiter: false in settings.yml and restart it. "
            "Public one: add this machine to pass_ip in limiter.toml.",
        ),
        f"{_SEARXNG}/searx.limiter.html",
    ),
    "searxng.limiter_on": Texts(
        Wording(
            "SearXNG（{address}）开启了限流器",
            "本机不在它的 pass_ip 中：每个地址每小时只放行约 4 次 API 请求。",
            "私有实例：settings.yml 中设 server.limiter: false 并重启；公开实例：把本机加入 limiter.toml 的 pass_ip。",
        ),
        Wording(
            "SearXNG at {address} has its limiter on",
            "This machine is not in its pass_ip: about 4 API calls an hour get through.",
            "Private instance: set server.limiter: false in settings.yml and restart it. "
            "Public one: add this machine to pass_ip in limiter.toml.",
        ),
        f"{_SEARXNG}/searx.limiter.html",
    ),
    "searxng.engines_blocked": Texts(
        Wording(
            "SearXNG（{address}）正常，但它的引擎全部被拦截：{engines}",
            "搜索网站对这台服务器的地址要求验证码或拒绝访问。",
            "稍等再试，在 settings.yml 中启用其他引擎，或设置 outgoing.proxies。",
        ),
        Wording(
            "SearXNG at {address} works, but all its engines are blocked: {engines}",
            "The search sites want a CAPTCHA from this server's address or deny it.",
            "Wait, switch on other engines in settings.yml, or set outgoing.proxies.",
        ),
        _ENGINES,
    ),
    "searxng.engines_timeout": Texts(
        Wording(
            "SearXNG（{address}）正常，但它的引擎全部超时：{engines}",
            "SearXNG 自己连不上互联网，或者太慢。",
            "检查 SearXNG（容器）自己的网络和 DNS，或调大 outgoing.request_timeout。",
        ),
        Wording(
            "SearXNG at {address} works, but all its engines time out: {engines}",
            "SearXNG itself has no way to the internet, or a slow one.",
            "Check the network and DNS of SearXNG (its container), or raise outgoing.request_timeout.",
        ),
        _ENGINES,
    ),
    "searxng.engines_offline": Texts(
        Wording(
            "SearXNG（{address}）正常，但它自己连不上互联网：{engines}",
            "所有引擎都报连接错误：SearXNG 所在的主机或容器没有网络、DNS 不通，或需要代理。",
            "检查它的网络和 DNS；必须走代理时设置 settings.yml 的 outgoing.proxies，然后重启。",
        ),
        Wording(
            "SearXNG at {address} works, but has no way to the internet itself: {engines}",
            "All engines report connection errors: its host or container has no network or DNS, or needs a proxy.",
            "Check its network and DNS; where a proxy is needed set outgoing.proxies in settings.yml and restart it.",
        ),
        f"{_SEARXNG}/settings/settings_outgoing.html",
    ),
    "searxng.engines_failing": Texts(
        Wording(
            "SearXNG（{address}）正常，但它的引擎全部失败：{engines}",
            "SearXNG 自己连不上这些搜索网站，或者网站已改版。",
            "检查 SearXNG（容器）自己的网络；{address}/stats 页面有各引擎的错误；更新 SearXNG。",
        ),
        Wording(
            "SearXNG at {address} works, but all its engines fail: {engines}",
            "SearXNG itself does not reach the search sites, or they have changed.",
            "Check the network of SearXNG (its container); its page {address}/stats shows the errors; update SearXNG.",
        ),
        _ENGINES,
    ),
    "searxng.no_engines": Texts(
        Wording(
            "SearXNG（{address}）没有给出任何结果，也没有引擎报错",
            "通用类别里没有启用任何引擎，或者它们的结果页已无法解析。",
            "在 settings.yml 的 engines 中启用引擎，或更新 SearXNG，然后重启。",
        ),
        Wording(
            "SearXNG at {address} found nothing at all, and no engine failed",
            "No engine is switched on for general searches, or their pages can no longer be read.",
            "Switch engines on under engines in settings.yml, or update SearXNG, then restart it.",
        ),
        _ENGINES,
    ),
    "searxng.few_engines": Texts(
        Wording(
            "SearXNG（{address}）只有 {good} 还在给出结果，其余失败：{engines}",
            "它再失败，搜索就没有结果了。",
            "在 settings.yml 中启用其他引擎，或查看 {address}/stats 中的错误。",
        ),
        Wording(
            "Of the engines of SearXNG at {address} only {good} gives results; the others fail: {engines}",
            "When that one fails too, nothing is left.",
            "Switch on other engines in settings.yml, or look at the errors on its page {address}/stats.",
        ),
        _ENGINES,
    ),
    "searxng.one_language": Texts(
        Wording(
            "SearXNG（{address}）对{language}查询没有结果",
            "启用的引擎不覆盖该语言，或它们这次失败了：{engines}",
            "在 settings.yml 中启用覆盖该语言的引擎（中文：baidu、sogou、bing）。",
        ),
        Wording(
            "SearXNG at {address} finds nothing for a query in {language}",
            "Its engines do not cover that language, or failed this time: {engines}",
            "Switch on engines for it in settings.yml (for Chinese: baidu, sogou, bing).",
        ),
        _ENGINES,
    ),
    "searxng.some_silent": Texts(
        Wording("SearXNG 有引擎没有应答：{engines}", "", "如长期如此，可在 settings.yml 中停用它们。"),
        Wording(
            "Some engines of SearXNG did not answer: {engines}", "", "If it stays so, disable them in settings.yml."
        ),
        _ENGINES,
    ),
    "searxng.slow": Texts(
        Wording(
            "SearXNG（{address}）很慢：一次搜索用了 {seconds} 秒",
            "它要等最慢的引擎；超过 SEARCH_TIMEOUT（{timeout} 秒）的搜索会失败。",
            "在 settings.yml 中设 outgoing.request_timeout: 2.0 和 outgoing.max_request_timeout: 2.0 "
            "并重启；为某个引擎单独设了 timeout 的也要调小。",
        ),
        Wording(
            "SearXNG at {address} is slow: a search took {seconds} s",
            "It waits for its slowest engine; a search over SEARCH_TIMEOUT ({timeout} s) fails.",
            "Set outgoing.request_timeout: 2.0 and outgoing.max_request_timeout: 2.0 in settings.yml and restart it; "
            "lower the timeout of single engines too.",
        ),
        f"{_SEARXNG}/settings/settings_outgoing.html",
    ),
    "searxng.broken": Texts(
        Wording("SearXNG（{address}）出错：{message}", "SearXNG 自身的故障。", "查看它的日志，更新或重启它。"),
        Wording(
            "SearXNG at {address} fails: {message}",
            "The fault is in SearXNG itself.",
            "Look at its log, update or restart it.",
        ),
    ),
    "searxng.old": Texts(
        Wording("SearXNG 的版本 {version} 已有 {days} 天", "搜索网站常改版，旧版的引擎会陆续失效。", "更新它。"),
        Wording(
            "SearXNG {version} is {days} days old",
            "Search sites change often, and the engines of old versions stop working one by one.",
            "Update it.",
        ),
        _DOCKER,
    ),
}
