import type { Key } from '#platform/store/keys.ts';
import { logError } from '#platform/store/log.ts';
import { reconcile } from './prebuilds/reconcile.ts';
import { lookAt } from './workspaces/executor.ts';

/**
 * Handles due environments and templates: a build that did not start or whose end was missed, a scheduled start or
 * stop, a pool. Sequentially: the sweep invokes it once per part of its index, so that a thousand environments due in
 * the same second are built eight at a time (decisions/0042).
 */
export const handler = async ({ due }: { due: Key[] }): Promise<void> => {
  for (const { pk, sk } of due) {
    const id = pk.slice(pk.indexOf('#') + 1);
    try {
      await (sk === 'TPL' ? reconcile(id) : lookAt(id));
    } catch (error) {
      logError('repair failed', error, { item: pk });
    }
  }
};
