import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { count } from '#clients/client/text/time.ts';
import { useLive } from '#clients/web/live.ts';
import { go, hrefOf } from '#clients/web/location.ts';
import { may } from '#clients/web/organization.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { Dialog } from '#clients/web/parts/dialog.tsx';
import { Choice, Form, Text, textOf } from '#clients/web/parts/form.tsx';
import { Head } from '#clients/web/parts/head.tsx';
import { OrganizationShell } from '#clients/web/parts/organization-shell.tsx';
import { all, create } from '#clients/web/session.ts';

/** Variable sets of an organization. */
export const VariableSets = ({ organization }: { organization: string }) => {
  const live = useLive(
    `variable-sets/${organization}`,
    async () => (await all<'varsets'>(`/organizations/${organization}/varsets`)).data,
    () => 15_000,
  );
  const adding = useSignal(false);
  return (
    <OrganizationShell organization={organization} at="variable-sets">
      <Head
        title="Variable sets"
        add="New variable set"
        onAdd={may(organization, 'can-manage-varsets') && (() => (adding.value = true))}
      />
      <Loaded live={live} what="variable sets">
        {(sets) =>
          sets.length === 0 ? (
            <p class="panel pad soft">
              No variable sets yet. Create one to share variables, such as cloud credentials, between workspaces.
            </p>
          ) : (
            <ul class="panel list" aria-label="Variable sets">
              {sets.map((set) => (
                <Line key={set.id} set={set} organization={organization} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {adding.value && (
        <NewSet
          organization={organization}
          onClose={() => {
            adding.value = false;
          }}
        />
      )}
    </OrganizationShell>
  );
};

const reachOf = ({ attributes }: Resource<'varsets'>): string => {
  if (attributes.global) return 'all workspaces';
  const parts = [
    attributes['project-count'] && count(attributes['project-count'], 'project'),
    attributes['workspace-count'] && count(attributes['workspace-count'], 'workspace'),
  ].filter(Boolean);
  return parts.length ? parts.join(' and ') : 'no workspaces';
};

const Line = ({ set, organization }: { set: Resource<'varsets'>; organization: string }) => (
  <li>
    <a class="item" href={hrefOf({ view: 'variable-set', organization, id: set.id })}>
      <span class="row">
        <span class="title">{set.attributes.name}</span>
        {set.attributes.priority && <span class="tag">priority</span>}
      </span>
      <span class="meta">{set.attributes.description || `Applied to ${reachOf(set)}`}</span>
      <span class="end meta">
        <span>{count(set.attributes['var-count'], 'variable')}</span>
        <span>{reachOf(set)}</span>
      </span>
    </a>
  </li>
);

const NewSet = ({ organization, onClose }: { organization: string; onClose(): void }) => {
  const submit = async (data: FormData) => {
    const set = await create(`/organizations/${organization}/varsets`, 'varsets', {
      name: textOf(data, 'name'),
      description: textOf(data, 'description') ?? '',
      global: data.has('global'),
      priority: data.has('priority'),
    });
    go({ view: 'variable-set', organization, id: set.id });
  };
  return (
    <Dialog title="New variable set" onClose={onClose}>
      <Form submit="Create variable set" onSubmit={submit} onCancel={onClose}>
        <SetFields />
      </Form>
    </Dialog>
  );
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
