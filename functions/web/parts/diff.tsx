import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Difference, Kind } from '../text/plan.ts';
import { type Row, rowsOf, type Side } from '../text/plan-rows.ts';
import { Growing } from './long-list.tsx';

/** Differences resource by resource; what changes in one is worked out when it is opened. */

const kinds: Record<Kind, { sign: string; tone: string; name: string; chip: string }> = {
  create: { sign: '+', tone: 'add', name: 'create', chip: 'Create' },
  update: { sign: '~', tone: 'change', name: 'update', chip: 'Update' },
  replace: { sign: '±', tone: 'replace', name: 'replace', chip: 'Replace' },
  destroy: { sign: '−', tone: 'destroy', name: 'destroy', chip: 'Destroy' },
  forget: { sign: '×', tone: 'soft', name: 'forget (not destroyed)', chip: 'Forget' },
  import: { sign: '↓', tone: 'import', name: 'import', chip: 'Import' },
  move: { sign: '→', tone: 'move', name: 'move', chip: 'Move' },
  read: { sign: '↻', tone: 'soft', name: 'read during apply', chip: 'Read' },
  same: { sign: '=', tone: 'soft', name: 'unchanged', chip: 'Unchanged' },
};

const past: Partial<Record<Kind, { name: string; chip: string }>> = {
  create: { name: 'added', chip: 'Added' },
  update: { name: 'changed', chip: 'Changed' },
  destroy: { name: 'removed', chip: 'Removed' },
};

const tags = { move: 'moved', import: 'imported' };

/** What one looks for first comes first. */
const order: Kind[] = ['destroy', 'replace', 'update', 'create', 'import', 'move', 'forget', 'read', 'same'];

/** Few enough to see them all at once. */
const openUpTo = 5;
/** More than that at once keep the reader waiting. */
const openAllUpTo = 200;

interface DiffListProps {
  differences: Difference[];
  /** What they are, for people who hear the page. */
  label: string;
  /** It has happened, and is not only planned. */
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
      for (const one of [kind, ...also]) counts.set(one, (counts.get(one) ?? 0) + 1);
    }
    return counts;
  }, [differences]);
  const text = search.value.toLowerCase();
  const shown = (only.value === 'same' ? differences : changing).filter(
    ({ address, kind, also }) =>
      (!only.value || [kind, ...also].includes(only.value)) && address.toLowerCase().includes(text),
  );
  const openAtFirst = changing.length <= openUpTo;
  const areOpen = all.value ?? openAtFirst;
  const present = order.filter((kind) => counts.has(kind));
  return (
    <section aria-label={label}>
      {(present.length > 1 || differences.length > 8) && (
        <div class="diff-bar">
          {differences.length > 8 && (
            <input
              type="search"
              aria-label={`Search ${label}`}
              placeholder="Search by address"
              onInput={(event) => {
                search.value = event.currentTarget.value;
              }}
            />
          )}
          <fieldset class="chips" aria-label="Show only">
            {present.map((kind) => (
              <button
                key={kind}
                type="button"
                class="chip"
                aria-pressed={only.value === kind}
                onClick={() => {
                  only.value = only.value === kind ? undefined : kind;
                }}
              >
                <span class={kinds[kind].tone} aria-hidden="true">
                  {kinds[kind].sign}
                </span>{' '}
                {(did && past[kind]?.chip) || kinds[kind].chip} {counts.get(kind)}
              </button>
            ))}
          </fieldset>
          {shown.length > 1 && shown.length <= openAllUpTo && (
            <button
              type="button"
              class="small-button"
              onClick={() => {
                all.value = !areOpen;
              }}
            >
              {areOpen ? 'Collapse all' : 'Expand all'}
            </button>
          )}
        </div>
      )}
      {shown.length === 0 && (
        <p class="pad soft">{differences.length ? 'No resources match the filters.' : 'No changes.'}</p>
      )}
      <Growing of={shown} choice={`${only.value} ${text}`} list={(rows) => rows}>
        {(difference) => (
          <Resource
            key={`${difference.address} ${difference.notes.join()} ${all.value}`}
            difference={difference}
            open={all.value ?? (openAtFirst && difference.kind !== 'same')}
            did={did}
          />
        )}
      </Growing>
    </section>
  );
};

const Resource = ({ difference, open: openAtFirst, did }: { difference: Difference; open: boolean; did: boolean }) => {
  const open = useSignal(openAtFirst);
  const { sign, tone, name } = kinds[difference.kind];
  return (
    <details
      class="resource"
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
        {difference.also.map((one) => (
          <span key={one} class="tag">
            {tags[one]}
          </span>
        ))}
        <span class={`kind ${tone}`}>{(did && past[difference.kind]?.name) || name}</span>
      </summary>
      {open.value && <Inner difference={difference} />}
    </details>
  );
};

const Inner = ({ difference }: { difference: Difference }) => {
  const rows = useMemo(() => rowsOf(difference), [difference]);
  const { kind, notes } = difference;
  const before = kind !== 'create' && kind !== 'read';
  const after = kind !== 'destroy' && kind !== 'forget';
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: on a narrow screen it scrolls, also for whoever has no mouse
    <section class="inner stack" tabIndex={0} aria-label={`Changes of ${difference.address}`}>
      {notes.length > 0 && (
        <p class="small soft">{notes.map((note) => note[0]?.toUpperCase() + note.slice(1)).join('. ')}.</p>
      )}
      {rows.length > 0 ? (
        <Rows rows={rows} before={before} after={after} />
      ) : (
        <p class="small soft">No attribute changes.</p>
      )}
    </section>
  );
};

const Rows = ({ rows, before, after }: { rows: Row[]; before: boolean; after: boolean }) => (
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
          {before && <Cell side={was} tone={after ? 'was' : ''} />}
          {after && <Cell side={will} tone={before ? 'will' : ''} />}
        </tr>
      ))}
    </tbody>
  </table>
);

const Cell = ({ side, tone }: { side: Side; tone: string }) => {
  if (!side) return <td class="hidden-value">–</td>;
  if ('hidden' in side) return <td class={`hidden-value ${tone}`}>{side.hidden}</td>;
  return <td class={tone}>{side.text}</td>;
};
