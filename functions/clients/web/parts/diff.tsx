import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { type Difference, type Kind, kindsByRisk } from '#clients/client/text/plan.ts';
import { addStyle } from '../lazily.tsx';
import { hash } from '../location.ts';
import diffStyle from '../style/diff.css' with { type: 'text' };
import { type Area, areaIn } from '../text/plan-risks.ts';
import { moduleOf } from '../text/plan-totals.ts';
import { aimedAt, pastTense, Resource, type Sides } from './diff-resource.tsx';
import { signs } from './diff-signs.ts';
import { KindCounts, Totals } from './diff-totals.tsx';
import { Search } from './filters.tsx';
import { LongList } from './list.tsx';

addStyle(diffStyle);

/** Differences by resource; attributes are compared when a resource is opened. */

const areas: Record<Area, string> = { access: 'IAM', network: 'Network' };

/** A filter: a kind of change, or the area that it concerns. */
type Trait = Kind | Area;

const traitsOf = (difference: Difference): Trait[] => {
  const area = areaIn(difference);
  return [difference.kind, ...difference.also, ...(area ? [area] : [])];
};

/** Up to this many resources are open at first. */
const openUpTo = 5;
/** Longer lists have a search field, and headings for modules. */
const fewDifferences = 8;
/** With more, modules are folded until a filter is set. */
const unfoldedUpTo = 30;
/** Opening more at once would be slow. */
const openAllUpTo = 200;

interface DiffListProps {
  differences: Difference[];
  /** Accessible name for screen readers. */
  label: string;
  /** The changes were applied, not only planned. */
  did?: boolean;
  sides?: Sides;
}

export const DiffList = ({ differences, label, did = false, sides }: DiffListProps) => {
  const search = useSignal('');
  const only = useSignal<Trait | undefined>(undefined);
  const all = useSignal<boolean | undefined>(undefined);
  const chosenModules = useSignal<ReadonlyMap<string, boolean>>(new Map());
  const changing = useMemo(() => differences.filter(({ kind }) => kind !== 'same'), [differences]);
  const traits = useMemo(
    () => new Map(differences.map((difference) => [difference, traitsOf(difference)])),
    [differences],
  );
  const counts = useMemo(() => {
    const counts = new Map<Trait, number>();
    for (const trait of [...traits.values()].flat()) counts.set(trait, (counts.get(trait) ?? 0) + 1);
    return counts;
  }, [traits]);
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
    (difference) =>
      (!only.value || traits.get(difference)?.includes(only.value)) && difference.address.toLowerCase().includes(text),
  );
  const openAtFirst = changing.length <= openUpTo;
  const areOpen = all.value ?? openAtFirst;
  const presentKinds = kindsByRisk.filter((kind) => counts.has(kind));
  const presentAreas = (['access', 'network'] as const).filter((area) => counts.has(area));
  const isFiltered = text !== '' || only.value !== undefined;
  const unfolds = all.value ?? (isFiltered || changing.length <= unfoldedUpTo);
  const rows = rowsBy(
    matching,
    changing.length > fewDifferences,
    (module) => chosenModules.value.get(module) ?? unfolds,
  );
  const chip = (trait: Trait, children: ComponentChildren) => (
    <button
      key={trait}
      type="button"
      class="chip"
      aria-pressed={only.value === trait}
      onClick={() => (only.value = only.value === trait ? undefined : trait)}
    >
      {children} {counts.get(trait)}
    </button>
  );
  return (
    <section aria-label={label}>
      {(presentKinds.length > 1 || differences.length > fewDifferences) && (
        <div class="diff-bar">
          {differences.length > fewDifferences && (
            <Search label={`Search ${label}`} placeholder="Search by address" text={search} />
          )}
          <fieldset class="chips" aria-label="Show only">
            {presentKinds.map((kind) =>
              chip(
                kind,
                <>
                  <span class={signs[kind].tone} aria-hidden="true">
                    {signs[kind].sign}
                  </span>{' '}
                  {(did && pastTense[kind]?.chip) || signs[kind].chip}
                </>,
              ),
            )}
            {presentAreas.map((area) => chip(area, areas[area]))}
          </fieldset>
          {matching.length > 1 && matching.length <= openAllUpTo && (
            <button
              type="button"
              class="small-button"
              onClick={() => {
                all.value = !areOpen;
                chosenModules.value = new Map();
              }}
            >
              {areOpen ? 'Collapse all' : 'Expand all'}
            </button>
          )}
        </div>
      )}
      {changing.length > fewDifferences && label === 'resources' && <Totals differences={changing} />}
      {matching.length === 0 && (
        <p class="pad soft">{differences.length ? 'No resources match the filters.' : 'No changes.'}</p>
      )}
      <LongList of={rows} choice={`${only.value} ${text}`} list={(rows) => rows}>
        {(row) =>
          'module' in row ? (
            <ModuleHeading
              key={`module ${row.module}`}
              {...row}
              onToggle={() => (chosenModules.value = new Map(chosenModules.value).set(row.module, !row.open))}
            />
          ) : (
            <Resource
              key={`${row.address} ${row.notes.join()} ${all.value}`}
              difference={row}
              open={all.value ?? (openAtFirst && row.kind !== 'same')}
              did={did}
              sides={sides}
            />
          )
        }
      </LongList>
    </section>
  );
};

interface ModuleRow {
  /** Its address; empty for the root module. */
  module: string;
  of: Difference[];
  open: boolean;
}

/** Changes below the heading of their module, if there are several: first the one with the riskiest change. */
const rowsBy = (
  differences: Difference[],
  groups: boolean,
  isOpen: (module: string) => boolean,
): (ModuleRow | Difference)[] => {
  const modules = groups
    ? Map.groupBy(differences, ({ address }) => moduleOf(address))
    : new Map<string, Difference[]>();
  if (modules.size < 2) return differences;
  return [...modules].flatMap(([module, of]) => {
    const open = isOpen(module);
    return [{ module, of, open }, ...(open ? of : [])];
  });
};

const ModuleHeading = ({ module, of, open, onToggle }: ModuleRow & { onToggle(): void }) => (
  <button type="button" class="module" aria-expanded={open} onClick={onToggle}>
    <span class="address">{module || 'Root module'}</span>
    <KindCounts of={of} />
  </button>
);
