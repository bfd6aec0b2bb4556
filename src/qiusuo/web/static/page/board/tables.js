/** Tables with a name, their file for spreadsheets, and cards that have a plot above one. */
import { download } from "../api.js";
import { html } from "../html.js";
import { useState } from "../vendor.js";
import { tr } from "./telling.js";

/**
 * @typedef {object} Column
 * @property {string} title
 * @property {(row: any) => any} cell
 * @property {boolean} [words] the cell has words, no figure
 */

/** @param {{name: string, columns: Column[], rows: any[], keyOf: (row: any) => string, wide?: boolean}} props */
export function DataTable({ name, columns, rows, keyOf, wide = false }) {
  if (!rows.length) return html`<p class="hint nothing">${tr("nothing")}</p>`;
  return html`
    <div class=${wide ? "scroll wide" : "scroll"} tabindex="0" role="group" aria-label=${name}>
      <table>
        <caption class="unseen">${name}</caption>
        <thead>
          <tr>
            ${columns.map((column) => html`<th scope="col" key=${column.title} class=${column.words ? "words" : ""}>${column.title}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            (row) => html`
              <tr key=${keyOf(row)}>
                ${columns.map((column, index) =>
                  index
                    ? html`<td key=${column.title} class=${column.words ? "words" : ""}>${column.cell(row)}</td>`
                    : html`<th key=${column.title} scope="row" class="words">${column.cell(row)}</th>`,
                )}
              </tr>
            `,
          )}
        </tbody>
      </table>
    </div>
  `;
}

/** @param {{path: string, file: string, name: string}} props */
export function SheetButton({ path, file, name }) {
  const [failed, setFailed] = useState("");
  const save = async () => {
    try {
      await download(path, file);
      setFailed("");
    } catch (error) {
      setFailed(/** @type {Error} */ (error).message);
    }
  };
  return html`
    <button type="button" class="quiet csv" aria-label=${tr("csvOf", { name })} onClick=${save}>CSV</button>
    ${failed && html`<span role="alert" class="wrong">${failed}</span>`}
  `;
}

/** @param {{title: string, about?: string, sheet: any, children?: any, more?: any}} props */
export function Card({ title, about, sheet, more, children }) {
  return html`
    <section class="card" aria-label=${title}>
      <header>
        <h2>${title}</h2>
        ${more}
        ${sheet}
      </header>
      ${about && html`<p class="hint">${about}</p>`}
      ${children}
    </section>
  `;
}

/** @param {{name: string, columns: Column[], rows: any[], keyOf: (row: any) => string}} props */
export function Folded(props) {
  return html`
    <details class="folded">
      <summary>${tr("asTable")}</summary>
      <${DataTable} ...${props} />
    </details>
  `;
}
