import { useSignal } from '@preact/signals';
import { relatedIds } from '#clients/client/client.ts';
import { rejectionOf } from '#clients/client/text/policy-sets.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { type Option, Radios } from '#clients/web/parts/fields.tsx';
import { Item } from '#clients/web/parts/list.tsx';
import { PolicySetFields, stageOf } from '#clients/web/parts/policy-set-fields.tsx';
import { ResourceList } from '#clients/web/parts/resource-list.tsx';
import { reachOf } from '../variables/variable-sets.tsx';

/** Policy sets of an organization. */
export const PolicySets = ({ organization }: OrganizationProps) => {
  const kind = useSignal('opa');
  return (
    <ResourceList
      organization={organization}
      view="policy-set"
      include="newest_version"
      empty="No policy sets yet. Create one to check plans against rules, such as “no public buckets”. A violation is a warning, requires an override, or ends the run."
      fields={
        <>
          <Radios legend="Kind" name="kind" options={kinds} chosen={kind} />
          <PolicySetFields kind={kind.value} />
        </>
      }
    >
      {(set, to, included) => {
        const { name, description, overridable, 'policy-count': policies } = set.attributes;
        const excludes =
          [...relatedIds(set, 'workspace-exclusions'), ...relatedIds(set, 'project-exclusions')].length > 0;
        const reach = `${reachOf(set.attributes)}${excludes ? ', with exceptions' : ''}`;
        const problem = rejectionOf(set, included);
        return (
          <Item
            key={set.id}
            to={to}
            title={name}
            tags={[stageOf(set), overridable && 'overridable']}
            meta={
              problem ? (
                <span class="one-line failure" title={problem}>
                  Newest version rejected: {problem}
                </span>
              ) : (
                description || `Applies to ${reach}`
              )
            }
            notes={[policies === 1 ? '1 policy' : `${policies} policies`, reach]}
          />
        );
      }}
    </ResourceList>
  );
};

const kinds: Option[] = [
  ['opa', 'Policy evaluation', 'Rego, evaluated right after the plan. Policies are advisory or mandatory.'],
  [
    'sentinel',
    'Policy check',
    'Rego or Sentinel, checked last before the confirmation. Policies are advisory, soft-mandatory (overridable) or hard-mandatory.',
  ],
];
