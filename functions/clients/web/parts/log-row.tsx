import { exactTime, timeOfDay } from '#clients/client/text/time.ts';
import { type Piece, plain } from '#platform/text/ansi.ts';

/** One row of a log. */

/** Changes the address to a line. */
export const linkTo = (name: string, number: number): void =>
  history.replaceState(history.state, '', `#${name}-${number}`);

interface RowProps {
  /** Negative: counted from the end of the log. Undefined: not known yet. */
  number: number | undefined;
  name: string;
  pieces: Piece[];
  mark: string;
  /** Milliseconds since 1970; `null`: this line has no time. Undefined: times are hidden. */
  at?: number | null;
  aimed: boolean;
  onAim(): void;
  /** For a row that stands for several lines: unfolds them. */
  fold?: { address: string; count: number; open: boolean; onToggle(): void };
}

export const Row = ({ number, name, pieces, mark, at, aimed, onAim, fold }: RowProps) => (
  <div class={aimed ? 'line aimed' : 'line'}>
    <a
      class="number"
      href={number === undefined ? `#${name}` : `#${name}-${number}`}
      tabIndex={-1}
      aria-label={labelOf(number)}
      title={number === undefined ? 'Read the lines before, and link to this one' : undefined}
      onClick={(event) => {
        event.preventDefault();
        onAim();
      }}
    >
      {number === undefined ? '·' : number > 0 ? number : `−${-number}`}
    </a>
    {at !== undefined && (
      <time class="at" title={at === null ? undefined : exactTime(new Date(at).toISOString())}>
        {at === null ? '' : timeOfDay(new Date(at).toISOString())}
      </time>
    )}
    {fold && (
      <button
        type="button"
        class="fold"
        aria-expanded={fold.open}
        aria-label={`${fold.address}, ${fold.count} lines`}
        onClick={fold.onToggle}
      >
        {fold.open ? '▾' : '▸'} {fold.count}
      </button>
    )}
    <span>
      {pieces.map(({ text, style }, i) => {
        const words = marked(text, mark);
        return style === plain ? (
          <span key={i}>{words}</span>
        ) : (
          <span key={i} class={classOf(style)}>
            {words}
          </span>
        );
      })}
    </span>
  </div>
);

const labelOf = (number: number | undefined): string => {
  if (number === undefined) return 'Link to this line';
  return number > 0 ? `Line ${number}` : `Line ${-number} from the end`;
};

const classOf = ({ bold, dim, italic, underline, colour }: Piece['style']): string =>
  [bold && 'b', dim && 'd', italic && 'i', underline && 'u', colour !== undefined && `c${colour}`]
    .filter(Boolean)
    .join(' ');

/** The text with search matches marked. */
const marked = (text: string, mark: string) => {
  if (!mark) return text;
  const parts = [];
  const low = text.toLowerCase();
  const needle = mark.toLowerCase();
  let from = 0;
  for (let i = low.indexOf(needle); i >= 0; i = low.indexOf(needle, from)) {
    parts.push(text.slice(from, i), <mark key={i}>{text.slice(i, i + needle.length)}</mark>);
    from = i + needle.length;
  }
  return parts.length ? [...parts, text.slice(from)] : text;
};
