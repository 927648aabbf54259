import type { Key } from '#platform/store/keys.ts';
import { get } from '#platform/store/table.ts';
import { type AgentPool, deleteAgentPool } from '#resources/agents/pools/records.ts';
import { deletePolicySet, type PolicySet } from '#resources/policies/set-records.ts';
import { deleteTeam } from '#resources/teams/records.ts';
import type { Team } from '#resources/teams/team.ts';
import { deleteVariableSet, type VariableSet } from '#resources/variables/set-records.ts';

/** Completes interrupted deletions: each first marks its item (`deletedAt`, due in a minute) and removes it last. */

type Marked = Team & PolicySet & VariableSet & AgentPool & { deletedAt?: string };

const deletions: Record<string, (record: Marked) => Promise<unknown>> = {
  TEAM: deleteTeam,
  POLSET: deletePolicySet,
  VARSET: deleteVariableSet,
  APOOL: deleteAgentPool,
};

/** Sort keys of items that are due only while they are being deleted. */
export const deletedKinds: readonly string[] = Object.keys(deletions);

/** False when the item is already removed. */
export const completeDeletionOf = async (key: Key): Promise<boolean> => {
  const record = await get<Marked>(key);
  if (!record?.deletedAt) return false;
  await deletions[key.sk]?.(record);
  return true;
};
