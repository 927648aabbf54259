import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Resource } from '#clients/client/client.ts';
import type { OrganizationView } from '#clients/client/page-addresses.ts';
import { mayDecide } from '#clients/client/run-facts.ts';
import { problemsOf } from '#clients/client/text/health.ts';
import { dollars } from '#clients/client/text/money.ts';
import { count, duration } from '#clients/client/text/time.ts';
import { clock, useLive } from '#clients/web/live.ts';
import { hrefOf } from '#clients/web/location.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Ago, Loaded, Notice } from '#clients/web/parts/basics.tsx';
import { Item, List } from '#clients/web/parts/list.tsx';
import { OrganizationShell } from '#clients/web/parts/organization-shell.tsx';
import { knowPeople, Person } from '#clients/web/parts/person.tsx';
import { DailyRuns, Trend } from '#clients/web/parts/run-charts.tsx';
import { Counted } from '#clients/web/parts/section.tsx';
import { FailureReason, Status, since } from '#clients/web/parts/status.tsx';
import { listAtLeast, related } from '#clients/web/session.ts';
import { type Day, dailyLevels, dailyRuns, isStale, median } from '#clients/web/text/run-history.ts';
import { type Row, urgencyOf } from '#clients/web/text/workspace-rows.ts';
import { workspaceList } from '#clients/web/workspace-list.ts';
import { NewWorkspaceButton, NoWorkspaces } from '../workspaces/no-workspaces.tsx';

/** Overview: workspaces that need attention, runs in progress, and recent history. */

const days = 14;
const mostRuns = 300;
/** Maximum entries of a section; a link leads to the others. */
const mostListed = 8;

interface Home {
  rows: Row[];
  /** Finished runs, newest first. */
  runs: Resource<'runs'>[];
  /** Applies and cost estimates of the runs. */
  parts: Resource[];
}

/** Reads finished runs again when a workspace's current run has changed. */
const reader = (organization: string): (() => Promise<Home>) => {
  const readRows = workspaceList(organization);
  let runs: Resource<'runs'>[] = [];
  let parts: Resource[] = [];
  let current: string | undefined;
  return async () => {
    const rows = await readRows();
    const runStates = rows.map(({ run }) => `${run?.id} ${run?.attributes.status}`).join();
    if (runStates !== current) {
      const path = `/organizations/${organization}/runs?filter[status_group]=final&include=created_by,apply,cost_estimate`;
      const { data, included } = await listAtLeast<'runs'>(path, mostRuns);
      knowPeople(included);
      runs = data;
      parts = included.filter(({ type }) => type !== 'users');
    }
    current = runStates;
    return { rows, runs, parts };
  };
};

export const OrganizationHome = ({ organization }: OrganizationProps) => {
  const read = useMemo(() => reader(organization), [organization]);
  const live = useLive(`home/${organization}`, read, 5_000);
  return (
    <OrganizationShell
      organization={organization}
      at="overview"
      action={<NewWorkspaceButton organization={organization} />}
      waiting={live.value?.rows.filter((row) => row.group === 'attention' && isForReader(row)).length}
    >
      <Loaded live={live} what="overview">
        {(home) => <Sections {...home} organization={organization} />}
      </Loaded>
    </OrganizationShell>
  );
};

const isForReader = ({ run }: Row): boolean => run !== undefined && mayDecide(run);

const Sections = ({ rows, runs, parts, organization }: Home & OrganizationProps) => {
  const now = clock.peek();
  const daily = useMemo(() => dailyRuns(runs, days, now), [runs]);
  if (rows.length === 0) return <NoWorkspaces organization={organization} />;
  const attention = rows.filter(({ group }) => group === 'attention');
  const [waitingForReader, waitingForOthers] = [
    attention.filter(isForReader),
    attention.filter((row) => !isForReader(row)),
  ];
  const groups: [title: string, rows: Row[]][] = [
    ['Waiting for you', waitingForReader],
    ['Waiting for others', waitingForOthers],
    ['Failing', rows.filter(({ group }) => group === 'bad')],
    ['Drifted or unhealthy', rows.filter(({ health, run }) => problemsOf(health, run).length > 0)],
    ['Running', rows.filter(({ group }) => group === 'running')],
    ['Unchanged for 90 days', rows.filter(({ workspace }) => isStale(workspace, now))],
  ];
  const isWell = rows.every((row) => urgencyOf(row) > 3);
  return (
    <>
      <Totals rows={rows} daily={daily} organization={organization} />
      {isWell && (
        <Notice kind="good">
          All well: no run waits for a decision, no latest run failed, no workspace has drifted.
        </Notice>
      )}
      {groups.map(
        ([title, entries]) =>
          entries.length > 0 && <Section key={title} title={title} rows={entries} organization={organization} />,
      )}
      <section class="stack">
        <h2>Runs of the last {days} days</h2>
        <div class="panel pad">
          <DailyRuns days={daily} />
          {runs.length >= mostRuns && <p class="soft small">Of the latest {mostRuns} runs.</p>}
        </div>
        <Trends rows={rows} runs={runs} parts={parts} daily={daily} />
      </section>
    </>
  );
};

const resourcesOf = (rows: Row[]): number =>
  rows.reduce((sum, { workspace }) => sum + (workspace.attributes['resource-count'] ?? 0), 0);

const Trends = ({ rows, runs, parts, daily }: Home & { daily: Day[] }) => {
  const resources = resourcesOf(rows);
  const levels = useMemo(
    () => dailyLevels(runs, new Map(parts.map((part) => [part.id, part])), { resources, days, now: clock.peek() }),
    [runs, parts, resources],
  );
  const dayOf = <T extends { date: string }>(days: T[], of: (day: T) => number | undefined) =>
    days.map((day) => ({ date: day.date, value: of(day) }));
  const costs = dayOf(levels, ({ monthlyCost }) => monthlyCost);
  return (
    <div class="trends">
      <Trend
        title="Median duration of runs"
        days={dayOf(daily, ({ medianMs }) => medianMs)}
        format={(value) => duration(value)}
      />
      <Trend title="Resources" days={dayOf(levels, (day) => day.resources)} format={(n) => n.toLocaleString('en')} />
      {costs.some(({ value }) => value !== undefined) && (
        <Trend title="Estimated cost per month" days={costs} format={(value) => dollars(value.toFixed(2))} />
      )}
    </div>
  );
};

const Totals = ({ rows, daily, organization }: { rows: Row[]; daily: Day[] } & OrganizationProps) => {
  const resources = resourcesOf(rows);
  const week = daily.slice(-7);
  const sum = (of: (day: Day) => number) => week.reduce((total, day) => total + of(day), 0);
  const [succeeded, failed] = [sum((day) => day.succeeded), sum((day) => day.failed)];
  const typical = median(week.flatMap(({ medianMs }) => medianMs ?? []));
  const totals: [string, ComponentChildren, OrganizationView][] = [
    ['Workspaces', rows.length.toLocaleString('en'), 'workspaces'],
    ['Resources', resources.toLocaleString('en'), 'workspaces'],
    ['Runs in 7 days', (succeeded + failed + sum((day) => day.other)).toLocaleString('en'), 'queue'],
    [
      'Succeeded',
      succeeded + failed === 0 ? '–' : `${Math.round((succeeded / (succeeded + failed)) * 100)} %`,
      'queue',
    ],
    ['Typical duration', typical === undefined ? '–' : duration(typical), 'queue'],
  ];
  return (
    <dl class="totals">
      {totals.map(([name, value, view]) => (
        <div key={name} class="panel pad">
          <dt>{name}</dt>
          <dd>
            <a href={hrefOf({ view, organization })}>{value}</a>
          </dd>
        </div>
      ))}
    </dl>
  );
};

interface SectionProps extends OrganizationProps {
  title: string;
  rows: Row[];
}

const Section = ({ title, rows, organization }: SectionProps) => (
  <Counted title={title} count={rows.length}>
    <List label={title} of={rows.slice(0, mostListed)}>
      {(row) => <Line key={row.workspace.id} {...row} organization={organization} />}
    </List>
    {rows.length > mostListed && (
      <p>
        <a href={hrefOf({ view: 'workspaces', organization })}>{count(rows.length - mostListed, 'more workspace')}</a>
      </p>
    )}
  </Counted>
);

interface LineProps extends OrganizationProps, Pick<Row, 'workspace' | 'run'> {}

/** A workspace, linked to the run that needs attention. */
const Line = ({ workspace, run, organization }: LineProps) => {
  const { name, 'resource-count': resources } = workspace.attributes;
  return (
    <Item
      to={
        run
          ? { view: 'run', organization, workspace: name, run: run.id }
          : { view: 'workspace', organization, workspace: name, tab: 'overview' }
      }
      title={name}
      meta={
        run ? (
          <>
            <span class="one-line" title={run.attributes.message}>
              {run.attributes.message}
            </span>
            <FailureReason run={run} />
          </>
        ) : (
          count(resources, 'resource')
        )
      }
      end={run ? <Status run={run} /> : <span class="status">No runs yet</span>}
      notes={
        run && [
          <>
            <Ago at={since(run)} /> by <Person id={related(run, 'created-by')} />
          </>,
        ]
      }
    />
  );
};
