import { one, type Resource } from '#api/answer.ts';
import { nameOf } from '#api/naming.ts';
import type { DataRetention } from '#run/data-retention-record.ts';
import { deletes, keeps } from './input.ts';

/** HCP API: data retention policies, whose attribute names have no dashes. */
export const dataRetentionDocument = (
  { id, keeps: kept, stateDays, configurationDays, runDays }: DataRetention,
  target: { type: 'organizations' | 'workspaces'; id: string },
): Resource => {
  const all = [stateDays, configurationDays, runDays].filter((days) => days !== undefined);
  const others = {
    id,
    relationships: { target: one(target.type, target.id) },
    links: {
      self: `/api/v2/${target.type}/${target.type === 'organizations' ? nameOf(target.id) : target.id}/relationships/data-retention-policy`,
    },
  };
  if (kept) return { ...others, type: keeps, attributes: {} };
  return {
    ...others,
    type: deletes,
    attributes: {
      deleteOlderThanNDays: Math.min(...all),
      deleteStateVersions: stateDays !== undefined,
      deleteConfigurationVersions: configurationDays !== undefined,
      deleteRunDataAndLogs: runDays !== undefined,
      stateVersionsDeleteAfterNDays: stateDays ?? null,
      configurationVersionsDeleteAfterNDays: configurationDays ?? null,
      runDataAndLogsDeleteAfterNDays: runDays ?? null,
    },
  };
};
