import { type Resource, relatedIds } from '#clients/client/client.ts';
import type { Live } from '#clients/web/live.ts';
import { base } from '#clients/web/location.ts';
import { itemsOf, may, type OrganizationProps, useItems } from '#clients/web/organization.ts';
import { Attached } from '#clients/web/parts/attached.tsx';
import { Ago, Code } from '#clients/web/parts/basics.tsx';
import { Item, List } from '#clients/web/parts/list.tsx';
import { Managed, Single, type SingleAddress } from '#clients/web/parts/managed.tsx';
import { Panel, Section } from '#clients/web/parts/section.tsx';
import { TokensOf } from '#clients/web/parts/tokens.tsx';
import { all, call, change } from '#clients/web/session.ts';
import { AgentPoolFields } from './agent-pools.tsx';

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
export const AgentPoolView = (at: SingleAddress) => (
  <Single {...at} view="agent-pool" load={() => load(at.id)} thing={({ pool }) => pool}>
    {(loaded, live) => <AgentPool {...loaded} organization={at.organization} live={live} />}
  </Single>
);

const AgentPool = (props: ViewData & OrganizationProps & { live: Live<ViewData> }) => {
  const { pool, agents, organization, live } = props;
  const mayChange = may(organization, 'can-update-agent-pools');
  return (
    <>
      <Managed
        view="agent-pool"
        organization={organization}
        resource={pool}
        mayChange={mayChange}
        fields={() => <AgentPoolFields />}
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
              <Panel title="Start an agent">
                <p class="soft">
                  Run this on a machine with Node and a checkout of stepform that can reach this URL. An agent runs one
                  plan or apply at a time; start several for parallel runs.
                </p>
                <Code label="Agent command" text={`export STEPFORM_AGENT_TOKEN=…\nstepform agent --address ${base}`} />
              </Panel>
            </>
          )}
        </div>
        <Uses {...props} may={mayChange} onChange={live.refresh} />
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
  <Section title="Agents">
    <List
      label="Agents"
      of={agents}
      none="No agents connected. Start one with a token of this pool. Runs wait up to one hour for an agent."
    >
      {({ id, attributes }) => {
        const [text, tone] = meanings[attributes.status] ?? [attributes.status, 'neutral'];
        return (
          <Item
            key={id}
            title={attributes.name}
            meta={
              <>
                {attributes['ip-address']} · last heartbeat <Ago at={attributes['last-ping-at']} />
              </>
            }
            end={<span class={`status ${tone}`}>{text}</span>}
          />
        );
      }}
    </List>
  </Section>
);

interface UsesProps extends OrganizationProps {
  pool: Resource<'agent-pools'>;
  workspaces: Resource<'workspaces'>[];
  may: boolean;
  onChange(): void;
}

/** Workspaces that use the pool, and those that are allowed to. */
const Uses = (props: UsesProps) => (
  <aside class="panel pad stack" aria-label="Usage">
    <h2>Used by</h2>
    <Attached
      items={itemsOf(props.workspaces, props.organization, 'workspaces', 'settings')}
      may={false}
      none="No workspaces yet. Select this pool in a workspace’s settings."
    />
    {!props.pool.attributes['organization-scoped'] && (
      <>
        <h2>Allowed</h2>
        <Allowed {...props} kind="projects" noun="project" />
        <Allowed {...props} kind="workspaces" noun="workspace" />
      </>
    )}
  </aside>
);

const Allowed = (props: UsesProps & { kind: 'workspaces' | 'projects'; noun: string }) => {
  const { pool, kind, noun, organization, may: mayChange, onChange } = props;
  const everything = useItems(organization, kind, true);
  const relationship = `allowed-${kind}`;
  const ids = relatedIds(pool, relationship);
  const set = (ids: string[]) => {
    const relationships = { [relationship]: { data: ids.map((id) => ({ type: kind, id })) } };
    return change(`/agent-pools/${pool.id}`, 'agent-pools', {}, { basis: pool, relationships });
  };
  return (
    <Attached
      items={ids.map((id) => everything.find((item) => item.id === id) ?? { id, name: id })}
      others={everything}
      may={mayChange}
      none={`No ${kind} allowed yet.`}
      adding={`Allow a ${noun}`}
      noun={noun}
      onAdd={(id) => set([...ids, id])}
      onRemove={(id) => set(ids.filter((other) => other !== id))}
      onChange={onChange}
    />
  );
};
