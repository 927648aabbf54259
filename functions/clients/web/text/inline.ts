/** Inline Markdown. Everything else, including HTML, stays text. */
export type Inline =
  | string
  | { kind: 'code'; text: string }
  | { kind: 'strong' | 'em' | 'del'; children: Inline[] }
  | { kind: 'link'; href: string; children: Inline[] };

/** Limit against hostile nesting. */
const maxDepth = 5;

/** Allowed link targets: none that execute code. */
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

/** Longer URLs are not links. */
const maxHref = 2_000;

/**
 * Finds closing marks. Searches only move forward, so results are cached, including misses:
 * a text of only opening marks takes no longer than any other.
 */
const closer = (text: string) => {
  const positions = new Map<string, number>();
  return (mark: string, from: number): number => {
    const position = positions.get(mark);
    if (position !== undefined && (position < 0 || position >= from)) return position;
    const at = text.indexOf(mark, from);
    positions.set(mark, at);
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
    const [matched, escaped, ticks, emphasis, bracket, angled, bare] = match;
    const after = match.index + matched.length;
    say(text.slice(at, match.index));
    const read = (): [Inline, number] => {
      if (escaped) return [escaped, after];
      if (ticks) {
        const end = find(ticks, after);
        return end < 0 ? [matched, after] : [{ kind: 'code', text: text.slice(after, end).trim() }, end + ticks.length];
      }
      if (emphasis) {
        const end = find(emphasis, after);
        // snake_case is one word; a single star before a space is a star.
        const inWord = emphasis.startsWith('_') && isWord(text[match.index - 1]);
        if (end <= after || inWord || /\s/.test(text[after] ?? ' ')) return [matched, after];
        return [{ kind: kinds[emphasis] ?? 'em', children: within(after, end) }, end + emphasis.length];
      }
      if (bracket) {
        const middle = find('](', after);
        const end = middle < 0 ? -1 : find(')', middle);
        if (end < 0 || end - middle > maxHref) return [matched, after];
        const href = safeHref(
          text
            .slice(middle + 2, end)
            .trim()
            .split(/\s/)[0] ?? '',
        );
        // Parse the content only after the closing mark is found: otherwise many brackets would take quadratic time.
        if (!href) return [matched, after];
        // Loading an image would contact any host; its description becomes a link instead.
        return [{ kind: 'link', href, children: within(after, middle) }, end + 1];
      }
      const href = safeHref(angled ?? bare ?? '');
      const shown = angled ?? bare ?? matched;
      return [href ? { kind: 'link', href, children: [shown] } : matched, after];
    };
    const [inline, next] = read();
    say(inline);
    at = next;
  }
  say(text.slice(at));
  return parts;
};
