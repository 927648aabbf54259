import { useLive } from '#clients/web/live.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { DiffList } from '#clients/web/parts/diff.tsx';
import { planOf } from '#clients/web/plans.ts';

/** Changes of a plan or an apply, by resource. */
export const PlanChanges = ({ plan }: { plan: { id: string } }) => {
  const live = useLive(plan.id, () => planOf(plan.id));
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
