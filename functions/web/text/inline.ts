/** What stands within a line of Markdown. Everything else, HTML above all, is text. */
export type Inline =
  | string
  | { kind: 'code'; text: string }
  | { kind: 'strong' | 'em' | 'del'; children: Inline[] }
  | { kind: 'link'; href: string; children: Inline[] };

/** Deeper than people write. */
const maxDepth = 5;

/** Where a link may lead: nowhere that a browser would run something. */
export const safeHref = (text: string): string | undefined => {
  if (!URL.canParse(text)) return undefined;
  const { protocol, href } = new URL(text);
  return ['http:', 'https:', 'mailto:'].includes(protocol) ? href : undefined;
};

const mark =
  /\\([!-/:-@[-`{-~])|(`+)|(\*\*|__|~~|\*|_)|(!?\[)|<(https?:\/\/[^\s<>]{1,2000})>|(https?:\/\/[^\s<>()]{1,2000})/g;
const kinds: Record<string, 'strong' | 'em' | 'del'> = {
  '**': 'strong',
  __: 'strong',
  '~~': 'del',
  '*': 'em',
  _: 'em',
};

const isWord = (character: string | undefined): boolean => character !== undefined && /[\p{L}\p{N}]/u.test(character);

/** Longer ones are no addresses that people write. */
const maxHref = 2_000;

/**
 * Finds what closes a mark. Each is looked for ever further on, so where it was found is remembered, and that it was
 * not: a text of nothing but opening marks takes no longer than any other.
 */
const closer = (text: string) => {
  const positions = new Map<string, number>();
  return (what: string, from: number): number => {
    const position = positions.get(what);
    if (position !== undefined && (position < 0 || position >= from)) return position;
    const at = text.indexOf(what, from);
    positions.set(what, at);
    return at;
  };
};

export const parseInline = (text: string, depth = 0): Inline[] => {
  if (depth > maxDepth) return text ? [text] : [];
  const parts: Inline[] = [];
  const say = (more: Inline): void => {
    const last = parts.at(-1);
    if (typeof more === 'string' && typeof last === 'string') parts[parts.length - 1] = last + more;
    else if (more !== '') parts.push(more);
  };
  const find = closer(text);
  const within = (from: number, to: number): Inline[] => parseInline(text.slice(from, to), depth + 1);
  let at = 0;
  for (;;) {
    mark.lastIndex = at;
    const match = mark.exec(text);
    if (!match) break;
    const [whole, escaped, ticks, emphasis, bracket, angled, bare] = match;
    const after = match.index + whole.length;
    say(text.slice(at, match.index));
    const read = (): [Inline, number] => {
      if (escaped) return [escaped, after];
      if (ticks) {
        const end = find(ticks, after);
        return end < 0 ? [whole, after] : [{ kind: 'code', text: text.slice(after, end).trim() }, end + ticks.length];
      }
      if (emphasis) {
        const end = find(emphasis, after);
        // snake_case is a word, and a lone star or one before a space is itself.
        const inWord = emphasis.startsWith('_') && isWord(text[match.index - 1]);
        if (end <= after || inWord || /\s/.test(text[after] ?? ' ')) return [whole, after];
        return [{ kind: kinds[emphasis] ?? 'em', children: within(after, end) }, end + emphasis.length];
      }
      if (bracket) {
        const middle = find('](', after);
        const end = middle < 0 ? -1 : find(')', middle);
        if (end < 0 || end - middle > maxHref) return [whole, after];
        const href = safeHref(
          text
            .slice(middle + 2, end)
            .trim()
            .split(/\s/)[0] ?? '',
        );
        // What is within is read once it is known to be: else each of many brackets would have all after it read.
        if (!href) return [whole, after];
        // An image would be fetched from wherever somebody wants; its description leads there.
        return [{ kind: 'link', href, children: within(after, middle) }, end + 1];
      }
      const href = safeHref(angled ?? bare ?? '');
      const shown = angled ?? bare ?? whole;
      return [href ? { kind: 'link', href, children: [shown] } : whole, after];
    };
    const [inline, next] = read();
    say(inline);
    at = next;
  }
  say(text.slice(at));
  return parts;
};
