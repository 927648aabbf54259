import type { Key } from '#platform/store/keys.ts';
import { logError } from '#platform/store/log.ts';
import { getRun } from '#resources/runs/records.ts';
import { getBuild } from './builds/records.ts';
import { settleBuild } from './builds/settle.ts';
import { reconcile } from './prebuilds/reconcile.ts';
import { removeEnvironmentsOf } from './removal.ts';
import { lookAt } from './workspaces/executor.ts';

const handlers: Record<string, (id: string) => Promise<void>> = {
  ENV: lookAt,
  TPL: reconcile,
  ENVEND: removeEnvironmentsOf,
};

/** Starts an environment again once the run that stopped it has ended. */
const restartAfter = async (runId: string): Promise<void> => {
  const [, buildId = ''] = (await getRun(runId))?.environment?.split(' ') ?? [];
  const build = await getBuild(buildId);
  if (!build) return;
  await settleBuild(build);
  await lookAt(build.environmentId);
};

/**
 * Handles the end of a stop that is followed by a start (lifecycle/phases/run-applied.ts), and due environments and
 * templates: a build that did not start or whose end was missed, a scheduled start or stop, a pool, the end of an
 * organization. Sequentially: the sweep invokes it once per part of its index, so that a thousand environments due in
 * the same second are built eight at a time (decisions/0042).
 */
export const handler = async (event: { due: Key[] } | { runId: string }): Promise<void> => {
  if ('runId' in event) return restartAfter(event.runId);
  for (const { pk, sk } of event.due) {
    const id = pk.slice(pk.indexOf('#') + 1);
    try {
      await handlers[sk]?.(id);
    } catch (error) {
      logError('repair failed', error, { item: pk });
    }
  }
};
