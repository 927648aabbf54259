import { useLive } from '#clients/web/live.ts';
import { hrefOf } from '#clients/web/location.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Notice } from '#clients/web/parts/basics.tsx';
import { get } from '#clients/web/session.ts';

interface NoAgentsProps extends OrganizationProps {
  /** The agent pool that a run waits for. */
  pool: string;
}

const intervalMs = 15_000;

/** Warns when a run waits for an agent and none is connected. Nothing for users without permission to read the pool. */
export const NoAgents = ({ pool, organization }: NoAgentsProps) => {
  const live = useLive(`agent-pool/${pool}`, () => get<'agent-pools'>(`/agent-pools/${pool}`), intervalMs);
  if (live.value?.attributes['agent-count'] !== 0) return null;
  return (
    <Notice kind="warn">
      No agent of pool <strong>{live.value.attributes.name}</strong> is connected, so this run waits.{' '}
      <a href={hrefOf({ view: 'agent-pool', organization, id: pool })}>See how to start one</a>.
    </Notice>
  );
};
