import * as v from 'valibot';
import { unprocessable } from '#api/errors.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import type { ApiRequest } from '#api/request.ts';
import { check, readData, setting } from '#api/validation.ts';
import { newId } from '#platform/store/id.ts';
import type { DataRetention } from '#run/data-retention-record.ts';

/** Input of data retention policies. */

export const deletes = 'data-retention-policy-delete-olders';
export const keeps = 'data-retention-policy-dont-deletes';

const noCounts = 'data retention policies delete by age only. Send a number of days';
const otherFields: OtherFields = {
  related: 'target',
  lacking: {
    stateVersionsKeepLatestCount: noCounts,
    configurationVersionsKeepLatestCount: noCounts,
    runDataKeepLatestCount: noCounts,
  },
};

const days = setting(
  v.pipe(
    v.number(),
    v.integer('must be a whole number of days'),
    v.minValue(1, 'must be at least 1'),
    v.maxValue(3650, 'must be at most 3650'),
  ),
);

const attributes = {
  deleteOlderThanNDays: days,
  deleteStateVersions: setting(v.boolean()),
  deleteConfigurationVersions: setting(v.boolean()),
  deleteRunDataAndLogs: setting(v.boolean()),
  stateVersionsDeleteAfterNDays: days,
  configurationVersionsDeleteAfterNDays: days,
  runDataAndLogsDeleteAfterNDays: days,
};

const typed = v.object({
  data: v.object({
    type: v.picklist([deletes, keeps], `must be "${deletes}" or "${keeps}"`),
  }),
});

/** The days for one kind; days without a kind apply to state and configuration versions. @throws {ApiError} 422 */
const daysOf = (
  isDeleted: boolean | null | undefined,
  own: number | null | undefined,
  all: number | null | undefined,
  otherwise: boolean,
): number | undefined => ((isDeleted ?? otherwise) || own ? (own ?? all ?? undefined) : undefined);

/** @throws {ApiError} 400 or 422 */
export const readDataRetention = (request: ApiRequest, current?: DataRetention): DataRetention => {
  const { type } = check(typed, request.json() ?? {}).data;
  const { attributes: requested } = readData(request, attributes, {}, otherFields);
  const id = current?.id ?? newId('drp');
  if (type === keeps) {
    const [extra] = Object.entries(requested).find(([, value]) => value != null && value !== false) ?? [];
    if (extra) throw unprocessable(`/data/attributes/${extra}`, `${extra}: a policy of type ${keeps} deletes nothing`);
    return { id, keeps: true };
  }
  const all = requested.deleteOlderThanNDays;
  const policy: DataRetention = {
    id,
    stateDays: daysOf(requested.deleteStateVersions, requested.stateVersionsDeleteAfterNDays, all, true),
    configurationDays: daysOf(
      requested.deleteConfigurationVersions,
      requested.configurationVersionsDeleteAfterNDays,
      all,
      true,
    ),
    runDays: daysOf(requested.deleteRunDataAndLogs, requested.runDataAndLogsDeleteAfterNDays, all, false),
  };
  if (policy.stateDays || policy.configurationDays || policy.runDays) return policy;
  throw unprocessable('/data/attributes/deleteOlderThanNDays', 'deleteOlderThanNDays: is missing');
};
