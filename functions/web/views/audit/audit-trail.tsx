import { useSignal } from '@preact/signals';
import { useLive } from '../../live.ts';
import { hrefOf } from '../../location.ts';
import { organizationNow } from '../../organization.ts';
import { Ago, Loaded, Notice } from '../../parts/basics.tsx';
import { OrganizationShell } from '../../parts/organization-shell.tsx';
import { call } from '../../session.ts';
import { deedIn, meansIn, placeOfEvent, type TrailEvent } from '../../text/audit.ts';

interface Piece {
  data: TrailEvent[];
  pagination: { next_page: number | null };
}

const size = 50;
const hour = 3_600_000;

/** How far back, in hours. */
const spans = [
  ['1', 'Last hour'],
  ['24', 'Last day'],
  ['168', 'Last week'],
  ['2160', 'Last 90 days'],
] as const;

const load = async (organization: string, hours: number, page: number): Promise<Piece> => {
  const query = new URLSearchParams({
    'filter[organization][name]': organization,
    since: new Date(Date.now() - hours * hour).toISOString(),
    sort: '-timestamp',
    'page[size]': String(size),
    'page[number]': String(page),
  });
  return (await call<TrailEvent[]>('GET', `/organization/audit-trail?${query}`)) as unknown as Piece;
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
  if (!permissions) return <p class="soft">Loading audit trail …</p>;
  if (permissions['can-read-audit-trail']) return <Trail organization={organization} />;
  return <Notice kind="warn">Only owners of {organization} can read its audit trail.</Notice>;
};

const Trail = ({ organization }: { organization: string }) => {
  const hours = useSignal('24');
  const page = useSignal(1);
  const live = useLive(
    `audit-trail/${organization}/${hours.value}/${page.value}`,
    () => load(organization, Number(hours.value), page.value),
    // What is further back stands still.
    () => (page.value === 1 ? 15_000 : undefined),
  );
  return (
    <>
      <div class="row">
        <select
          aria-label="Period"
          value={hours.value}
          onChange={(event) => {
            page.value = 1;
            hours.value = event.currentTarget.value;
          }}
        >
          {spans.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
        <span class="soft small">Newest first. Events cannot be changed or deleted.</span>
      </div>
      <Loaded live={live} what="audit trail">
        {({ data, pagination }) => (
          <>
            {data.length === 0 ? (
              <Nothing page={page.value} />
            ) : (
              <ul class="panel list" aria-label="Events">
                {data.map((event) => (
                  <Line key={event.id} event={event} organization={organization} />
                ))}
              </ul>
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

const Nothing = ({ page }: { page: number }) =>
  page > 1 ? (
    <p class="panel pad soft">No older events.</p>
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
  const { outcome, status, address, user_agent: agent, token_id: token } = resource.meta;
  const place = placeOfEvent(event, organization);
  const means = meansIn(event);
  return (
    <li class="item">
      <span class="row">
        <span class="title">{deedIn(event)}</span>
        {outcome === 'refused' && <span class="status bad">refused</span>}
        {outcome === 'failed' && <span class="status attention">failed{status && ` (${status})`}</span>}
        {resource.id && (
          <span class="mono break">{place ? <a href={hrefOf(place)}>{resource.id}</a> : resource.id}</span>
        )}
      </span>
      <span class="meta break">
        <strong>{auth.description ?? auth.accessor_id}</strong>
        {means && <>, {means}</>}
        {address && <> · from {address}</>}
        {agent && <> · {agent}</>}
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
