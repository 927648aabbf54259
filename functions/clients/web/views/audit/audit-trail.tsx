import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { exactTime } from '#clients/client/text/time.ts';
import { useLive } from '#clients/web/live.ts';
import { hrefOf, useQuery } from '#clients/web/location.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Ago, Loaded, Notice } from '#clients/web/parts/basics.tsx';
import { ExportButton } from '#clients/web/parts/export-button.tsx';
import { Filter } from '#clients/web/parts/filters.tsx';
import { Item, List, Pager } from '#clients/web/parts/list.tsx';
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
import { ExportFailure, ExportSettings, useAuditExport } from './audit-export.tsx';

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

const outcomes = [
  ['allowed', 'Allowed'],
  ['refused', 'Refused'],
  ['failed', 'Failed'],
] as const;

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
export const AuditTrail = ({ organization }: OrganizationProps) => (
  <OrganizationShell
    organization={organization}
    at="audit-trail"
    refused={`Only owners of ${organization} can read its audit trail.`}
  >
    <Trail organization={organization} />
  </OrganizationShell>
);

const Trail = ({ organization }: OrganizationProps) => {
  const exported = useAuditExport(organization);
  const period = useQuery('period', '24');
  const actor = useQuery('actor');
  const type = useQuery('type');
  const action = useQuery('action');
  const workspace = useQuery('workspace');
  const outcome = useQuery('outcome');
  const page = useSignal(1);
  const hours = Number(period.value);
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
        <Filter label="Period" chosen={period} options={spans} />
        <Filter label="Outcome" all="All outcomes" chosen={outcome} options={outcomes} />
        <Seen events={live.value?.data ?? []} actor={actor} type={type} action={action} workspace={workspace} />
        <span class="grow" />
        <ExportButton
          name={`audit-trail-${organization}`}
          read={async () => csvOfTrail(await exportAll(hours, filters))}
        />
        <ExportSettings organization={organization} live={exported} />
      </div>
      <ExportFailure current={exported.value} />
      <p class="soft small">Newest first. Events cannot be changed or deleted.</p>
      <Loaded live={live} what="audit trail">
        {({ data, pagination }) => (
          <>
            {data.length === 0 ? (
              <Nothing page={page.value} filtered={Object.keys(filters).length > 1} />
            ) : (
              <List label="Events" of={data}>
                {(event) => <Line key={event.id} event={event} organization={organization} />}
              </List>
            )}
            {pagination.searched_until && (
              <Notice kind="warn">
                Searched back to {exactTime(pagination.searched_until)}. Choose a shorter period to search all of it.
              </Notice>
            )}
            <Pager page={page} last={pagination.next_page === null}>
              Page {page.value}
            </Pager>
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

const Line = ({ event, organization }: OrganizationProps & { event: TrailEvent }) => {
  const { auth, resource, timestamp } = event;
  const { outcome, status, address, user_agent: agent, token_id: token, workspace } = resource.meta;
  const place = placeOfEvent(event, organization);
  const means = accessMeansOf(event);
  const name = nameOf(resource);
  const thing = name ?? resource.id;
  return (
    <Item
      title={deedIn(event)}
      beside={
        <>
          {outcome === 'refused' && <span class="status bad">refused</span>}
          {outcome === 'failed' && <span class="status attention">failed{status && ` (${status})`}</span>}
          {resource.id && (
            <span class={name ? 'break' : 'mono break'} title={resource.id}>
              {place ? <a href={hrefOf(place)}>{thing}</a> : thing}
            </span>
          )}
          {workspace && resource.type !== 'workspace' && (
            <span class="tag" title={workspace}>
              <a href={hrefOf({ view: 'workspace', organization, workspace, tab: 'overview' })}>{workspace}</a>
            </span>
          )}
        </>
      }
      meta={
        <>
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
        </>
      }
      notes={[<Ago key="at" at={timestamp} />]}
    />
  );
};
