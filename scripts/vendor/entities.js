// Stands in for the package of that name: the browser knows all named characters itself, which saves their long table.
const field = document.createElement("textarea");

/** markdown-it asks for single references only, such as &copy; or &#169;. */
export function decodeHTMLStrict(reference) {
  if (!/^&[#\w]+;$/.test(reference)) return reference;
  field.innerHTML = reference; // plain text for this element, whatever it says
  return field.value;
}
