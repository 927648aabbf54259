import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { findingsOf } from '#clients/client/text/health.ts';
import { type Difference, differencesOf, type RedactedPlan } from '#clients/client/text/plan.ts';
import { count } from '#clients/client/text/time.ts';
import { lazily, WaitingPart } from '#clients/web/lazily.tsx';
import { clock, useLive } from '#clients/web/live.ts';
import { go, hrefOf } from '#clients/web/location.ts';
import type { WorkspaceProps } from '#clients/web/organization.ts';
import { Ago, Facts, Loaded, Notice } from '#clients/web/parts/basics.tsx';
import { ActionButton, Button, useAction } from '#clients/web/parts/button.tsx';
import { FailedChecks } from '#clients/web/parts/failed-checks.tsx';
import { Item, List } from '#clients/web/parts/list.tsx';
import { Empty } from '#clients/web/parts/section.tsx';
import { call, content, create } from '#clients/web/session.ts';

/** Drift and failed checks of a workspace, and remedies. */

const DiffList = lazily(
  () => import('#clients/web/groups/plan.ts'),
  (group) => group.DiffList,
  WaitingPart,
);

type Result = Resource<'assessment-results'>;

const readHistory = async (workspaceId: string): Promise<Result[]> =>
  (await call<Result[]>('GET', `/workspaces/${workspaceId}/assessment-results?page[size]=20`)).data;

export const Health = ({ workspace, organization }: WorkspaceProps) => {
  const live = useLive(`health/${workspace.id}`, () => readHistory(workspace.id), 5_000);
  return (
    <Loaded live={live} what="health">
      {([latest, ...earlier]) => (
        <div class="stack">
          <Latest key={latest?.id} result={latest} workspace={workspace} organization={organization} />
          {earlier.length > 0 && <History results={earlier} />}
        </div>
      )}
    </Loaded>
  );
};

const Findings = ({ result }: { result: Result }) => (
  <>
    {findingsOf(result.attributes).map(({ text, tone }) => (
      <span key={text} class={`status ${tone}`}>
        {text}
      </span>
    ))}
  </>
);

const Latest = ({ result, workspace, organization }: WorkspaceProps & { result: Result | undefined }) => {
  if (!result) return <Never workspace={workspace} organization={organization} />;
  const { attributes } = result;
  return (
    <section class="panel" aria-label="Latest assessment">
      <div class="pad stack">
        <div class="row spread">
          <h2>
            <Findings result={result} />
          </h2>
          <AssessNow workspace={workspace} />
        </div>
        {attributes['error-message'] && <Notice kind="bad">{attributes['error-message']}</Notice>}
        <FailedChecks checks={attributes['failed-checks']} />
        <Facts
          facts={[
            ['Assessed', <Ago key="at" at={attributes['created-at']} />],
            ['Drifted', countText(attributes['resources-drifted'], 'resource')],
            ['As configured', countText(attributes['resources-undrifted'], 'resource')],
            ['Checks', checksText(attributes)],
          ]}
        />
      </div>
      {attributes.drifted && (
        <>
          <Drift result={result} />
          <Reconcile workspace={workspace} organization={organization} />
        </>
      )}
    </section>
  );
};

const countText = (number: number | null, noun: string): string => (number === null ? 'unknown' : count(number, noun));

const checksText = (attributes: Result['attributes']): string => {
  if (attributes['checks-passed'] === null) return attributes.succeeded ? 'none configured' : 'unknown';
  const parts: [number | null, string][] = [
    [attributes['checks-passed'], 'passed'],
    [attributes['checks-failed'], 'failed'],
    [attributes['checks-errored'], 'errored'],
    [attributes['checks-unknown'], 'unknown'],
  ];
  return parts.flatMap(([number, word]) => (number ? `${number} ${word}` : [])).join(', ');
};

const Never = ({ workspace, organization }: WorkspaceProps) => {
  const { name, 'assessments-enabled': enabled, permissions } = workspace.attributes;
  return (
    <Empty title="No assessments yet">
      <p class="soft">
        An assessment compares the infrastructure with the last applied configuration, and evaluates its checks.
      </p>
      {enabled ? (
        <AssessNow workspace={workspace} />
      ) : (
        permissions['can-manage-assessments'] && (
          <p>
            Enable health assessments in the{' '}
            <a href={hrefOf({ view: 'workspace', organization, workspace: name, tab: 'settings' })}>settings</a>.
          </p>
        )
      )}
    </Empty>
  );
};

/** An interrupted assessment ends when the next one is requested. */
const patienceMs = 5 * 60_000;
/** Set until the workspace's document reports the assessment. */
const untilReadMs = 3_000;

/** One at a time; it may end without a result when a run starts. */
const AssessNow = ({ workspace }: { workspace: Resource<'workspaces'> }) => {
  const started = useSignal(false);
  const { permissions, 'assessment-started-at': since } = workspace.attributes;
  if (!permissions['can-manage-assessments']) return null;
  const busy = started.value || (since !== null && clock.value - Date.parse(since) < patienceMs);
  const start = async () => {
    await call('POST', `/workspaces/${workspace.id}/actions/assess`);
    started.value = true;
    setTimeout(() => (started.value = false), untilReadMs);
  };
  return <ActionButton text={busy ? 'Assessing …' : 'Assess now'} working="Assessing …" disabled={busy} work={start} />;
};

/** Drift that an apply would revert. */
const readDrift = async (id: string): Promise<Difference[]> => {
  const response = await content(`/assessment-results/${id}/json-output-redacted`);
  const { drift, resources } = differencesOf((await response.json()) as RedactedPlan);
  const corrected = new Set(resources.filter(({ kind }) => kind !== 'same').map(({ address }) => address));
  return drift.filter(({ address }) => corrected.has(address));
};

const Drift = ({ result }: { result: Result }) => {
  const live = useLive(`drift/${result.id}`, () => readDrift(result.id));
  return (
    <Loaded live={live} what="drift">
      {(differences) => (
        <>
          <h3 class="pad part">Changed outside of Terraform</h3>
          <DiffList label="drift" differences={differences} did />
        </>
      )}
    </Loaded>
  );
};

const remedies = [
  {
    name: 'Undo the drift',
    hint: 'Starts a run that changes the resources back to the configuration.',
    attributes: { message: 'Undo drift' },
  },
  {
    name: 'Accept the drift',
    hint: 'Starts a refresh-only run: the state is updated to the current resources. Change the configuration accordingly.',
    attributes: { message: 'Accept drift', 'refresh-only': true },
  },
];

const Reconcile = ({ workspace, organization }: WorkspaceProps) => {
  const { busy, failure, perform } = useAction();
  const { name, permissions } = workspace.attributes;
  if (!permissions['can-queue-run']) return null;
  const start = (attributes: Record<string, unknown>) =>
    perform(async () => {
      const run = await create('/runs', 'runs', attributes, {
        workspace: { data: { type: 'workspaces', id: workspace.id } },
      });
      go({ view: 'run', organization, workspace: name, run: run.id });
    });
  return (
    <div class="pad stack">
      {remedies.map((remedy) => (
        <div key={remedy.name} class="row">
          <Button text={remedy.name} disabled={busy.value} onClick={() => start(remedy.attributes)} />
          <span class="soft grow">{remedy.hint}</span>
        </div>
      ))}
      {failure}
    </div>
  );
};

const History = ({ results }: { results: Result[] }) => (
  <section class="panel">
    <h2 class="pad">Earlier assessments</h2>
    <List label="Earlier assessments" of={results} plain>
      {(result) => (
        <Item
          key={result.id}
          title={<Findings result={result} />}
          meta={
            result.attributes['error-message'] ?? countText(result.attributes['resources-drifted'], 'drifted resource')
          }
          end={<Ago at={result.attributes['created-at']} />}
        />
      )}
    </List>
  </section>
);
