import { useSignal } from '@preact/signals';
import type { Document, Resource } from '#clients/client/client.ts';
import { pollMs, useLive } from '#clients/web/live.ts';
import { type OrganizationProps, useOrganization } from '#clients/web/organization.ts';
import { Button } from '#clients/web/parts/button.tsx';
import { Item, List } from '#clients/web/parts/list.tsx';
import { Outside } from '#clients/web/parts/outside.tsx';
import { Page } from '#clients/web/parts/page.tsx';
import { knowPeople } from '#clients/web/parts/person.tsx';
import { partsOf, RunLine } from '#clients/web/parts/run-line.tsx';
import { Counted, Section } from '#clients/web/parts/section.tsx';
import { factsOf, isOver, Status } from '#clients/web/parts/status.tsx';
import { call, related } from '#clients/web/session.ts';
import { displayStatus, type Tone } from '#run/display.ts';

/** Runs of a commit in all workspaces that the user can see. Commit statuses link here. */

interface PolicySetOutcome {
  id: string;
  state: string;
  description: string;
}

interface Started {
  runs: Resource<'runs'>[];
  parts: Map<string, Resource>;
  total: number;
  policySets: PolicySetOutcome[];
}

const pageSize = 100;

const readStarted = async (path: string, limit: number): Promise<Started> => {
  const started: Started = { runs: [], parts: new Map(), total: 0, policySets: [] };
  for (let page: number | null = 1; page && started.runs.length < limit; ) {
    const {
      data,
      included = [],
      meta,
    }: Document<Resource<'runs'>[]> = await call('GET', `${path}&page[number]=${page}`);
    knowPeople(included);
    started.runs.push(...data);
    for (const part of included) started.parts.set(part.id, part);
    started.policySets = (meta as unknown as { 'policy-sets': PolicySetOutcome[] })['policy-sets'];
    started.total = meta?.pagination?.['total-count'] ?? data.length;
    page = meta?.pagination?.['next-page'] ?? null;
  }
  return started;
};

/** More runs of the same commit may be started. */
const slowly = 15_000;

const paceOf = ({ runs, policySets }: Started): number => {
  const over = runs.every(isOver) && policySets.every(({ state }) => state !== 'pending');
  return over ? slowly : pollMs * Math.ceil((runs.length + 1) / pageSize);
};

/** States of policy sets, in the words of their versions. */
const policySetStates: Record<string, [name: string, tone: Tone]> = {
  success: ['ready', 'good'],
  failure: ['errored', 'bad'],
  pending: ['pending', 'running'],
};

const groups: readonly [title: string, tones: readonly Tone[]][] = [
  ['Needs attention', ['attention']],
  ['Failed', ['bad']],
  ['Running', ['running']],
  ['Queued', ['waiting']],
  ['Done', ['good', 'neutral']],
];

const toneOf = (run: Resource<'runs'>): Tone => displayStatus(factsOf(run)).tone;

const inGroup = (runs: Resource<'runs'>[], tones: readonly Tone[]): Resource<'runs'>[] =>
  runs.filter((run) => tones.includes(toneOf(run)));

/** The runs of all workspaces at a glance, in the words of the list below. */
const Overall = ({ runs, total }: Pick<Started, 'runs' | 'total'>) => {
  const [only] = runs;
  if (!only) return null;
  if (total === 1)
    return (
      <p>
        <Status run={only} />
      </p>
    );
  const counts = groups
    .map(([title, tones]) => ({ title, tone: tones[0], count: inGroup(runs, tones).length }))
    .filter(({ count }) => count > 0);
  return (
    <p>
      <span class={`status ${counts[0]?.tone}`}>
        {counts.map(({ title, count }) => `${title} ${count}`).join(' · ')}
        {runs.length < total && ` (first ${runs.length} of ${total})`}
      </span>
    </p>
  );
};

interface Props extends OrganizationProps {
  identifier: string;
  sha: string;
}

export const CommitView = ({ organization, identifier, sha }: Props) => {
  useOrganization(organization);
  const limit = useSignal(pageSize);
  const query = new URLSearchParams({
    identifier,
    include: 'created_by,workspace,plan,configuration_version.ingress_attributes',
    'page[size]': String(pageSize),
  });
  const path = `/organizations/${organization}/commits/${sha}/runs?${query}`;
  const live = useLive(`${path} ${limit.value}`, () => readStarted(path, limit.value), paceOf);
  return (
    <Page
      title={`${sha.slice(0, 8)} of ${identifier}`}
      organization={organization}
      crumbs={[{ text: identifier }, { text: sha.slice(0, 8) }]}
      live={live}
      what="commit"
    >
      {(started) => (
        <>
          <Title started={started} identifier={identifier} sha={sha} />
          <Runs started={started} organization={organization} />
          {started.runs.length < started.total && (
            <Button
              text={`Show more (${started.runs.length} of ${started.total} shown)`}
              onClick={() => (limit.value += pageSize)}
            />
          )}
          <PolicySets outcomes={started.policySets} organization={organization} />
        </>
      )}
    </Page>
  );
};

const Title = ({ started, identifier, sha }: { started: Started; identifier: string; sha: string }) => {
  const { runs, parts, policySets } = started;
  const about = [...parts.values()].find(({ type }) => type === 'ingress-attributes')?.attributes;
  const number = about?.['pull-request-number'];
  return (
    <>
      <h1 class="break">{about?.['commit-message']?.split('\n')[0] || `Commit ${sha.slice(0, 8)}`}</h1>
      <p class="soft break">
        <code>
          <Outside url={about?.['commit-url']}>{sha.slice(0, 8)}</Outside>
        </code>{' '}
        of {identifier}
        {about?.branch && ` on ${about.branch}`}
        {about?.['sender-username'] && ` by ${about['sender-username']}`}
        {number ? (
          <>
            {' · '}
            <Outside url={about?.['pull-request-url']}>{`#${number} ${about?.['pull-request-title'] ?? ''}`}</Outside>
          </>
        ) : null}
      </p>
      <Overall {...started} />
      {runs.length + policySets.length === 0 && (
        <p class="panel pad soft">
          No runs for this commit. It affects no workspace that you can access, or it is more than 90 days old.
        </p>
      )}
    </>
  );
};

const Runs = ({ started: { runs, parts }, organization }: OrganizationProps & { started: Started }) => (
  <>
    {groups.map(([title, wanted]) => {
      const runsOfGroup = inGroup(runs, wanted);
      return (
        runsOfGroup.length > 0 && (
          <Counted key={title} title={title} count={runsOfGroup.length}>
            <List label={title} of={runsOfGroup}>
              {(run) => {
                const workspace = parts.get(related(run, 'workspace') ?? '')?.attributes.name ?? '';
                return (
                  <RunLine
                    key={run.id}
                    run={run}
                    title={workspace}
                    organization={organization}
                    workspace={workspace}
                    {...partsOf(run, parts)}
                    commit={undefined}
                  />
                );
              }}
            </List>
          </Counted>
        )
      );
    })}
  </>
);

const PolicySets = ({ outcomes, organization }: OrganizationProps & { outcomes: PolicySetOutcome[] }) =>
  outcomes.length > 0 && (
    <Section title="Policy sets">
      <List label="Policy sets" of={outcomes}>
        {({ id, state, description }) => {
          const [name, tone] = policySetStates[state] ?? [state, ''];
          return (
            <Item
              key={id}
              to={{ view: 'policy-set', organization, id }}
              title={description}
              end={<span class={`status ${tone}`}>{name}</span>}
            />
          );
        }}
      </List>
    </Section>
  );
