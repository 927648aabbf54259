import { useMemo } from 'preact/hooks';
import type { Side } from '#clients/client/text/plan-rows.ts';
import { type Line, shortened, textDifference } from '../text/text-diff.ts';

/** The two sides of a changed attribute. */

interface Props {
  was: Side;
  will: Side;
  before: boolean;
  after: boolean;
  /** Also shows unchanged lines. */
  everything: boolean;
}

export const Cells = ({ was, will, before, after, everything }: Props) => {
  const texts = was && will && 'text' in was && 'text' in will ? ([was.text, will.text] as const) : undefined;
  const difference = useMemo(() => texts && textDifference(...texts), [texts?.[0], texts?.[1]]);
  if (difference && before && after) {
    return (
      <>
        <Text lines={difference.before} tone="was" everything={everything} />
        <Text lines={difference.after} tone="will" everything={everything} />
      </>
    );
  }
  return (
    <>
      {before && <Cell side={was} tone={after ? 'was' : ''} cut={after && !everything} />}
      {after && <Cell side={will} tone={before ? 'will' : ''} cut={before && !everything} />}
    </>
  );
};

/** Truncates a text that has no counterpart to compare with. */
const mostLines = 8;

const Cell = ({ side, tone, cut }: { side: Side; tone: string; cut: boolean }) => {
  if (!side) return <td class="hidden-value">–</td>;
  if ('hidden' in side) return <td class={`hidden-value ${tone}`}>{side.hidden}</td>;
  const lines = side.text.split('\n');
  if (!cut || lines.length <= mostLines + 1) return <td class={tone}>{side.text}</td>;
  return (
    <td class={tone}>
      {lines.slice(0, mostLines).join('\n')}
      <div class="hidden-value">… {lines.length - mostLines} more lines</div>
    </td>
  );
};

const Text = ({ lines, tone, everything }: { lines: Line[]; tone: string; everything: boolean }) => (
  <td class={tone}>
    {(everything ? lines : shortened(lines)).map((line, i) =>
      typeof line === 'number' ? (
        <div key={i} class="hidden-value">
          … {line} unchanged lines
        </div>
      ) : (
        <div key={i}>
          {line.parts.map(({ text, changed }, n) => (changed ? <mark key={n}>{text}</mark> : text))}
          {line.parts.every(({ text }) => text === '') && '\u00a0'}
        </div>
      ),
    )}
  </td>
);
