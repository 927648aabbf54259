import type { Resource } from '#clients/client/client.ts';
import { count } from '#clients/client/text/time.ts';
import { Choice, Text, textOf } from '#clients/web/parts/form.tsx';
import { ResourceList } from '#clients/web/parts/resource-list.tsx';

/** Variable sets of an organization. */
export const VariableSets = ({ organization }: { organization: string }) => (
  <ResourceList
    organization={organization}
    noun="variable set"
    type="varsets"
    view="variable-set"
    permission="can-manage-varsets"
    empty="No variable sets yet. Create one to share variables, such as cloud credentials, between workspaces."
    line={(set) => (
      <>
        <span class="row">
          <span class="title">{set.attributes.name}</span>
          {set.attributes.priority && <span class="tag">priority</span>}
        </span>
        <span class="meta">{set.attributes.description || `Applied to ${reachOf(set)}`}</span>
        <span class="end meta">
          <span>{count(set.attributes['var-count'], 'variable')}</span>
          <span>{reachOf(set)}</span>
        </span>
      </>
    )}
    fields={<SetFields />}
    attributesOf={setOf}
  />
);

const reachOf = ({ attributes }: Resource<'varsets'>): string => {
  if (attributes.global) return 'all workspaces';
  const parts = [
    attributes['project-count'] && count(attributes['project-count'], 'project'),
    attributes['workspace-count'] && count(attributes['workspace-count'], 'workspace'),
  ].filter(Boolean);
  return parts.length ? parts.join(' and ') : 'no workspaces';
};

export const SetFields = ({ set }: { set?: Resource<'varsets'> }) => (
  <>
    <Text label="Name" name="name" required autoFocus={!set} value={set?.attributes.name} />
    <Text label="Description" name="description" value={set?.attributes.description ?? ''} />
    <Choice
      name="global"
      label="Apply to all workspaces"
      checked={set?.attributes.global}
      hint="Including workspaces created later."
    />
    <Choice
      name="priority"
      label="Prioritize over workspace variables"
      checked={set?.attributes.priority}
      hint="Otherwise, a workspace variable with the same name takes precedence."
    />
  </>
);

export const setOf = (data: FormData) => ({
  name: textOf(data, 'name'),
  description: textOf(data, 'description') ?? '',
  global: data.has('global'),
  priority: data.has('priority'),
});
