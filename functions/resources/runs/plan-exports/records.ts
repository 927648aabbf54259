import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { tarBlocks } from '#platform/formats/tar-writer.ts';
import { putObject } from '#platform/store/bucket.ts';
import { newId } from '#platform/store/id.ts';
import { keys, objects } from '#platform/store/keys.ts';
import { create, get, put, remove } from '#platform/store/table.ts';
import { expiryIn, now } from '#platform/store/time.ts';
import type { Run } from '#run/run.ts';
import { mockBundle, type PlanJson } from './mocks.ts';

/** Mock data of a plan, available for download for an hour (HCP API: plan exports). */
export interface PlanExport {
  id: string;
  organization: string;
  workspaceId: string;
  runId: string;
  createdAt: string;
}

const lifeMs = 3600 * 1000;
/** The record remains for a day with the status expired, then it is removed. */
const recordSeconds = 24 * 3600;

export const hasExpired = ({ createdAt }: PlanExport): boolean => Date.now() - Date.parse(createdAt) > lifeMs;

export const exportKey = ({ id }: PlanExport): string => objects.upload(`${id}.tar.gz`);

export const getPlanExport = (id: string): Promise<PlanExport | undefined> => get<PlanExport>(keys.planExport(id));

const packed = async (files: Record<string, string>): Promise<Uint8Array<ArrayBuffer>> => {
  const entries = Object.entries(files).map(([path, text]) => ({ path, bytes: Buffer.from(text) }));
  return new Uint8Array(await promisify(gzip)(Buffer.concat(tarBlocks(entries))));
};

/** Undefined when the run's plan already has a downloadable export. 2 writes, 1 object. */
export const createPlanExport = async (run: Run, plan: PlanJson): Promise<PlanExport | undefined> => {
  const { organization, workspaceId, id: runId } = run;
  const created: PlanExport = { id: newId('pe'), organization, workspaceId, runId, createdAt: now() };
  const expiresAt = expiryIn(recordSeconds);
  const claim = { ...keys.planExportOf(runId), exportId: created.id, createdAt: created.createdAt, expiresAt };
  const claimed = await put(claim, {
    condition: 'attribute_not_exists(pk) OR createdAt < :expired',
    values: { ':expired': new Date(Date.now() - lifeMs).toISOString() },
  });
  if (!claimed) return undefined;
  await putObject(exportKey(created), await packed(mockBundle(plan, run)), 'application/gzip');
  await create({ ...keys.planExport(created.id), ...created, expiresAt });
  return created;
};

/** Can be repeated. */
export const deletePlanExport = async (planExport: PlanExport): Promise<void> => {
  await putObject(exportKey(planExport), '');
  await remove(keys.planExportOf(planExport.runId), {
    condition: 'exportId = :id',
    values: { ':id': planExport.id },
  });
  await remove(keys.planExport(planExport.id));
};
