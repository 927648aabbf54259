import { useMemo } from 'preact/hooks';
import type { Resource } from '#clients/client/client.ts';
import { everyOperation } from '#clients/client/run-facts.ts';
import { ago, count } from '#clients/client/text/time.ts';
import { useLive } from '#clients/web/live.ts';
import { useQuery } from '#clients/web/location.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { DiffList } from '#clients/web/parts/diff.tsx';
import { comparedWith, type PlanDetails, planOf } from '#clients/web/plans.ts';
import { call, related } from '#clients/web/session.ts';
import { comparePlans } from '#clients/web/text/plan-comparison.ts';

/** How many of the workspace's latest runs are offered. */
const offered = 50;

/** Other runs of the workspace whose plans are finished, newest first. */
const load = async (run: Resource<'runs'>): Promise<Resource<'runs'>[]> => {
  const path = `/workspaces/${related(run, 'workspace')}/runs?include=plan&page[size]=${offered}&filter[operation]=${everyOperation}`;
  const { data, included = [] } = await call<Resource<'runs'>[]>('GET', path);
  const finished = new Set(included.filter(({ attributes }) => attributes.status === 'finished').map(({ id }) => id));
  return data.filter((other) => other.id !== run.id && finished.has(related(other, 'plan') ?? ''));
};

/** Differences between this plan and the plan of another run of the workspace. */
export const PlanComparison = ({ run, plan }: { run: Resource<'runs'>; plan: { id: string } }) => {
  const runs = useLive(`compared/${run.id}`, () => load(run));
  return (
    <Loaded live={runs} what="runs">
      {(others) =>
        others.length ? (
          <Compared run={run} others={others} plan={plan} />
        ) : (
          <p class="pad soft">No other run of this workspace has a finished plan yet.</p>
        )
      }
    </Loaded>
  );
};

interface ComparedProps {
  run: Resource<'runs'>;
  others: Resource<'runs'>[];
  plan: { id: string };
}

const Compared = ({ run, others, plan }: ComparedProps) => {
  const chosen = useQuery(comparedWith);
  const isOlder = (other: Resource<'runs'>) => other.attributes['created-at'] < run.attributes['created-at'];
  const other = others.find(({ id }) => id === chosen.value) ?? others.find(isOlder) ?? others[0];
  const otherPlan = related(other, 'plan') ?? '';
  const live = useLive(`${otherPlan} ${plan.id}`, () => Promise.all([planOf(otherPlan), planOf(plan.id)]));
  return (
    <>
      <label class="pad row compared">
        Compare with
        <select value={other?.id} onChange={(event) => (chosen.value = event.currentTarget.value)}>
          {others.map(({ id, attributes }) => (
            <option key={id} value={id}>
              {attributes.message} · {ago(attributes['created-at'], Date.now())} · {id}
            </option>
          ))}
        </select>
      </label>
      <Loaded live={live} what="plans">
        {([before, after]) => <Shown before={before} after={after} />}
      </Loaded>
    </>
  );
};

const sides = ['Other plan', 'This plan'] as const;

const Shown = ({ before, after }: { before: PlanDetails; after: PlanDetails }) => {
  const { added, missing, different } = useMemo(
    () => comparePlans([...before.resources, ...before.outputs], [...after.resources, ...after.outputs]),
    [before, after],
  );
  if (added.length + missing.length + different.length === 0)
    return <p class="pad soft">Both plans make the same changes. Sensitive values are not compared.</p>;
  return (
    <>
      <p class="pad soft small">Sensitive values are not compared.</p>
      {added.length > 0 && (
        <>
          <h3 class="pad part">{count(added.length, 'change')} only in this plan</h3>
          <DiffList label="changes only in this plan" differences={added} />
        </>
      )}
      {missing.length > 0 && (
        <>
          <h3 class="pad part">{count(missing.length, 'change')} only in the other plan</h3>
          <DiffList label="changes only in the other plan" differences={missing} />
        </>
      )}
      {different.length > 0 && (
        <>
          <h3 class="pad part">{count(different.length, 'change')} with another result</h3>
          <DiffList label="changes with another result" differences={different} sides={sides} />
        </>
      )}
    </>
  );
};
