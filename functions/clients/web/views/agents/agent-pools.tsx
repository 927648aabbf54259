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

/** Agent pools of an organization. */
export const AgentPools = ({ organization }: { organization: string }) => {
  const live = useLive(
    `agent-pools/${organization}`,
    async () => (await all<'agent-pools'>(`/organizations/${organization}/agent-pools`)).data,
    () => 15_000,
  );
  const adding = useSignal(false);
  return (
    <OrganizationShell organization={organization} at="agent-pools">
      <Head
        title="Agent pools"
        add="New agent pool"
        onAdd={may(organization, 'can-update-agent-pools') && (() => (adding.value = true))}
      />
      <Loaded live={live} what="agent pools">
        {(pools) =>
          pools.length === 0 ? (
            <p class="panel pad soft">
              No agent pools yet. Create one to run Terraform on your own machines, for example inside a private
              network. Agents need outbound access only.
            </p>
          ) : (
            <ul class="panel list" aria-label="Agent pools">
              {pools.map((pool) => (
                <Line key={pool.id} pool={pool} organization={organization} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {adding.value && <NewAgentPool organization={organization} onClose={() => (adding.value = false)} />}
    </OrganizationShell>
  );
};

const Line = ({ pool, organization }: { pool: Resource<'agent-pools'>; organization: string }) => {
  const { name, 'agent-count': agents, 'organization-scoped': scoped } = pool.attributes;
  return (
    <li>
      <a class="item" href={hrefOf({ view: 'agent-pool', organization, id: pool.id })}>
        <span class="title">{name}</span>
        <span class="meta">{scoped ? 'All workspaces' : 'Selected workspaces'}</span>
        <span class="end meta">{count(agents, 'active agent')}</span>
      </a>
    </li>
  );
};

const NewAgentPool = ({ organization, onClose }: { organization: string; onClose(): void }) => {
  const submit = async (data: FormData) => {
    const pool = await create(`/organizations/${organization}/agent-pools`, 'agent-pools', agentPoolOf(data));
    go({ view: 'agent-pool', organization, id: pool.id });
  };
  return (
    <Dialog title="New agent pool" onClose={onClose}>
      <Form submit="Create agent pool" onSubmit={submit} onCancel={onClose}>
        <AgentPoolFields />
      </Form>
    </Dialog>
  );
};

export const AgentPoolFields = ({ pool }: { pool?: Resource<'agent-pools'> }) => (
  <>
    <Text
      label="Name"
      name="name"
      required
      autoFocus={!pool}
      value={pool?.attributes.name}
      pattern="[A-Za-z0-9_\-]+"
      hint="Letters, digits, - and _. For example office or vpc-production."
    />
    <Choice
      name="organization-scoped"
      label="Allow all workspaces"
      hint="Otherwise, select the workspaces and projects that can use it."
      checked={pool?.attributes['organization-scoped'] ?? true}
    />
  </>
);

export const agentPoolOf = (data: FormData) => ({
  name: textOf(data, 'name'),
  'organization-scoped': data.has('organization-scoped'),
});
