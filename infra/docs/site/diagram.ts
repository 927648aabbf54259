import { renderMermaidSVG } from 'beautiful-mermaid';

/**
 * A Mermaid diagram as SVG, for a place in a page. Its own styles are left out, because the policy of pages refuses them;
 * docs.css has the colours.
 * @param id unique on the page
 * @throws {Error} for a kind of diagram that cannot be drawn
 */
export const drawn = (text: string, id: string): string =>
  renderMermaidSVG(text, { padding: 4 })
    .replace(/<style>.*?<\/style>\n?/s, '')
    .replace(/ style="[^"]*"/, ` role="img" aria-label="Diagram, with its text below"`)
    .replace(/(id="|url\(#)/g, `$1${id}-`)
    // Thousandths of a pixel, and attributes for scripts.
    .replace(/\d+\.\d{2,}/g, (number) => String(Math.round(Number(number) * 10) / 10))
    .replace(/ data-[a-z-]+="[^"]*"/g, '');
