import { Marked, type Token, type Tokens } from 'marked';
import { drawn } from './diagram.ts';

/** A page from Markdown: its HTML, and its sections for the search. */

export interface Section {
  /** Of its heading: 1 for the title. */
  depth: number;
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
  outline: Section[];
  anchors: Set<string>;
  /** Words that readers search for and the page does not have: `<!-- keywords: … -->`. */
  keywords: string;
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
    .replace(/<svg.*?<\/svg>/gs, '')
    .replace(/<\/?(?:a|code|em|strong)\b[^>]*>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => characters[name] as string)
    .replace(/\s+/g, ' ')
    .trim();

/** The second word of a block: the file that it is, or what the tests do with it (test/e2e/tutorials.test.ts). */
const captionOf = (lang = ''): string => {
  const [, name = ''] = lang.split(' ');
  if (name === 'output') return 'Output';
  return name.includes('.') ? name : '';
};

/** Wide content scrolls by itself, also with keys. */
const scrolling = (label: string, content: string): string =>
  `<div class="scrolling" role="group" aria-label="${label}" tabindex="0">${content}</div>\n`;

const preformatted = (label: string, text: string): string =>
  `<pre tabindex="0" aria-label="${escaped(label)}"><code>${escaped(text)}\n</code></pre>`;

const diagram = (text: string, id: string): string =>
  `<figure>${scrolling('Diagram', drawn(text, id))}<details><summary>Diagram as text (Mermaid)</summary>${preformatted('Diagram', text)}</details></figure>\n`;

export interface Addresses {
  /** The address of a link's target on the site; undefined shows its text only. */
  link(href: string): string | undefined;
  /** The address of a picture on the site. */
  picture(href: string): string;
}

const markedFor = ({ link, picture }: Addresses): Marked => {
  let diagrams = 0;
  const headings = new Map<string, number>();
  /** As on GitHub, the second heading of the same text has `-1`. */
  const ownAnchor = (anchor: string): string => {
    const former = headings.get(anchor);
    headings.set(anchor, (former ?? 0) + 1);
    return former ? `${anchor}-${former}` : anchor;
  };
  return new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const html = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1>${html}</h1>\n`;
        const anchor = ownAnchor(anchorOf(plain(html)));
        return `<h${depth} id="${anchor}"><a href="#${anchor}">${html}</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        const html = this.parser.parseInline(tokens);
        const to = link(href);
        return to === undefined ? html : `<a href="${escaped(to)}">${html}</a>`;
      },
      image({ href, text }) {
        return `<img src="${escaped(picture(href))}" alt="${escaped(text)}">`;
      },
      code({ text, lang }) {
        if (lang === 'mermaid') return diagram(text, `diagram-${++diagrams}`);
        const caption = captionOf(lang);
        const label = caption || 'Code';
        const title = caption ? `<figcaption>${escaped(caption)}</figcaption>` : '';
        return `<figure>${title}${preformatted(label, text)}</figure>\n`;
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
      // Marks of generated parts, and keywords.
      html: () => '',
    },
  });
};

/** The tokens of each section, by its heading. */
const split = (tokens: Token[]): { heading?: Tokens.Heading; body: Token[] }[] => {
  const parts: { heading?: Tokens.Heading; body: Token[] }[] = [{ body: [] }];
  for (const token of tokens) {
    if (token.type === 'heading' && token.depth <= 3) parts.push({ heading: token as Tokens.Heading, body: [] });
    else parts.at(-1)?.body.push(token);
  }
  return parts.filter(({ heading, body }) => heading || body.length);
};

/** @throws {Error} for a page without a title */
export const render = (text: string, addresses: Addresses): Rendered => {
  const marked = markedFor(addresses);
  const parts = split(marked.lexer(text)).map(({ heading, body }) => ({
    depth: heading?.depth ?? 0,
    heading: heading ? marked.parser([heading]) : '',
    body: marked.parser(body),
  }));
  const [first] = parts;
  if (first?.depth !== 1) throw new Error('The page has no title');
  const sections = parts.map(({ depth, heading, body }) => {
    const title = plain(heading);
    return { depth, anchor: /^<h\d id="([^"]+)/.exec(heading)?.[1] ?? '', title, text: plain(body) };
  });
  return {
    title: plain(first.heading),
    html: parts.map(({ heading, body }) => heading + body).join(''),
    sections,
    outline: sections.filter(({ depth }) => depth === 2),
    keywords: /^<!-- keywords: (.*?) -->$/m.exec(text)?.[1] ?? '',
    anchors: new Set(sections.map(({ anchor }) => anchor)),
  };
};
