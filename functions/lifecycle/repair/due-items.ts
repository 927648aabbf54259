import { startIfFree, unmark } from '#lifecycle/queue/queue.ts';
import { lookAtHealth } from '#lifecycle/timers/assessment-timer.ts';
import { lookAtAutoDestroy } from '#lifecycle/timers/auto-destroy.ts';
import { environment } from '#platform/environment.ts';
import { invokeLater } from '#platform/store/aws.ts';
import type { Due } from '#platform/store/due.ts';
import type { Key } from '#platform/store/keys.ts';
import { get } from '#platform/store/table.ts';
import { completeEnd } from '#removal/organizations.ts';
import { completeDeletionOf, deletedKinds } from '#removal/unfinished.ts';
import { completeRename } from '#resources/organizations/rename.ts';
import { completeWorkspaceEnd } from './deleted-workspaces.ts';
import { repairRun } from './runs.ts';

/** Handles one due item. @returns the repair, which an alarm counts; undefined if the item was due on purpose */
type Handler = (key: Key) => Promise<string | undefined>;

const idIn = ({ pk }: Key): string => pk.slice(pk.indexOf('#') + 1);

/** Due by a schedule or a delay, so handling it is no repair. */
const onTime =
  (handle: (key: Key) => Promise<unknown>): Handler =>
  async (key) => {
    await handle(key);
    return undefined;
  };

/** Maximum number of deleted records per organization and sweep. */
const maxEnded = 200;

const organization: Handler = async (key) => {
  if (await completeEnd(idIn(key), maxEnded)) return 'organization ended';
  return (await completeRename(idIn(key))) ? 'organization renamed' : undefined;
};

/**
 * A deleted workspace (not a repair); a workspace whose lock was released by a function that was interrupted before it
 * started the queue; or a workspace whose queue waited for the creation of its first run.
 */
const workspace: Handler = async (key) => {
  const id = idIn(key);
  if (await completeWorkspaceEnd(id)) return undefined;
  const mark = await get<Due>(key);
  if (!mark?.dueAt) return undefined;
  const isStarted = await startIfFree(id);
  await unmark(id, mark);
  return isStarted ? 'queue started' : undefined;
};

const deletion: Handler = async (key) => ((await completeDeletionOf(key)) ? 'deletion completed' : undefined);
const versionControl = onTime((key) => invokeLater(environment.versionControlEventFunction, { due: key }));

/** By the first part of an item's sort key. Environments are handled together (sweep.ts). */
const handlers: Record<string, Handler> = {
  RUN: (key) => repairRun(idIn(key)),
  WS: workspace,
  ORG: organization,
  ...Object.fromEntries(deletedKinds.map((kind) => [kind, deletion])),
  AUTODESTROY: onTime(lookAtAutoDestroy),
  HEALTH: onTime(lookAtHealth),
  RETENTION: onTime((key) => invokeLater(environment.dataRetentionFunction, { due: [key] })),
  LOGFOLLOWER: onTime((key) => invokeLater(environment.environmentLogsFunction, { job: idIn(key) })),
  AUDITEXPORT: onTime((key) =>
    invokeLater(environment.notifyFunction, { kind: 'auditExport', organization: idIn(key) }),
  ),
  DELIVERY: versionControl,
  ARCHIVE: versionControl,
  COMMIT: versionControl,
  REPO: versionControl,
  OC: versionControl,
  OT: versionControl,
  GHAIN: versionControl,
};

/** @throws {Error} for an item of an unknown kind */
export const handleDue: Handler = async (key) => {
  const kind = key.sk.split('#')[0] ?? '';
  const handle = handlers[kind];
  if (!handle) throw new Error(`no handler for due items of kind ${kind}`);
  return handle(key);
};
