/**
 * Text of a banner with a little HTML (Terraform Enterprise API: admin banners): `strong`, `em`, `b`, `i` and `a` with
 * an address stay, all other tags are removed. The page creates elements from the parts; no browser ever parses the
 * text as HTML.
 */

export type BannerPart =
  | string
  | { tag: 'strong' | 'em' | 'b' | 'i'; parts: BannerPart[] }
  | { tag: 'a'; href: string; parts: BannerPart[] };
type Element = Exclude<BannerPart, string>;

const pieces = /<(\/?)([a-zA-Z][a-zA-Z0-9]*)((?:"[^"]*"|'[^']*'|[^<>"'])*)>|[^<]+|</g;
const hrefIn = /(?:^|\s)href\s*=\s*(?:"([^"]*)"|'([^']*)')/i;
const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

const decoded = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name] ?? '');
const encoded = (text: string): string =>
  text.replace(/[&<>]/g, (character) => (character === '&' ? '&amp;' : character === '<' ? '&lt;' : '&gt;'));

/** Only addresses that cannot execute code in a browser. */
const safeHref = (attributes: string): string | undefined => {
  const [, double, single] = hrefIn.exec(attributes) ?? [];
  const text = decoded(double ?? single ?? '').trim();
  return /^(https?|mailto):/i.test(text) && URL.canParse(text) ? new URL(text).href : undefined;
};

const elementOf = (name: string, attributes: string): Element | undefined => {
  if (name === 'strong' || name === 'em' || name === 'b' || name === 'i') return { tag: name, parts: [] };
  const href = name === 'a' ? safeHref(attributes) : undefined;
  return href === undefined ? undefined : { tag: 'a', href, parts: [] };
};

/** The allowed parts of a text. Unclosed tags end with it. */
export const bannerParts = (html: string): BannerPart[] => {
  const root: BannerPart[] = [];
  const open: Element[] = [];
  const currentParts = () => open.at(-1)?.parts ?? root;
  for (const [piece, slash, name, attributes = ''] of html.matchAll(pieces)) {
    const tag = name?.toLowerCase();
    if (tag === undefined) currentParts().push(decoded(piece));
    else if (slash) {
      const at = open.findLastIndex((openElement) => openElement.tag === tag);
      if (at >= 0) open.splice(at);
    } else {
      const element = elementOf(tag, attributes);
      if (!element) continue;
      currentParts().push(element);
      open.push(element);
    }
  }
  return root;
};

const written = (part: BannerPart): string => {
  if (typeof part === 'string') return encoded(part);
  const attributes = part.tag === 'a' ? ` href="${encoded(part.href).replaceAll('"', '&quot;')}"` : '';
  return `<${part.tag}${attributes}>${part.parts.map(written).join('')}</${part.tag}>`;
};

/** The text with only the allowed tags. */
export const sanitized = (html: string): string => bannerParts(html).map(written).join('');
