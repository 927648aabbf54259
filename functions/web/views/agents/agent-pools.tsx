import { useSignal } from '@preact/signals';
import type { Resource } from '../../../client/client.ts';
import { count } from '../../../client/text/time.ts';
import { useLive } from '../../live.ts';
import { go, hrefOf } from '../../location.ts';
import { may } from '../../organization.ts';
import { Loaded } from '../../parts/basics.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Choice, Form, Text, textOf } from '../../parts/form.tsx';
import { Head } from '../../parts/head.tsx';
import { OrganizationShell } from '../../parts/organization-shell.tsx';
import { all, create } from '../../session.ts';

/** Agents come in pools, which workspaces have their runs done by. */
export const AgentPools = ({ organization }: { organization: string }) => {
  const live = useLive(
    `agent-pools/${organization}`,
    async () => (await all(`/organizations/${organization}/agent-pools`)).data,
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
              There are none. Agents run Terraform on machines of yours, for what can be reached from there only. They
              ask for work; nothing has to reach them.
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

const Line = ({ pool, organization }: { pool: Resource; organization: string }) => {
  const { name, 'agent-count': agents, 'organization-scoped': scoped } = pool.attributes;
  return (
    <li>
      <a class="item" href={hrefOf({ view: 'agent-pool', organization, id: pool.id })}>
        <span class="title">{name}</span>
        <span class="meta">{scoped ? 'For every workspace' : 'For some workspaces'}</span>
        <span class="end meta">{count(agents, 'agent')} at work</span>
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

export const AgentPoolFields = ({ pool }: { pool?: Resource }) => (
  <>
    <Text
      label="Name"
      name="name"
      required
      autoFocus={!pool}
      value={pool?.attributes.name}
      pattern="[A-Za-z0-9_\-]+"
      hint="Letters, digits, - and _. Often where its machines are: office, vpc-production."
    />
    <Choice
      name="organization-scoped"
      label="For every workspace"
      hint="Otherwise you choose the workspaces and projects that may use it."
      checked={pool?.attributes['organization-scoped'] ?? true}
    />
  </>
);

export const agentPoolOf = (data: FormData) => ({
  name: textOf(data, 'name'),
  'organization-scoped': data.has('organization-scoped'),
});
