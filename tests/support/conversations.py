"""Conversations over the small web, with what each answer must have."""

from __future__ import annotations

CHINESE: tuple[tuple[str, str], ...] = (
    ("云岭大桥的主跨有多长", "1196米"),
    ("它的总设计师是谁", "林致远"),
    ("那它的收费标准呢", "15元"),
    ("它为什么加装导流板", "涡振"),
    ("青石隧道全长多少米", "4380米"),
)
ENGLISH: tuple[tuple[str, str], ...] = (
    ("How tall is Larkfield Lighthouse?", "47 metres"),
    ("Who designed it?", "Edith Marlowe"),
    ("Why did it close to visitors?", "staircase"),
    ("How much does a ticket for it cost?", "12 dollars"),
    ("And how tall is Dunmore Lighthouse?", "19 metres"),
)
