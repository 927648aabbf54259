import type { Resource } from '#clients/client/client.ts';
import type { Live } from '#clients/web/live.ts';
import { base } from '#clients/web/location.ts';
import { itemsOf, may, useItems, useOrganization } from '#clients/web/organization.ts';
import { Attached } from '#clients/web/parts/attached.tsx';
import { Ago, Code } from '#clients/web/parts/basics.tsx';
import { Managed, Single } from '#clients/web/parts/managed.tsx';
import { TokensOf } from '#clients/web/parts/tokens.tsx';
import { all, call, change } from '#clients/web/session.ts';
import { AgentPoolFields, agentPoolOf } from './agent-pools.tsx';

interface ViewData {
  pool: Resource<'agent-pools'>;
  agents: Resource<'agents'>[];
  /** Workspaces and projects that use the pool, as far as the user can see them. */
  workspaces: Resource<'workspaces'>[];
}

const load = async (id: string): Promise<ViewData> => {
  const path = `/agent-pools/${encodeURIComponent(id)}`;
  const [{ data, included = [] }, agents] = await Promise.all([
    call('GET', `${path}?include=workspaces`),
    all<'agents'>(`${path}/agents?sort=-created-at`),
  ]);
  return { pool: data, agents: agents.data, workspaces: included };
};

/** One agent pool: its agents, their tokens, and the workspaces that use it. */
export const AgentPoolView = ({ organization, id }: { organization: string; id: string }) => {
  useOrganization(organization);
  return (
    <Single
      what="agent pool"
      id={id}
      organization={organization}
      list={{ text: 'Agent pools', to: { view: 'agent-pools', organization } }}
      load={() => load(id)}
      thing={({ pool }) => pool}
    >
      {(loaded, live) => <AgentPool {...loaded} organization={organization} live={live} />}
    </Single>
  );
};

const AgentPool = (props: ViewData & { organization: string; live: Live<ViewData> }) => {
  const { pool, agents, workspaces, organization, live } = props;
  const mayChange = may(organization, 'can-update-agent-pools');
  return (
    <>
      <Managed
        what="agent pool"
        thing={pool}
        list={{ view: 'agent-pools', organization }}
        mayChange={mayChange}
        mayDelete={mayChange}
        attributesOf={agentPoolOf}
        fields={(basis) => <AgentPoolFields pool={basis} />}
        consequence="Its tokens are revoked immediately. A pool in use cannot be deleted: change the execution mode of its workspaces first."
        onChange={live.refresh}
      />
      <div class="sides">
        <div class="stack">
          <Agents agents={agents} />
          {mayChange && (
            <>
              <TokensOf
                owner={pool}
                mayChange
                none="No tokens yet. Create one: agents use it to connect to this pool."
              />
              <section class="panel pad stack" aria-label="Start an agent">
                <h2>Start an agent</h2>
                <p class="soft">
                  Run this on a machine with Node and a checkout of stepform that can reach this URL. An agent runs one
                  plan or apply at a time; start several for parallel runs.
                </p>
                <Code
                  label="Agent command"
                  text={`export STEPFORM_AGENT_TOKEN=…\nnpx stepform agent --address ${base}`}
                />
              </section>
            </>
          )}
        </div>
        <Uses pool={pool} workspaces={workspaces} organization={organization} may={mayChange} onChange={live.refresh} />
      </div>
    </>
  );
};

const meanings: Record<string, [text: string, tone: string]> = {
  idle: ['idle', 'good'],
  busy: ['busy', 'running'],
  unknown: ['unknown, no recent heartbeat', 'attention'],
  errored: ['errored', 'bad'],
  exited: ['exited', 'neutral'],
};

const Agents = ({ agents }: { agents: Resource<'agents'>[] }) => (
  <section class="stack" aria-label="Agents">
    <h2>Agents</h2>
    {agents.length === 0 ? (
      <p class="panel pad soft">
        No agents connected. Start one with a token of this pool. Runs wait up to one hour for an agent.
      </p>
    ) : (
      <ul class="panel list" aria-label="Agents">
        {agents.map(({ id, attributes }) => {
          const [text, tone] = meanings[attributes.status] ?? [attributes.status, 'neutral'];
          return (
            <li key={id} class="item">
              <span class="title">{attributes.name}</span>
              <span class="meta">
                {attributes['ip-address']} · last heartbeat <Ago at={attributes['last-ping-at']} />
              </span>
              <span class="end">
                <span class={`status ${tone}`}>{text}</span>
              </span>
            </li>
          );
        })}
      </ul>
    )}
  </section>
);

interface UsesProps {
  pool: Resource<'agent-pools'>;
  workspaces: Resource<'workspaces'>[];
  organization: string;
  may: boolean;
  onChange(): void;
}

const idsOf = (pool: Resource<'agent-pools'>, relationship: string): string[] => {
  const data = pool.relationships?.[relationship]?.data;
  return Array.isArray(data) ? data.map(({ id }) => id) : [];
};

/** Workspaces that use the pool, and those that are allowed to. */
const Uses = ({ pool, workspaces, organization, may: mayChange, onChange }: UsesProps) => {
  const scoped = pool.attributes['organization-scoped'];
  const allowed = (kind: 'workspaces' | 'projects') => (
    <Allowed pool={pool} kind={kind} organization={organization} may={mayChange} onChange={onChange} />
  );
  return (
    <aside class="panel pad stack" aria-label="Usage">
      <h2>Used by</h2>
      <Attached
        items={itemsOf(workspaces, organization, 'workspaces', 'settings')}
        others={[]}
        may={false}
        none="No workspaces yet. Select this pool in a workspace’s settings."
        adding=""
        prompt=""
        removing={String}
        onAdd={async () => {}}
        onRemove={async () => {}}
        onChange={onChange}
      />
      {!scoped && (
        <>
          <h2>Allowed</h2>
          {allowed('projects')}
          {allowed('workspaces')}
        </>
      )}
    </aside>
  );
};

const Allowed = ({
  pool,
  kind,
  organization,
  may: mayChange,
  onChange,
}: Omit<UsesProps, 'workspaces'> & { kind: 'workspaces' | 'projects' }) => {
  const everything = useItems(organization, kind, true);
  const relationship = `allowed-${kind}`;
  const ids = idsOf(pool, relationship);
  const set = (ids: string[]) =>
    change(
      `/agent-pools/${pool.id}`,
      'agent-pools',
      {},
      { basis: pool, relationships: { [relationship]: { data: ids.map((id) => ({ type: kind, id })) } } },
    );
  const noun = kind === 'workspaces' ? 'workspace' : 'project';
  return (
    <Attached
      items={ids.map((id) => everything.find((item) => item.id === id) ?? { id, name: id })}
      others={everything}
      may={mayChange}
      none={`No ${kind} allowed yet.`}
      adding={`Allow a ${noun}`}
      prompt={`Allow a ${noun} …`}
      removing={(name) => `${noun} ${name}`}
      onAdd={(id) => set([...ids, id])}
      onRemove={(id) => set(ids.filter((other) => other !== id))}
      onChange={onChange}
    />
  );
};
