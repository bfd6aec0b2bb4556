// The types of vendor.js, for `tsc --checkJs` alone.
export { h, render, Fragment, Component, createContext } from "preact";
export type { ComponentChildren, VNode } from "preact";
export { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
export { default as htm } from "htm";
export { default as MarkdownIt } from "markdown-it";
export { default as DOMPurify } from "dompurify";
