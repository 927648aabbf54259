import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { exactTime } from '#clients/client/text/time.ts';
import { useLive } from '#clients/web/live.ts';
import { hrefOf, useQuery } from '#clients/web/location.ts';
import { organizationNow } from '#clients/web/organization.ts';
import { Ago, Loaded, Notice, Skeleton } from '#clients/web/parts/basics.tsx';
import { ExportButton } from '#clients/web/parts/export-button.tsx';
import { Filter } from '#clients/web/parts/filters.tsx';
import { OrganizationShell } from '#clients/web/parts/organization-shell.tsx';
import { call } from '#clients/web/session.ts';
import {
  accessMeansOf,
  actionIn,
  csvOfTrail,
  deedIn,
  nameOf,
  placeOfEvent,
  programIn,
  spaced,
  type TrailEvent,
  usualActions,
  usualTypes,
} from '#clients/web/text/audit.ts';
import { saveFile } from '#clients/web/text/save.ts';

interface Piece {
  data: TrailEvent[];
  pagination: { next_page: number | null; searched_until?: string };
}

const size = 50;
const exportSize = 1000;
/** The API's last page. */
const maxExported = 20_000;
const hour = 3_600_000;

/** How far back, in hours. */
const spans = [
  ['1', 'Last hour'],
  ['24', 'Last day'],
  ['168', 'Last week'],
  ['2160', 'Last 90 days'],
] as const;

const outcomes: [string, string][] = [
  ['allowed', 'Allowed'],
  ['refused', 'Refused'],
  ['failed', 'Failed'],
];

/** Filters, by query parameter of the API. */
type Filters = Record<string, string>;

const load = async (hours: number, filters: Filters, page: number, pageSize = size): Promise<Piece> => {
  const query = new URLSearchParams({
    ...filters,
    since: new Date(Date.now() - hours * hour).toISOString(),
    sort: '-timestamp',
    include: 'names',
    'page[size]': String(pageSize),
    'page[number]': String(page),
  });
  return (await call<TrailEvent[]>('GET', `/organization/audit-trail?${query}`)) as unknown as Piece;
};

const exportAll = async (hours: number, filters: Filters): Promise<TrailEvent[]> => {
  const events: TrailEvent[] = [];
  for (let page: number | null = 1; page !== null && page * exportSize <= maxExported; ) {
    const { data, pagination }: Piece = await load(hours, filters, page, exportSize);
    events.push(...data);
    page = pagination.next_page;
  }
  return events;
};

/** The audit trail, newest first, including refused requests. */
export const AuditTrail = ({ organization }: { organization: string }) => (
  <OrganizationShell organization={organization} at="audit-trail">
    <h1>Audit trail</h1>
    <Allowed organization={organization} />
  </OrganizationShell>
);

const Allowed = ({ organization }: { organization: string }) => {
  const permissions = organizationNow(organization)?.attributes.permissions;
  if (!permissions) return <Skeleton what="audit trail" />;
  if (permissions['can-read-audit-trail']) return <Trail organization={organization} />;
  return <Notice kind="warn">Only owners of {organization} can read its audit trail.</Notice>;
};

const Trail = ({ organization }: { organization: string }) => {
  const period = useQuery('period');
  const actor = useQuery('actor');
  const type = useQuery('type');
  const action = useQuery('action');
  const workspace = useQuery('workspace');
  const outcome = useQuery('outcome');
  const page = useSignal(1);
  const hours = Number(period.value || '24');
  const filters: Filters = Object.fromEntries(
    [
      ['filter[organization][name]', organization],
      ['filter[actor][id]', actor.value],
      ['filter[resource][type]', type.value],
      ['filter[action]', action.value],
      ['filter[workspace][id]', workspace.value],
      ['filter[outcome]', outcome.value],
    ].filter(([, value]) => value),
  );
  const choice = JSON.stringify([filters, hours]);
  useEffect(() => {
    page.value = 1;
  }, [choice]);
  const live = useLive(
    `audit-trail/${choice}/${page.value}`,
    () => load(hours, filters, page.value),
    // Only the first page changes.
    () => (page.value === 1 ? 15_000 : undefined),
  );
  return (
    <>
      <div class="row">
        <select
          aria-label="Period"
          value={period.value || '24'}
          onChange={(event) => (period.value = event.currentTarget.value)}
        >
          {spans.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
        <Filter label="Outcome" all="All outcomes" chosen={outcome} options={outcomes} />
        <Seen events={live.value?.data ?? []} actor={actor} type={type} action={action} workspace={workspace} />
        <span class="grow" />
        <Export organization={organization} read={() => exportAll(hours, filters)} />
      </div>
      <p class="soft small">Newest first. Events cannot be changed or deleted.</p>
      <Loaded live={live} what="audit trail">
        {({ data, pagination }) => (
          <>
            {data.length === 0 ? (
              <Nothing page={page.value} filtered={Object.keys(filters).length > 1} />
            ) : (
              <ul class="panel list" aria-label="Events">
                {data.map((event) => (
                  <Line key={event.id} event={event} organization={organization} />
                ))}
              </ul>
            )}
            {pagination.searched_until && (
              <Notice kind="warn">
                Searched back to {exactTime(pagination.searched_until)}. Choose a shorter period to search all of it.
              </Notice>
            )}
            {(page.value > 1 || pagination.next_page !== null) && (
              <nav class="row" aria-label="Pages">
                <button type="button" disabled={page.value === 1} onClick={() => page.value--}>
                  Newer
                </button>
                <span class="soft small">Page {page.value}</span>
                <button type="button" disabled={pagination.next_page === null} onClick={() => page.value++}>
                  Older
                </button>
              </nav>
            )}
          </>
        )}
      </Loaded>
    </>
  );
};

interface SeenProps {
  events: TrailEvent[];
  actor: Signal<string>;
  type: Signal<string>;
  action: Signal<string>;
  workspace: Signal<string>;
}

/** Filter options: the usual ones, and those seen since the page was opened. */
const Seen = ({ events, actor, type, action, workspace }: SeenProps) => {
  const choices = useRef({
    actor: new Map<string, string>(),
    type: new Map(usualTypes.map((type) => [type, spaced(type)])),
    action: new Map(usualActions.map((action) => [action, actionIn(action)])),
    workspace: new Map<string, string>(),
  }).current;
  for (const { auth, resource } of events) {
    const { workspace_id: id, workspace: name } = resource.meta;
    choices.actor.set(auth.accessor_id, auth.description ?? auth.accessor_id);
    choices.type.set(resource.type, spaced(resource.type));
    choices.action.set(resource.action, actionIn(resource.action));
    if (id) choices.workspace.set(id, name ?? id);
  }
  const options = (of: Map<string, string>, { value }: Signal<string>): [string, string][] =>
    [...(value && !of.has(value) ? [[value, value] as [string, string]] : []), ...of].sort(([, a], [, b]) =>
      a.localeCompare(b),
    );
  return (
    <>
      <Filter label="Who" all="Everyone" chosen={actor} options={options(choices.actor, actor)} />
      <Filter label="What" all="Everything" chosen={type} options={options(choices.type, type)} />
      <Filter label="Action" all="All actions" chosen={action} options={options(choices.action, action)} />
      <Filter
        label="Workspace"
        all="All workspaces"
        chosen={workspace}
        options={options(choices.workspace, workspace)}
      />
    </>
  );
};

/** Downloads the filtered events as a CSV file. */
const Export = ({ organization, read }: { organization: string; read(): Promise<TrailEvent[]> }) => {
  const save = async () =>
    saveFile(csvOfTrail(await read()), `audit-trail-${organization}-${new Date().toISOString().slice(0, 10)}.csv`);
  return <ExportButton save={save} />;
};

const Nothing = ({ page, filtered }: { page: number; filtered: boolean }) =>
  page > 1 ? (
    <p class="panel pad soft">No older events.</p>
  ) : filtered ? (
    <p class="panel pad soft">No events match the filters in this period.</p>
  ) : (
    <div class="panel empty">
      <p>
        <strong>No events in this period.</strong>
      </p>
      <p class="soft">
        The audit trail records every change, every refused request and every read of secret data such as states, with
        user, token and IP address.
      </p>
      <p class="soft">
        Choose a longer period above. To export events, read <code>/api/v2/organization/audit-trail</code> with an audit
        trail token, which owners create in the organization’s settings.
      </p>
    </div>
  );

const Line = ({ event, organization }: { event: TrailEvent; organization: string }) => {
  const { auth, resource, timestamp } = event;
  const { outcome, status, address, user_agent: agent, token_id: token, workspace } = resource.meta;
  const place = placeOfEvent(event, organization);
  const means = accessMeansOf(event);
  const name = nameOf(resource);
  return (
    <li class="item">
      <span class="row">
        <span class="title">{deedIn(event)}</span>
        {outcome === 'refused' && <span class="status bad">refused</span>}
        {outcome === 'failed' && <span class="status attention">failed{status && ` (${status})`}</span>}
        {resource.id && (
          <span class={name ? 'break' : 'mono break'} title={resource.id}>
            {place ? <a href={hrefOf(place)}>{name ?? resource.id}</a> : (name ?? resource.id)}
          </span>
        )}
        {workspace && resource.type !== 'workspace' && (
          <span class="tag">
            <a href={hrefOf({ view: 'workspace', organization, workspace, tab: 'overview' })}>{workspace}</a>
          </span>
        )}
      </span>
      <span class="meta break">
        <strong>{auth.description ?? auth.accessor_id}</strong>
        {means && <>, {means}</>}
        {address && <> · from {address}</>}
        {agent && (
          <>
            {' · '}
            <span title={agent}>{programIn(agent)}</span>
          </>
        )}
        {token && (
          <>
            {' · '}
            <span class="mono nowrap">{token}</span>
          </>
        )}
      </span>
      <span class="end meta">
        <Ago at={timestamp} />
      </span>
    </li>
  );
};
