import { useSignal } from '@preact/signals';
import type { Resource } from '../../../client/client.ts';
import { type Difference, differencesOf, type RedactedPlan } from '../../../client/text/plan.ts';
import { count } from '../../../client/text/time.ts';
import { clock, useLive } from '../../live.ts';
import { go, hrefOf } from '../../location.ts';
import { Ago, Facts, Loaded, Notice } from '../../parts/basics.tsx';
import { DiffList } from '../../parts/diff.tsx';
import { call, content, create, errorText } from '../../session.ts';
import { findingsOf } from '../../text/health.ts';

/** Whether the infrastructure still is as its configuration says, and what to do when it is not. */

type Result = Resource<'assessment-results'>;

interface HealthProps {
  workspace: Resource<'workspaces'>;
  organization: string;
}

const everyMs = 5_000;

const readHistory = async (workspaceId: string): Promise<Result[]> =>
  (await call<Result[]>('GET', `/workspaces/${workspaceId}/assessment-results?page[size]=20`)).data;

export const Health = ({ workspace, organization }: HealthProps) => {
  const live = useLive(
    `health/${workspace.id}`,
    () => readHistory(workspace.id),
    () => everyMs,
  );
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

const Latest = ({ result, workspace, organization }: HealthProps & { result: Result | undefined }) => {
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
        <Facts
          facts={[
            ['Assessed', <Ago key="at" at={attributes['created-at']} />],
            ['Drifted', known(attributes['resources-drifted'], 'resource')],
            ['As configured', known(attributes['resources-undrifted'], 'resource')],
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

const known = (number: number | null, noun: string): string => (number === null ? 'unknown' : count(number, noun));

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

const Never = ({ workspace, organization }: HealthProps) => {
  const { name, 'assessments-enabled': enabled, permissions } = workspace.attributes;
  return (
    <section class="panel empty">
      <h2>No assessments yet</h2>
      <p class="soft">
        An assessment compares the infrastructure with the configuration that was applied last, and evaluates its
        checks.
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
    </section>
  );
};

/** An assessment that was cut off ends with the next one that is asked for. */
const patienceMs = 5 * 60_000;
/** Until the workspace is read again, and says that one goes on. */
const untilReadMs = 3_000;

/** Only one goes on at a time; it may end without a result when a run begins. */
const AssessNow = ({ workspace }: { workspace: Resource<'workspaces'> }) => {
  const started = useSignal(false);
  const error = useSignal<string | undefined>(undefined);
  const { permissions, 'assessment-started-at': since } = workspace.attributes;
  if (!permissions['can-manage-assessments']) return null;
  const busy = started.value || (since !== null && clock.value - Date.parse(since) < patienceMs);
  const start = async () => {
    started.value = true;
    error.value = undefined;
    try {
      await call('POST', `/workspaces/${workspace.id}/actions/assess`);
      setTimeout(() => (started.value = false), untilReadMs);
    } catch (problem) {
      error.value = errorText(problem);
      started.value = false;
    }
  };
  return (
    <div class="stack">
      <button type="button" onClick={start} disabled={busy}>
        {busy ? 'Assessing …' : 'Assess now'}
      </button>
      {error.value && <Notice kind="bad">{error.value}</Notice>}
    </div>
  );
};

/** Of what an apply would change back. */
const readDrift = async (id: string): Promise<Difference[]> => {
  const response = await content(`/assessment-results/${id}/json-output-redacted`);
  const { drift, resources } = differencesOf((await response.json()) as RedactedPlan);
  const corrected = new Set(resources.filter(({ kind }) => kind !== 'same').map(({ address }) => address));
  return drift.filter(({ address }) => corrected.has(address));
};

const Drift = ({ result }: { result: Result }) => {
  const live = useLive(
    `drift/${result.id}`,
    () => readDrift(result.id),
    () => undefined,
  );
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

const ways = [
  {
    name: 'Undo the drift',
    hint: 'Starts a run that changes the resources back to the configuration.',
    attributes: { message: 'Undo drift' },
  },
  {
    name: 'Accept the drift',
    hint: 'Starts a refresh-only run: the state takes over what there is now. Change the configuration accordingly.',
    attributes: { message: 'Accept drift', 'refresh-only': true },
  },
];

const Reconcile = ({ workspace, organization }: HealthProps) => {
  const busy = useSignal(false);
  const error = useSignal<string | undefined>(undefined);
  const { name, permissions } = workspace.attributes;
  if (!permissions['can-queue-run']) return null;
  const start = async (attributes: Record<string, unknown>) => {
    busy.value = true;
    error.value = undefined;
    try {
      const relationships = { workspace: { data: { type: 'workspaces', id: workspace.id } } };
      const run = await create('/runs', 'runs', attributes, relationships);
      go({ view: 'run', organization, workspace: name, run: run.id });
    } catch (problem) {
      error.value = errorText(problem);
      busy.value = false;
    }
  };
  return (
    <div class="pad stack">
      {ways.map((way) => (
        <div key={way.name} class="row">
          <button type="button" disabled={busy.value} onClick={() => start(way.attributes)}>
            {way.name}
          </button>
          <span class="soft grow">{way.hint}</span>
        </div>
      ))}
      {error.value && <Notice kind="bad">{error.value}</Notice>}
    </div>
  );
};

const History = ({ results }: { results: Result[] }) => (
  <section class="panel">
    <h2 class="pad">Earlier assessments</h2>
    <ul class="list" aria-label="Earlier assessments">
      {results.map((result) => (
        <li key={result.id} class="item">
          <span class="row">
            <Findings result={result} />
          </span>
          <span class="meta">
            {result.attributes['error-message'] ?? known(result.attributes['resources-drifted'], 'drifted resource')}
          </span>
          <span class="end">
            <Ago at={result.attributes['created-at']} />
          </span>
        </li>
      ))}
    </ul>
  </section>
);
