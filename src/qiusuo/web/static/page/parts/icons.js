/** Small drawings; the words beside them, or the button's name, say what they mean. */
import { html } from "../html.js";

/** @type {Record<string, string>} */
const PATHS = {
  compose: "M12 4H5v15h15v-7M9 15l1-4 8-8 3 3-8 8z",
  clip: "M9 11l6-6a3 3 0 0 1 4 4l-8 8a5 5 0 0 1-7-7l7-7",
  plus: "M12 5v14M5 12h14",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M8 8h8v8H8z",
  menu: "M4 7h16M4 12h16M4 17h16",
  close: "M6 6l12 12M18 6L6 18",
  edit: "M4 20h4L19 9l-4-4L4 16v4M13.5 6.5l4 4",
  trash: "M5 7h14M10 7V5h4v2M7 7l1 13h8l1-13",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  retry: "M4 5v5h5M5 10a8 8 0 1 1-1 5",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6l1.4 1.4M17 17l1.4 1.4M18.4 5.6L17 7M7 17l-1.4 1.4",
  moon: "M20 14.5A8 8 0 0 1 9.5 4 8 8 0 1 0 20 14.5",
  auto: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16M12 4v16",
  down: "M12 5v14M6 13l6 6 6-6",
  book: "M5 4h11a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h11",
  forward: "M5 12h14M13 6l6 6-6 6",
  back: "M19 12H5M11 6l-6 6 6 6",
  gear: "M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4",
  layers: "M4 6h16M4 11h9M4 16h6M16 12a4 4 0 1 0 0 8 4 4 0 0 0 0-8M19 19l2.5 2.5",
  focus: "M4 6h16l-6 7v5l-4 2v-7z",
  find: "M11 5a6 6 0 1 0 0 12 6 6 0 0 0 0-12M20 20l-4.5-4.5",
  more: "M4.5 12h1M11.5 12h1M18.5 12h1",
  good: "M7 11v9H4v-9zM7 11l4-7a2 2 0 0 1 2 2v4h5.5a1.5 1.5 0 0 1 1.5 1.8l-1.3 6.6a2 2 0 0 1-2 1.6H7",
  bad: "M7 13V4H4v9zM7 13l4 7a2 2 0 0 0 2-2v-4h5.5a1.5 1.5 0 0 0 1.5-1.8l-1.3-6.6a2 2 0 0 0-2-1.6H7",
  keys: "M3 7h18v10H3zM7 10.5h.01M12 10.5h.01M17 10.5h.01M8 14h8",
  info: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16M12 11v5M12 8h.01",
};

/**
 * A button that is a drawing only; all else that is given is given to the button.
 *
 * @param {{icon: string, label: string} & Record<string, unknown>} props
 */
export function IconButton({ icon, label, ...rest }) {
  return html`<button type="button" class="quiet" aria-label=${label} title=${label} ...${rest}><${Icon} name=${icon} /></button>`;
}

/**
 * Opens what can be done with a conversation, an answer of it, or all of them; loaded when somebody asks for it.
 *
 * @param {{label: string, session?: string, turn?: string} & Record<string, unknown>} props
 */
export function MoreButton({ label, session, turn, ...rest }) {
  const open = async () => (await import("../later/menu.js")).openMenu({ session, turn });
  return html`<${IconButton} icon="more" label=${label} onClick=${open} ...${rest} />`;
}

/** @param {{name: string}} props */
export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d=${PATHS[name]} /></svg>`;
}
