import type { Difference } from '#clients/client/text/plan.ts';
import { useLive } from '#clients/web/live.ts';
import { Loaded, Notice } from '#clients/web/parts/basics.tsx';
import { DiffList } from '#clients/web/parts/diff.tsx';
import { planOf } from '#clients/web/plans.ts';
import { risksOf } from '#clients/web/text/plan-risks.ts';

/** Changes of a plan or an apply, by resource. */
export const PlanChanges = ({ plan }: { plan: { id: string } }) => {
  const live = useLive(plan.id, () => planOf(plan.id));
  return (
    <Loaded live={live} what="changes">
      {({ resources, outputs, drift }) => (
        <>
          <Risks of={resources} />
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

/** What a reviewer should look at first; of a plan that changes resources. */
const Risks = ({ of }: { of: Difference[] }) => {
  const risks = risksOf(of);
  return (
    risks.length > 0 && (
      <div class="risks">
        <Notice kind="warn">
          <strong>To review:</strong> {risks.join(', ')}
        </Notice>
      </div>
    )
  );
};
