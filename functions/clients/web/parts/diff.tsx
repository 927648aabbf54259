import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { type Difference, type Kind, kindsByRisk } from '#clients/client/text/plan.ts';
import { type Row, rowsOf } from '#clients/client/text/plan-rows.ts';
import { addStyle } from '../lazily.tsx';
import { hash } from '../location.ts';
import diffStyle from '../style/diff.css' with { type: 'text' };
import { Cells } from './diff-cells.tsx';
import { signs } from './diff-signs.ts';
import { Totals } from './diff-totals.tsx';
import { LongList } from './list.tsx';

addStyle(diffStyle);

/** Differences by resource; attributes are compared when a resource is opened. */

const pastTense: Partial<Record<Kind, { name: string; chip: string }>> = {
  create: { name: 'added', chip: 'Added' },
  update: { name: 'changed', chip: 'Changed' },
  destroy: { name: 'removed', chip: 'Removed' },
};

const tags = { move: 'moved', import: 'imported' };

/** Up to this many resources are open at first. */
const openUpTo = 5;
/** Longer lists have a search field. */
const fewDifferences = 8;
/** Opening more at once would be slow. */
const openAllUpTo = 200;

interface DiffListProps {
  differences: Difference[];
  /** Accessible name for screen readers. */
  label: string;
  /** The changes were applied, not only planned. */
  did?: boolean;
}

export const DiffList = ({ differences, label, did = false }: DiffListProps) => {
  const search = useSignal('');
  const only = useSignal<Kind | undefined>(undefined);
  const all = useSignal<boolean | undefined>(undefined);
  const changing = useMemo(() => differences.filter(({ kind }) => kind !== 'same'), [differences]);
  const counts = useMemo(() => {
    const counts = new Map<Kind, number>();
    for (const { kind, also } of differences) {
      for (const countedKind of [kind, ...also]) counts.set(countedKind, (counts.get(countedKind) ?? 0) + 1);
    }
    return counts;
  }, [differences]);
  useEffect(() => {
    // Its row may not be rendered yet.
    const aimed = aimedAt(hash.value.text);
    if (
      aimed !== undefined &&
      differences.length > fewDifferences &&
      differences.some((difference) => difference.address === aimed)
    ) {
      only.value = undefined;
      search.value = aimed;
    }
  }, [hash.value, differences]);
  const text = search.value.toLowerCase();
  const matching = (only.value === 'same' ? differences : changing).filter(
    ({ address, kind, also }) =>
      (!only.value || [kind, ...also].includes(only.value)) && address.toLowerCase().includes(text),
  );
  const openAtFirst = changing.length <= openUpTo;
  const areOpen = all.value ?? openAtFirst;
  const presentKinds = kindsByRisk.filter((kind) => counts.has(kind));
  return (
    <section aria-label={label}>
      {(presentKinds.length > 1 || differences.length > fewDifferences) && (
        <div class="diff-bar">
          {differences.length > fewDifferences && (
            <input
              type="search"
              aria-label={`Search ${label}`}
              value={search.value}
              placeholder="Search by address"
              onInput={(event) => {
                search.value = event.currentTarget.value;
              }}
            />
          )}
          <fieldset class="chips" aria-label="Show only">
            {presentKinds.map((kind) => (
              <button
                key={kind}
                type="button"
                class="chip"
                aria-pressed={only.value === kind}
                onClick={() => (only.value = only.value === kind ? undefined : kind)}
              >
                <span class={signs[kind].tone} aria-hidden="true">
                  {signs[kind].sign}
                </span>{' '}
                {(did && pastTense[kind]?.chip) || signs[kind].chip} {counts.get(kind)}
              </button>
            ))}
          </fieldset>
          {matching.length > 1 && matching.length <= openAllUpTo && (
            <button type="button" class="small-button" onClick={() => (all.value = !areOpen)}>
              {areOpen ? 'Collapse all' : 'Expand all'}
            </button>
          )}
        </div>
      )}
      {changing.length > fewDifferences && label === 'resources' && <Totals differences={changing} />}
      {matching.length === 0 && (
        <p class="pad soft">{differences.length ? 'No resources match the filters.' : 'No changes.'}</p>
      )}
      <LongList of={matching} choice={`${only.value} ${text}`} list={(rows) => rows}>
        {(difference) => (
          <Resource
            key={`${difference.address} ${difference.notes.join()} ${all.value}`}
            difference={difference}
            open={all.value ?? (openAtFirst && difference.kind !== 'same')}
            did={did}
          />
        )}
      </LongList>
    </section>
  );
};

/** `#change-aws_vpc.main` links to the change of one resource. */
const aimedAt = (text: string): string | undefined => {
  try {
    return text.startsWith('#change-') ? decodeURIComponent(text.slice('#change-'.length)) : undefined;
  } catch {
    return undefined;
  }
};

const Resource = ({ difference, open: openAtFirst, did }: { difference: Difference; open: boolean; did: boolean }) => {
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
          <Inner difference={difference} />
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

const Inner = ({ difference }: { difference: Difference }) => {
  const rows = useMemo(() => rowsOf(difference), [difference]);
  const everything = useSignal(false);
  const { kind, notes } = difference;
  const before = kind !== 'create' && kind !== 'read';
  const after = kind !== 'destroy' && kind !== 'forget';
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
        <Rows rows={rows} before={before} after={after} everything={everything.value} />
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
}

const Rows = ({ rows, before, after, everything }: RowsProps) => (
  <table>
    <thead>
      <tr>
        <th scope="col">Attribute</th>
        {before && <th scope="col">Before</th>}
        {after && <th scope="col">After</th>}
      </tr>
    </thead>
    <tbody>
      {rows.map(({ path, before: was, after: will, forces }) => (
        <tr key={path}>
          <th scope="row">
            {path || 'value'}
            {forces && <span class="forces">forces replacement</span>}
          </th>
          <Cells was={was} will={will} before={before} after={after} everything={everything} />
        </tr>
      ))}
    </tbody>
  </table>
);
