import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Difference, Kind } from '#clients/client/text/plan.ts';
import { type Row, rowsOf } from '#clients/client/text/plan-rows.ts';
import { hash } from '../location.ts';
import { Cells } from './diff-cells.tsx';
import { signs } from './diff-signs.ts';

/** The change of one resource; its attributes are compared when it is opened. */

/** Headings of the compared values. */
export type Sides = readonly [before: string, after: string] | undefined;

export const pastTense: Partial<Record<Kind, { name: string; chip: string }>> = {
  create: { name: 'added', chip: 'Added' },
  update: { name: 'changed', chip: 'Changed' },
  destroy: { name: 'removed', chip: 'Removed' },
};

const tags = { move: 'moved', import: 'imported' };

/** `#change-aws_vpc.main` links to the change of one resource. */
export const aimedAt = (text: string): string | undefined => {
  try {
    return text.startsWith('#change-') ? decodeURIComponent(text.slice('#change-'.length)) : undefined;
  } catch {
    return undefined;
  }
};

interface ResourceProps {
  difference: Difference;
  open: boolean;
  did: boolean;
  sides: Sides;
}

export const Resource = ({ difference, open: openAtFirst, did, sides }: ResourceProps) => {
  const open = useSignal(openAtFirst);
  const element = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (aimedAt(hash.value.text) !== difference.address) return;
    open.value = true;
    element.current?.scrollIntoView({ block: 'center' });
  }, [hash.value]);
  const { sign, tone, name } = signs[difference.kind];
  return (
    <details
      class={aimedAt(hash.value.text) === difference.address ? 'resource aimed' : 'resource'}
      ref={element}
      open={open.value}
      onToggle={(event) => {
        open.value = event.currentTarget.open;
      }}
    >
      <summary>
        <span class={`sign ${tone}`} aria-hidden="true">
          {sign}
        </span>
        <span class="address">{difference.address}</span>
        {difference.also.map((kind) => (
          <span key={kind} class="tag">
            {tags[kind]}
          </span>
        ))}
        <span class={`kind ${tone}`}>{(did && pastTense[difference.kind]?.name) || name}</span>
      </summary>
      {open.value && (
        <>
          <Inner difference={difference} sides={sides} />
          <a class="to-change small" href={`#change-${encodeURIComponent(difference.address)}`}>
            Link to this change
          </a>
        </>
      )}
    </details>
  );
};

/** Long enough for unchanged lines to be hidden. */
const isLong = ({ before, after }: Row): boolean =>
  [before, after].some((side) => side && 'text' in side && side.text.split('\n').length > 5);

const Inner = ({ difference, sides }: Pick<ResourceProps, 'difference' | 'sides'>) => {
  const rows = useMemo(() => rowsOf(difference), [difference]);
  const everything = useSignal(false);
  const { kind, notes } = difference;
  const before = sides !== undefined || (kind !== 'create' && kind !== 'read');
  const after = sides !== undefined || (kind !== 'destroy' && kind !== 'forget');
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable by keyboard on narrow screens
    <section class="inner stack" tabIndex={0} aria-label={`Changes of ${difference.address}`}>
      {notes.length > 0 && (
        <p class="small soft">{notes.map((note) => note[0]?.toUpperCase() + note.slice(1)).join('. ')}.</p>
      )}
      {before && after && rows.some(isLong) && (
        <label class="choice small">
          <input type="checkbox" checked={everything.value} onChange={() => (everything.value = !everything.value)} />
          Show all lines
        </label>
      )}
      {rows.length > 0 ? (
        <Rows rows={rows} before={before} after={after} everything={everything.value} sides={sides} />
      ) : (
        <p class="small soft">No attribute changes.</p>
      )}
    </section>
  );
};

interface RowsProps {
  rows: Row[];
  before: boolean;
  after: boolean;
  everything: boolean;
  sides: Sides;
}

const Rows = ({ rows, before, after, everything, sides: [was, will] = ['Before', 'After'] }: RowsProps) => (
  <table>
    <thead>
      <tr>
        <th scope="col">Attribute</th>
        {before && <th scope="col">{was}</th>}
        {after && <th scope="col">{will}</th>}
      </tr>
    </thead>
    <tbody>
      {rows.map(({ path, before: from, after: to, forces }) => (
        <tr key={path}>
          <th scope="row">
            {path || 'value'}
            {forces && <span class="forces">forces replacement</span>}
          </th>
          <Cells was={from} will={to} before={before} after={after} everything={everything} />
        </tr>
      ))}
    </tbody>
  </table>
);
