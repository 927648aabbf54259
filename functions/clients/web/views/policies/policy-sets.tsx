import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { count } from '#clients/client/text/time.ts';
import { useLive } from '#clients/web/live.ts';
import { go, hrefOf } from '#clients/web/location.ts';
import { may } from '#clients/web/organization.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { Dialog } from '#clients/web/parts/dialog.tsx';
import { Choices, Form, type Option } from '#clients/web/parts/form.tsx';
import { Head } from '#clients/web/parts/head.tsx';
import { OrganizationShell } from '#clients/web/parts/organization-shell.tsx';
import { kindNames, PolicySetFields, policySetOf } from '#clients/web/parts/policy-set-fields.tsx';
import { all, create } from '#clients/web/session.ts';

/** Policy sets of an organization. */
export const PolicySets = ({ organization }: { organization: string }) => {
  const live = useLive(
    `policy-sets/${organization}`,
    async () => (await all<'policy-sets'>(`/organizations/${organization}/policy-sets`)).data,
    () => 15_000,
  );
  const adding = useSignal(false);
  return (
    <OrganizationShell organization={organization} at="policy-sets">
      <Head
        title="Policy sets"
        add="New policy set"
        onAdd={may(organization, 'can-update-sentinel') && (() => (adding.value = true))}
      />
      <Loaded live={live} what="policy sets">
        {(sets) =>
          sets.length === 0 ? (
            <p class="panel pad soft">
              No policy sets yet. Create one to check plans against rules, such as “no public buckets”. A violation is a
              warning, requires an override, or ends the run.
            </p>
          ) : (
            <ul class="panel list" aria-label="Policy sets">
              {sets.map((set) => (
                <Line key={set.id} set={set} organization={organization} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {adding.value && <NewPolicySet organization={organization} onClose={() => (adding.value = false)} />}
    </OrganizationShell>
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

const Line = ({ set, organization }: { set: Resource<'policy-sets'>; organization: string }) => {
  const { name, description, kind, overridable } = set.attributes;
  const policies = set.attributes['policy-count'];
  return (
    <li>
      <a class="item" href={hrefOf({ view: 'policy-set', organization, id: set.id })}>
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
      </a>
    </li>
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

const NewPolicySet = ({ organization, onClose }: { organization: string; onClose(): void }) => {
  const kind = useSignal('opa');
  const submit = async (data: FormData) => {
    const set = await create(`/organizations/${organization}/policy-sets`, 'policy-sets', {
      kind: kind.value,
      ...policySetOf(data, kind.value),
    });
    go({ view: 'policy-set', organization, id: set.id });
  };
  return (
    <Dialog title="New policy set" onClose={onClose}>
      <Form submit="Create policy set" onSubmit={submit} onCancel={onClose}>
        <Choices
          legend="Kind"
          type="radio"
          name="kind"
          options={kinds}
          chosen={[kind.value]}
          onChange={(value) => (kind.value = value)}
        />
        <PolicySetFields kind={kind.value} />
      </Form>
    </Dialog>
  );
};
