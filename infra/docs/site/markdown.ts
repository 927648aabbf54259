import { Marked, type Token, type Tokens } from 'marked';

/** A page from Markdown: its HTML, and its sections for the search. */

export interface Section {
  /** Empty before the first heading below the title. */
  anchor: string;
  title: string;
  /** Plain text. */
  text: string;
}

export interface Rendered {
  title: string;
  html: string;
  sections: Section[];
  /** Headings of the second level. */
  outline: { anchor: string; title: string }[];
  anchors: Set<string>;
}

export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** GitHub's anchor of a heading. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const characters: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const plain = (html: string): string =>
  html
    .replace(/<\/?(?:a|code|em|strong)\b[^>]*>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => characters[name] as string)
    .replace(/\s+/g, ' ')
    .trim();

/**
 * The second word of a block: the file that it is, or what the tests do with it (test/e2e/tutorials.test.ts). Diagrams
 * are shown as text: to draw them, every reader would load a megabyte.
 */
const captionOf = (lang = ''): string => {
  const [kind, name = ''] = lang.split(' ');
  if (kind === 'mermaid') return 'Diagram, as text (Mermaid)';
  if (name === 'output') return 'Output';
  return name.includes('.') ? name : '';
};

/** Wide content scrolls by itself, also with keys. */
const scrolling = (label: string, content: string): string =>
  `<div class="scrolling" role="group" aria-label="${label}" tabindex="0">${content}</div>\n`;

const markedFor = (hrefOf: (href: string) => string | undefined): Marked =>
  new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const html = this.parser.parseInline(tokens);
        const anchor = anchorOf(plain(html));
        return depth === 1
          ? `<h1>${html}</h1>\n`
          : `<h${depth} id="${anchor}"><a href="#${anchor}">${html}</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        const html = this.parser.parseInline(tokens);
        const to = hrefOf(href);
        return to === undefined ? html : `<a href="${escaped(to)}">${html}</a>`;
      },
      code({ text, lang }) {
        const caption = captionOf(lang);
        const label = caption || 'Code';
        const title = caption ? `<figcaption>${escaped(caption)}</figcaption>` : '';
        return `<figure>${title}<pre tabindex="0" aria-label="${escaped(label)}"><code>${escaped(text)}\n</code></pre></figure>\n`;
      },
      table(token) {
        // A column whose cells need no heading has an empty one.
        const cell = ({ text, tokens }: Tokens.TableCell, name: string) =>
          text ? `<${name}>${this.parser.parseInline(tokens)}</${name}>` : '<td></td>';
        const row = (cells: Tokens.TableCell[], name: string) =>
          `<tr>${cells.map((one) => cell(one, name)).join('')}</tr>`;
        const head = token.header.some(({ text }) => text) ? `<thead>${row(token.header, 'th')}</thead>` : '';
        const body = token.rows.map((cells) => row(cells, 'td')).join('\n');
        return scrolling('Table', `<table>${head}<tbody>${body}</tbody></table>`);
      },
      // Marks of generated parts.
      html: () => '',
    },
  });

/** The tokens of each section, by its heading. */
const split = (tokens: Token[]): { heading?: Tokens.Heading; body: Token[] }[] => {
  const parts: { heading?: Tokens.Heading; body: Token[] }[] = [{ body: [] }];
  for (const token of tokens) {
    if (token.type === 'heading' && token.depth <= 3) parts.push({ heading: token as Tokens.Heading, body: [] });
    else parts.at(-1)?.body.push(token);
  }
  return parts.filter(({ heading, body }) => heading || body.length);
};

/**
 * @param hrefOf the address of a link's target on the site; undefined shows its text only
 * @throws {Error} for a page without a title
 */
export const render = (text: string, hrefOf: (href: string) => string | undefined): Rendered => {
  const marked = markedFor(hrefOf);
  const tokens = marked.lexer(text);
  const parts = split(tokens).map(({ heading, body }) => ({
    depth: heading?.depth ?? 0,
    title: heading ? plain(marked.parser([heading])) : '',
    text: plain(marked.parser(body)),
  }));
  const [first] = parts;
  if (first?.depth !== 1) throw new Error('The page has no title');
  const sections = parts.map(({ depth, title, text }) => ({ anchor: depth > 1 ? anchorOf(title) : '', title, text }));
  return {
    title: first.title,
    html: marked.parser(tokens),
    sections,
    outline: parts.flatMap(({ depth, title }) => (depth === 2 ? [{ anchor: anchorOf(title), title }] : [])),
    anchors: new Set(sections.map(({ anchor }) => anchor)),
  };
};
