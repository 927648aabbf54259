import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useId, useMemo, useRef } from 'preact/hooks';
import type { Resource } from '#clients/client/client.ts';
import { type Place, tabs } from '#clients/client/page-addresses.ts';
import type { Environment } from '../environments.ts';
import { go, place } from '../location.ts';
import { may, organizationNow } from '../organization.ts';
import { sectionGroups } from '../sections.ts';
import { call, callEnvironments, errorText, related } from '../session.ts';
import { type Entry, matching } from '../text/palette.ts';
import { Dialog } from './dialog.tsx';

/** Ctrl-K: go to any view by name. */

const pauseMs = 150;
const maxWorkspaces = 8;

const tabNames: Record<(typeof tabs)[number], string> = {
  overview: 'Overview',
  runs: 'Runs',
  resources: 'Resources',
  states: 'States',
  health: 'Health',
  queries: 'Queries',
  variables: 'Variables',
  settings: 'Settings',
};

/** Places that need no request: of the current workspace and organization, and general ones. */
const fixedEntries = (at: Place): Entry[] => {
  const organization = 'organization' in at ? at.organization : undefined;
  const permissions = organization === undefined ? undefined : organizationNow(organization)?.attributes.permissions;
  return [
    ...(organization !== undefined && 'workspace' in at
      ? tabs.map((tab): Entry => {
          const to = { view: 'workspace', organization, workspace: at.workspace, tab } as const;
          return { name: tabNames[tab], of: at.workspace, to };
        })
      : []),
    ...(organization === undefined
      ? []
      : sectionGroups
          .flatMap(({ sections }) => sections)
          .filter(({ permission }) => permission === undefined || permissions?.[permission])
          .map(({ view, name }): Entry => ({ name, of: organization, to: { view, organization } }))),
    { name: 'Organizations', of: '', to: { view: 'home' } },
    { name: 'Your tokens', of: '', to: { view: 'tokens' } },
  ];
};

const findWorkspaces = async (organization: string, text: string): Promise<Entry[]> => {
  // Environments are found by their own names.
  const query = new URLSearchParams({
    'search[name]': text,
    'filter[managed]': 'false',
    'page[size]': String(maxWorkspaces),
  });
  const { data } = await call<Resource<'workspaces'>[]>('GET', `/organizations/${organization}/workspaces?${query}`);
  return data.map(({ attributes: { name } }) => ({
    name,
    of: 'workspace',
    to: { view: 'workspace', organization, workspace: name, tab: 'overview' },
  }));
};

const maxEnvironments = 5;

/** Without templates nothing is requested. */
const findEnvironments = async (organization: string, text: string): Promise<Entry[]> => {
  if (!may(organization, 'can-use-environments')) return [];
  const words = `organization:"${organization}" name:"${text.replaceAll('"', '')}"`;
  const query = new URLSearchParams({ q: words, limit: String(maxEnvironments) });
  const { workspaces } = await callEnvironments<{ workspaces: Environment[] }>('GET', `/workspaces?${query}`);
  return workspaces.map(({ id, name }) => ({
    name,
    of: 'environment',
    to: { view: 'environment', organization, id },
  }));
};

const runId = /^run-[A-Za-z0-9]+$/;

const findRun = async (id: string): Promise<Entry[]> => {
  const { data, included = [] } = await call('GET', `/runs/${id}?include=workspace`);
  const workspace = included.find(({ type }) => type === 'workspaces');
  const organization = related(workspace, 'organization');
  if (!workspace || !organization) return [];
  return [
    {
      name: data.attributes.message,
      of: id,
      to: { view: 'run', organization, workspace: workspace.attributes.name, run: id },
    },
  ];
};

/** Search results of the API, a moment after the last key press. */
const useSearchResults = (text: Signal<string>): { entries: Entry[]; error: string | undefined } => {
  const results = useSignal<{ text: string; entries: Entry[] }>({ text: '', entries: [] });
  const error = useSignal<string | undefined>(undefined);
  const sought = text.value.trim();
  const at = place.value;
  const organization = 'organization' in at ? at.organization : undefined;
  useEffect(() => {
    error.value = undefined;
    if (!sought || (organization === undefined && !runId.test(sought))) return;
    const timer = setTimeout(async () => {
      try {
        const entries = runId.test(sought)
          ? await findRun(sought)
          : (
              await Promise.all([findWorkspaces, findEnvironments].map((find) => find(organization as string, sought)))
            ).flat();
        if (text.peek().trim() === sought) results.value = { text: sought, entries };
      } catch (caught) {
        if (text.peek().trim() === sought) error.value = errorText(caught);
      }
    }, pauseMs);
    return () => clearTimeout(timer);
  }, [sought, organization]);
  return { entries: sought ? results.value.entries : [], error: error.value };
};

const isSame = (a: Entry, b: Entry): boolean => JSON.stringify(a.to) === JSON.stringify(b.to);

export const Palette = ({ onClose }: { onClose(): void }) => {
  const text = useSignal('');
  const chosen = useSignal(0);
  const listId = useId();
  const list = useRef<HTMLDivElement>(null);
  const fixed = useMemo(() => fixedEntries(place.peek()), []);
  const { entries: results, error } = useSearchResults(text);
  const entries = matching(text.value, [
    ...results,
    ...fixed.filter((entry) => !results.some((result) => isSame(result, entry))),
  ]);
  const at = Math.min(chosen.value, entries.length - 1);
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [at, entries.length]);
  const open = (entry: Entry | undefined) => {
    if (!entry) return;
    onClose();
    go(entry.to);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') open(entries[at]);
    else if (event.key === 'ArrowDown') chosen.value = (at + 1) % Math.max(1, entries.length);
    else if (event.key === 'ArrowUp') chosen.value = (at - 1 + entries.length) % Math.max(1, entries.length);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        type="text"
        // biome-ignore lint/a11y/noRedundantRoles: implicit only with a native list
        role="combobox"
        list={undefined}
        aria-label="Page, workspace or run"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={entries.length ? `${listId}-${at}` : undefined}
        placeholder="Page, workspace, or run ID"
        autoComplete="off"
        autoFocus
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          chosen.value = 0;
        }}
        onKeyDown={onKeyDown}
      />
      {error && <p class="problem">{error}</p>}
      <div ref={list} id={listId} class="palette" role="listbox" aria-label="Places" tabIndex={-1}>
        {entries.map((entry, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above handles keys
          <div
            key={JSON.stringify(entry.to)}
            id={`${listId}-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === at}
            onClick={() => open(entry)}
          >
            <span class="grow break">{entry.name}</span>
            <span class="soft small">{entry.of}</span>
          </div>
        ))}
      </div>
      {entries.length === 0 && <p class="soft">Nothing found.</p>}
      <p class="soft small only-wide">
        <kbd>↑</kbd> <kbd>↓</kbd> to choose, <kbd>Enter</kbd> to open, <kbd>Esc</kbd> to close. Press <kbd>?</kbd> on
        any page for all keys.
      </p>
    </Dialog>
  );
};
