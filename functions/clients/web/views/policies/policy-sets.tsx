import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { count } from '#clients/client/text/time.ts';
import { Choices, type Option } from '#clients/web/parts/form.tsx';
import { kindNames, PolicySetFields, policySetOf } from '#clients/web/parts/policy-set-fields.tsx';
import { ResourceList } from '#clients/web/parts/resource-list.tsx';

/** Policy sets of an organization. */
export const PolicySets = ({ organization }: { organization: string }) => {
  const kind = useSignal('opa');
  return (
    <ResourceList
      organization={organization}
      noun="policy set"
      type="policy-sets"
      view="policy-set"
      permission="can-update-sentinel"
      empty="No policy sets yet. Create one to check plans against rules, such as “no public buckets”. A violation is a warning, requires an override, or ends the run."
      line={(set) => <Line set={set} />}
      fields={
        <>
          <Choices
            legend="Kind"
            type="radio"
            name="kind"
            options={kinds}
            chosen={[kind.value]}
            onChange={(value) => (kind.value = value)}
          />
          <PolicySetFields kind={kind.value} />
        </>
      }
      attributesOf={(data) => ({ kind: kind.value, ...policySetOf(data, kind.value) })}
    />
  );
};

const reachOf = ({ attributes, relationships }: Resource<'policy-sets'>): string => {
  const parts = [
    attributes['project-count'] && count(attributes['project-count'], 'project'),
    attributes['workspace-count'] && count(attributes['workspace-count'], 'workspace'),
  ].filter(Boolean);
  const reach = attributes.global ? 'all workspaces' : parts.join(' and ') || 'no workspaces';
  const exclusions = ['workspace-exclusions', 'project-exclusions'].some((name) => {
    const excluded = relationships?.[name]?.data;
    return Array.isArray(excluded) && excluded.length > 0;
  });
  return exclusions ? `${reach}, with exceptions` : reach;
};

const Line = ({ set }: { set: Resource<'policy-sets'> }) => {
  const { name, description, kind, overridable } = set.attributes;
  const policies = set.attributes['policy-count'];
  return (
    <>
      <span class="row">
        <span class="title">{name}</span>
        <span class="tag">{kindNames[kind] ?? kind}</span>
        {overridable && <span class="tag">overridable</span>}
      </span>
      <span class="meta">{description || `Applies to ${reachOf(set)}`}</span>
      <span class="end meta">
        <span>{policies === 1 ? '1 policy' : `${policies} policies`}</span>
        <span>{reachOf(set)}</span>
      </span>
    </>
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
