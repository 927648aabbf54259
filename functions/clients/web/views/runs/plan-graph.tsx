import { useMemo } from 'preact/hooks';
import { useLive } from '#clients/web/live.ts';
import { setHash } from '#clients/web/location.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { signs } from '#clients/web/parts/diff-signs.ts';
import { DependencyGraph } from '#clients/web/parts/graph.tsx';
import { type PlanDetails, planOf } from '#clients/web/plans.ts';
import { configured } from '#platform/text/resource-times.ts';

/** Dependency graph of a plan's changes; a click opens the change. */
export const PlanGraph = ({ plan }: { plan: { id: string } }) => {
  const live = useLive(plan.id, () => planOf(plan.id));
  return (
    <Loaded live={live} what="graph">
      {(details) => <Drawn {...details} />}
    </Loaded>
  );
};

const Drawn = ({ resources, dependencies }: PlanDetails) => {
  const nodes = useMemo(
    () => resources.map(({ address, kind }) => ({ address, tone: kind === 'same' ? undefined : signs[kind].tone })),
    [resources],
  );
  if (resources.length === 0) return <p class="pad soft">No changes.</p>;
  if (!dependencies) return <p class="pad soft">This plan was made before dependencies were recorded.</p>;
  return (
    <DependencyGraph
      label="Dependencies of the plan"
      resources={nodes}
      dependencies={dependencies}
      onChoose={(id) => {
        const address = resources.find((resource) => configured(resource.address) === id)?.address;
        if (address) setHash(`change-${encodeURIComponent(address)}`);
      }}
    />
  );
};
