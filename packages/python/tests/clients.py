"""Every way to read a reply: with HTTP clients, and with the SDKs' bytes, events and helpers."""

import asyncio
from collections.abc import Callable
from typing import Any

import aiohttp
import anthropic
import httpx
import httpx2
import openai
import reknit
import requests
from serving import APIS, QUESTION

Reader = Callable[[str, float], list[reknit.Item]]


def body(dialect: str) -> dict[str, Any]:
    return {"model": "any", "stream": True, **APIS[dialect][1]}


def sync_client(dialect: str, library: Any, from_response: bool) -> Reader:
    def read(url: str, patience: float) -> list[reknit.Item]:
        with library.Client(timeout=patience) as client:
            with client.stream("POST", url + APIS[dialect][0], json=body(dialect)) as response:
                return list(reknit.read(response if from_response else response.iter_bytes()))

    return read


def async_client(dialect: str, library: Any, from_response: bool) -> Reader:
    async def read(url: str, patience: float) -> list[reknit.Item]:
        async with library.AsyncClient(timeout=patience) as client:
            async with client.stream("POST", url + APIS[dialect][0], json=body(dialect)) as response:
                source = response if from_response else response.aiter_bytes()
                return [item async for item in reknit.aread(source)]

    return lambda url, patience: asyncio.run(read(url, patience))


def requests_client(dialect: str) -> Reader:
    def read(url: str, patience: float) -> list[reknit.Item]:
        path = url + APIS[dialect][0]
        with requests.post(path, json=body(dialect), stream=True, timeout=patience) as response:
            return list(reknit.read(response.iter_content(None)))

    return read


def aiohttp_client(dialect: str, from_response: bool) -> Reader:
    async def read(url: str, patience: float) -> list[reknit.Item]:
        timeout = aiohttp.ClientTimeout(sock_read=patience)
        async with aiohttp.ClientSession(timeout=timeout) as session:
            async with session.post(url + APIS[dialect][0], json=body(dialect)) as response:
                source = response if from_response else response.content.iter_any()
                return [item async for item in reknit.aread(source)]

    return lambda url, patience: asyncio.run(read(url, patience))


def sdk(dialect: str, url: str, patience: float, asynchronous: bool) -> tuple[Any, Any, dict[str, Any]]:
    """The client of the SDK, the API to ask, and what to ask it."""
    options: dict[str, Any] = {"api_key": "none", "max_retries": 0, "timeout": patience}
    if dialect == "anthropic":
        client: Any = (anthropic.AsyncAnthropic if asynchronous else anthropic.Anthropic)(base_url=url, **options)
        return client, client.messages, {"model": "any", "max_tokens": 99, "messages": QUESTION}
    client = (openai.AsyncOpenAI if asynchronous else openai.OpenAI)(base_url=f"{url}/v1", **options)
    if dialect == "openai-chat":
        return client, client.chat.completions, {"model": "any", "messages": QUESTION}
    return client, client.responses, {"model": "any", "input": QUESTION}


def sdk_events(dialect: str) -> Reader:
    def read(url: str, patience: float) -> list[reknit.Item]:
        client, api, question = sdk(dialect, url, patience, False)
        with client, api.create(stream=True, **question) as stream:
            return list(reknit.read(stream))

    return read


def sdk_bytes(dialect: str) -> Reader:
    def read(url: str, patience: float) -> list[reknit.Item]:
        client, api, question = sdk(dialect, url, patience, False)
        with client, api.with_streaming_response.create(stream=True, **question) as response:
            return list(reknit.read(response))

    return read


def sdk_helper(dialect: str) -> Reader:
    def read(url: str, patience: float) -> list[reknit.Item]:
        client, api, question = sdk(dialect, url, patience, False)
        with client, api.stream(**question) as stream:
            return list(reknit.read(stream))

    return read


def async_sdk_events(dialect: str) -> Reader:
    async def read(url: str, patience: float) -> list[reknit.Item]:
        client, api, question = sdk(dialect, url, patience, True)
        async with client, await api.create(stream=True, **question) as stream:
            return [item async for item in reknit.aread(stream)]

    return lambda url, patience: asyncio.run(read(url, patience))


def async_sdk_bytes(dialect: str) -> Reader:
    async def read(url: str, patience: float) -> list[reknit.Item]:
        client, api, question = sdk(dialect, url, patience, True)
        async with client, api.with_streaming_response.create(stream=True, **question) as response:
            return [item async for item in reknit.aread(response)]

    return lambda url, patience: asyncio.run(read(url, patience))


def readers(dialect: str) -> dict[str, Reader]:
    return {
        "httpx": sync_client(dialect, httpx, False),
        "httpx, the response": sync_client(dialect, httpx, True),
        "httpx, asynchronous": async_client(dialect, httpx, False),
        "httpx, asynchronous, the response": async_client(dialect, httpx, True),
        "httpx2": sync_client(dialect, httpx2, False),
        "httpx2, asynchronous": async_client(dialect, httpx2, True),
        "requests": requests_client(dialect),
        "aiohttp": aiohttp_client(dialect, False),
        "aiohttp, the response": aiohttp_client(dialect, True),
        "SDK, bytes": sdk_bytes(dialect),
        "SDK, events": sdk_events(dialect),
        "SDK, helper": sdk_helper(dialect),
        "SDK, asynchronous, bytes": async_sdk_bytes(dialect),
        "SDK, asynchronous, events": async_sdk_events(dialect),
    }
