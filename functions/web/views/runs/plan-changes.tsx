import { useLive } from '../../live.ts';
import { Loaded } from '../../parts/basics.tsx';
import { DiffList } from '../../parts/diff.tsx';
import { content } from '../../session.ts';
import { differencesOf, type PlanDifferences, type RedactedPlan } from '../../text/plan.ts';

const load = async (planId: string): Promise<PlanDifferences> => {
  const response = await content(`/plans/${planId}/json-output-redacted`);
  return differencesOf((await response.json()) as RedactedPlan);
};

/** A plan never changes once it is finished. */
const cache = new Map<string, Promise<PlanDifferences>>();

const once = (planId: string): Promise<PlanDifferences> => {
  const cached = cache.get(planId);
  if (cached) return cached;
  const loading = load(planId);
  cache.set(planId, loading);
  loading.catch(() => cache.delete(planId));
  return loading;
};

/** What a plan will do, or what an apply did, resource by resource. */
export const PlanChanges = ({ plan }: { plan: { id: string } }) => {
  const live = useLive(
    `differences/${plan.id}`,
    () => once(plan.id),
    () => undefined,
  );
  return (
    <Loaded live={live} what="changes">
      {({ resources, outputs, drift }) => (
        <>
          <DiffList label="resources" differences={resources} />
          {outputs.some(({ kind }) => kind !== 'same') && (
            <>
              <h3 class="pad part">Outputs</h3>
              <DiffList label="outputs" differences={outputs} />
            </>
          )}
          {drift.length > 0 && (
            <>
              <div class="pad part">
                <h3>Changed outside of Terraform</h3>
                <p class="soft small">Changes since the last run, not made by this plan.</p>
              </div>
              <DiffList label="changes outside of Terraform" differences={drift} />
            </>
          )}
        </>
      )}
    </Loaded>
  );
};
