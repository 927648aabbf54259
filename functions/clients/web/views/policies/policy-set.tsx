import { type Resource, relatedIds } from '#clients/client/client.ts';
import type { Live } from '#clients/web/live.ts';
import { itemsOf, may, type OrganizationProps, useItems } from '#clients/web/organization.ts';
import { Attached, relating } from '#clients/web/parts/attached.tsx';
import { Notice } from '#clients/web/parts/basics.tsx';
import { Tags } from '#clients/web/parts/list.tsx';
import { Managed, Single, type SingleAddress } from '#clients/web/parts/managed.tsx';
import { PolicySetFields, stageOf } from '#clients/web/parts/policy-set-fields.tsx';
import { call } from '#clients/web/session.ts';
import { Parameters } from '../variables/variables.tsx';
import { Policies } from './policies-of-set.tsx';
import { PolicyVersions } from './policy-versions.tsx';

interface ViewData {
  set: Resource<'policy-sets'>;
  included: Resource[];
}

const related = 'policies,workspaces,projects,workspace_exclusions,project_exclusions';

const load = async (id: string): Promise<ViewData> => {
  const { data, included = [] } = await call('GET', `/policy-sets/${encodeURIComponent(id)}?include=${related}`);
  return { set: data, included };
};

/** One policy set: policies, parameters and scope. */
export const PolicySetView = (at: SingleAddress) => (
  <Single {...at} view="policy-set" load={() => load(at.id)} thing={({ set }) => set}>
    {(loaded, live) => <PolicySet {...loaded} organization={at.organization} live={live} />}
  </Single>
);

const PolicySet = ({ set, included, organization, live }: ViewData & OrganizationProps & { live: Live<ViewData> }) => {
  const { kind, global, overridable, versioned } = set.attributes;
  const mayWrite = may(organization, 'can-update-sentinel');
  const policies = relatedIds(set, 'policies').flatMap((id) => included.find((resource) => resource.id === id) ?? []);
  const shared = { set, organization, may: mayWrite, onChange: live.refresh };
  return (
    <>
      <Managed
        view="policy-set"
        organization={organization}
        resource={set}
        mayChange={mayWrite}
        fields={() => <PolicySetFields kind={kind} />}
        consequence={<>New runs in {global ? 'all workspaces' : 'its workspaces'} are no longer checked with it.</>}
        onChange={live.refresh}
      />
      <p class="row">
        <Tags of={[stageOf(set), overridable && 'overridable']} />
      </p>
      <div class="sides">
        <div class="stack">
          {policies.length === 0 && <PolicyVersions {...shared} />}
          {!versioned && <Policies {...shared} policies={policies} />}
          <h2>Parameters</h2>
          <Parameters set={set} organization={organization} may={mayWrite} />
        </div>
        <Reach {...shared} included={included} />
      </div>
    </>
  );
};

/** Selectors are set with the API. */
const ReachByTags = ({ set }: { set: Resource<'policy-sets'> }) => {
  const { 'tag-selectors': selectors, 'unreserved-tag-keys': unreserved = [] } = set.attributes;
  return (
    <aside class="panel pad stack" aria-label="Scope">
      <h2>Applies to</h2>
      <p>Workspaces by their tags and those of their projects:</p>
      <ul>
        {selectors.map(({ 'tag-key': key, 'tag-value': value, 'is-exclude': excludes }) => (
          <li key={`${key} ${value}`}>
            {excludes ? 'not ' : ''}
            <Tags of={[value === null ? key : `${key}: ${value}`]} />
          </li>
        ))}
      </ul>
      {unreserved.length > 0 && (
        <Notice kind="warn">
          Users with permission to tag a workspace can take it out of this set: {unreserved.join(', ')}{' '}
          {unreserved.length === 1 ? 'is' : 'are'} not reserved. Tag projects, and reserve the key without overrides.
        </Notice>
      )}
    </aside>
  );
};

interface ReachProps extends ViewData, OrganizationProps {
  may: boolean;
  onChange(): void;
}

/** Scope of the set, and its exclusions. */
const Reach = ({ set, included, organization, may, onChange }: ReachProps) => {
  const workspaces = useItems(organization, 'workspaces', may);
  const projects = useItems(organization, 'projects', may);
  const { global, 'scoping-type': scoping } = set.attributes;
  if (scoping === 'tag') return <ReachByTags set={set} />;
  const attached = (relation: string, adding: string) => {
    const kind = relation.startsWith('workspace') ? 'workspaces' : 'projects';
    const ids = new Set(relatedIds(set, relation));
    return (
      <Attached
        items={itemsOf(
          included.filter(({ id }) => ids.has(id)),
          organization,
          kind,
        )}
        others={kind === 'workspaces' ? workspaces : projects}
        may={may}
        adding={adding}
        noun={kind === 'workspaces' ? 'workspace' : 'project'}
        {...relating(`/policy-sets/${set.id}/relationships/${relation}`, kind)}
        onChange={onChange}
      />
    );
  };
  const excluded = [...relatedIds(set, 'workspace-exclusions'), ...relatedIds(set, 'project-exclusions')].length > 0;
  const chosen = [...relatedIds(set, 'workspaces'), ...relatedIds(set, 'projects')].length > 0;
  return (
    <aside class="panel pad stack" aria-label="Scope">
      <h2>Applies to</h2>
      {global && <p>All workspaces of {organization}.</p>}
      {!global && !chosen && <p class="soft">No workspaces yet. Apply the set to a workspace or a project.</p>}
      {!global && attached('workspaces', 'Apply to a workspace')}
      {!global && attached('projects', 'Apply to a project')}
      {(may || excluded) && (
        <>
          <h3>Exclusions</h3>
          {attached('workspace-exclusions', 'Exclude a workspace')}
          {attached('project-exclusions', 'Exclude a project')}
        </>
      )}
    </aside>
  );
};
